"""Modified Bessel functions on XLA: those of orders 0 and 1, and what `numpy_like` makes of them.

Read next: ``logarithms.py``.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.bessel import higher_order, unscaled
from tenferro.primitives.bessel import BesselI, BesselIe
from tenferro_xla.lowerings._numeric import widened

lowerings = Lowerings()


def _scaled(order: int, x: Array) -> Array:
    if order < 2:
        return lax.bessel_i1e(x) if order else lax.bessel_i0e(x)
    scaled: Array = higher_order(jnp, lax.bessel_i0e(x), lax.bessel_i1e(x), x, order)
    return scaled


@lowerings.register(BesselIe)
def bessel_ie(op: BesselIe, x: Array) -> Array:
    """Take exp(-|x|) Iₙ(x)."""
    return widened(lambda x: _scaled(op.order, x))(x)


@lowerings.register(BesselI)
def bessel_i(op: BesselI, x: Array) -> Array:
    """Take Iₙ(x)."""
    return widened(lambda x: unscaled(jnp, _scaled(op.order, x), jnp.abs(x)))(x)

"""The gamma function, ln B and differences of polygamma functions on XLA.

Γ is taken through Stirling's series, because the exponential of ``lax.lgamma``
loses as many digits as the result has before the point. Read next: ``zeta.py``.
"""

from __future__ import annotations

from math import pi, sqrt

import jax.numpy as jnp
from jax import Array

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like import gammas as shared
from tenferro.primitives.gammas import Betaln, Gamma, PolygammaDifference
from tenferro_xla.lowerings._direct import register_direct
from tenferro_xla.lowerings._log_gamma import stirling_remainder
from tenferro_xla.lowerings._numeric import widened
from tenferro_xla.lowerings.incomplete import ON

lowerings = Lowerings()
register_direct(lowerings, {Betaln: widened(lambda a, b: shared.betaln(ON, a, b))})
_SHIFT = 10


@lowerings.register(PolygammaDifference)
def polygamma_difference(op: PolygammaDifference, x: Array, d: Array) -> Array:
    """Subtract two values of a polygamma function."""
    return widened(lambda x, d: shared.polygamma_difference(ON, op.order, x, d))(x, d)


_OVERFLOWS = 200.0  # Γ is beyond every float from 171.7 on


@lowerings.register(Gamma)
def gamma(op: Gamma, x: Array) -> Array:
    """Take the gamma function."""
    return widened(_gamma)(x)


def _gamma(x: Array) -> Array:
    """Shift to x >= 10 by Γ(x+1) = x Γ(x); mirror at ½ by Γ(x) Γ(1-x) = π / sin πx."""
    is_low = x < 0.5
    right = jnp.where(is_low, 1 - x, x)
    steps = jnp.clip(jnp.ceil(_SHIFT - right), 0, _SHIFT)
    far = right + steps
    half = far ** (far / 2 - 0.25)  # of the power, which alone may overflow
    scale = sqrt(2 * pi) * jnp.exp(stirling_remainder(far)) / _product(right)
    value = half * jnp.exp(-far) * half * scale
    value = jnp.where(right > _OVERFLOWS, jnp.inf, value)  # there the product is ∞ · 0
    turn = x - 2 * jnp.round(x / 2)
    mirrored = pi / (jnp.sin(pi * turn) * value)
    at_pole = jnp.where(x == 0, 1 / x, jnp.nan)
    low = jnp.where(x == jnp.round(x), at_pole, mirrored)
    return jnp.where(is_low, low, value)


def _product(x: Array) -> Array:
    """x (x+1) … up to the last factor below 10."""
    factor = jnp.ones_like(x)
    for k in range(_SHIFT):
        factor = factor * jnp.where(x + k < _SHIFT, x + k, 1)
    return factor

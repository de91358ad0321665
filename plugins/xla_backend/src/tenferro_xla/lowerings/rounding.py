"""Rounding and the form of floats on XLA: floor ceil round rem is_finite nextafter copysign.

A remainder by an integer zero is the dividend. Read next: ``bitwise.py``.
"""

from __future__ import annotations

from jax import Array, lax

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.rounding import Ceil, Copysign, Floor, IsFinite, Nextafter, Rem, Round
from tenferro_xla.lowerings._direct import register_direct
from tenferro_xla.lowerings._numeric import with_sign_of

lowerings = Lowerings()
register_direct(
    lowerings,
    {
        Floor: lax.floor,
        Ceil: lax.ceil,
        Rem: lax.rem,
        Nextafter: lax.nextafter,
        Copysign: with_sign_of,
    },
)


@lowerings.register(Round)
def round_(op: Round, x: Array) -> Array:
    """Round to the nearest integer, a half to the even one."""
    return lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)


@lowerings.register(IsFinite)
def is_finite(op: IsFinite, x: Array) -> Array:
    """Find finite numbers; both parts of a complex one must be."""
    if x.dtype.kind != "c":
        return lax.is_finite(x)
    return lax.bitwise_and(lax.is_finite(lax.real(x)), lax.is_finite(lax.imag(x)))

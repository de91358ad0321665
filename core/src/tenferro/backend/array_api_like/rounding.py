"""Rounding, remainders and the form of floats for a namespace of the Array API standard.

The remainder has the sign of the dividend, that of the standard the sign of the divisor.
Read next: `bitwise.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.array_api_like._common import is_integer
from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like._common import register_pointwise
from tenferro.primitives.rounding import Ceil, Copysign, Floor, IsFinite, Nextafter, Rem, Round

__all__ = ["register", "truncated_remainder"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the rounding family."""
    register_pointwise(
        lowerings,
        [
            (Floor, xp.floor),
            (Ceil, xp.ceil),
            (Round, xp.round),
            (Rem, lambda x, y: truncated_remainder(xp, x, y)),
            (IsFinite, xp.isfinite),
            (Nextafter, xp.nextafter),
            (Copysign, xp.copysign),
        ],
    )


def truncated_remainder(xp: Any, x: Any, y: Any) -> Any:
    """Return what division towards zero leaves, which is exact."""
    if not is_integer(xp, x):
        return xp.copysign(xp.remainder(xp.abs(x), xp.abs(y)), x)
    found = xp.remainder(x, y)
    if xp.isdtype(x.dtype, "unsigned integer"):
        return found
    other_sign = xp.logical_and(found != 0, xp.not_equal(x < 0, y < 0))
    return xp.where(other_sign, found - y, found)

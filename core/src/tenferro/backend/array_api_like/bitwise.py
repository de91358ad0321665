"""Bits of integers for a namespace of the Array API standard.

Shifts by a negative count, or by all bits and more, give 0, or -1 to the right of a negative
number. Read next: `complex.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like._common import register_pointwise
from tenferro.primitives.bitwise import (
    BitwiseAnd,
    BitwiseNot,
    BitwiseOr,
    BitwiseXor,
    ShiftLeft,
    ShiftRight,
)

__all__ = ["register"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the bitwise family."""
    register_pointwise(
        lowerings,
        [
            (BitwiseAnd, xp.bitwise_and),
            (BitwiseOr, xp.bitwise_or),
            (BitwiseXor, xp.bitwise_xor),
            (BitwiseNot, xp.bitwise_invert),
            (ShiftLeft, lambda x, count: _shifted_left(xp, x, count)),
            (ShiftRight, lambda x, count: _shifted_right(xp, x, count)),
        ],
    )


def _shifted_left(xp: Any, x: Any, count: Any) -> Any:
    outside, zeros = _outside(xp, count), xp.zeros_like(x)
    moved = xp.bitwise_left_shift(x, xp.where(outside, zeros, count))
    return xp.where(outside, zeros, moved)


def _shifted_right(xp: Any, x: Any, count: Any) -> Any:
    outside = _outside(xp, count)
    last = xp.full_like(count, xp.iinfo(x.dtype).bits - 1)
    moved = xp.bitwise_right_shift(x, xp.where(outside, last, count))
    if xp.isdtype(x.dtype, "signed integer"):
        return moved
    return xp.where(outside, xp.zeros_like(x), moved)


def _outside(xp: Any, count: Any) -> Any:
    """Return where a count is negative or at least the number of bits."""
    return xp.logical_or(count < 0, count >= xp.iinfo(count.dtype).bits)

"""Logic on bits, and shifts, for a NumPy-shaped namespace.

Shifts by a count outside the width are undefined in C, which some namespaces compile to, so they
are decided here. Read next: `comparison.py`.
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
            (BitwiseNot, xp.invert),
        ],
    )

    @lowerings.register(ShiftLeft)
    def shift_left(op: ShiftLeft, x: Any, count: Any) -> Any:
        outside = _outside(xp, count)
        moved = xp.left_shift(x, xp.where(outside, xp.zeros_like(count), count))
        return xp.where(outside, xp.zeros_like(x), moved)

    @lowerings.register(ShiftRight)
    def shift_right(op: ShiftRight, x: Any, count: Any) -> Any:
        last = xp.full_like(count, 8 * x.dtype.itemsize - 1)
        moved = xp.right_shift(x, xp.where(_outside(xp, count), last, count))
        if x.dtype.kind == "i":
            return moved
        return xp.where(_outside(xp, count), xp.zeros_like(x), moved)


def _outside(xp: Any, count: Any) -> Any:
    """Return where a count is negative or at least the number of bits."""
    return xp.logical_or(xp.less(count, 0), xp.greater_equal(count, 8 * count.dtype.itemsize))

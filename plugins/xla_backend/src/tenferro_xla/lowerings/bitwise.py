"""Logic on bits, and shifts, on XLA. Counts outside the width are decided by XLA as here.

Read next: ``comparison.py``.
"""

from __future__ import annotations

from jax import Array, lax

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.bitwise import (
    BitwiseAnd,
    BitwiseNot,
    BitwiseOr,
    BitwiseXor,
    ShiftLeft,
    ShiftRight,
)
from tenferro_xla.lowerings._direct import register_direct

lowerings = Lowerings()
register_direct(
    lowerings,
    {
        BitwiseAnd: lax.bitwise_and,
        BitwiseOr: lax.bitwise_or,
        BitwiseXor: lax.bitwise_xor,
        BitwiseNot: lax.bitwise_not,
        ShiftLeft: lax.shift_left,
    },
)


@lowerings.register(ShiftRight)
def shift_right(op: ShiftRight, x: Array, count: Array) -> Array:
    """Shift down, with the sign of signed integers."""
    shift = lax.shift_right_arithmetic if x.dtype.kind == "i" else lax.shift_right_logical
    return shift(x, count)

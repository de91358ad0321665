"""Logic on bits, and shifts, on NumPy: ufuncs, and operators on rank 0.

NumPy decides shifts by counts outside the width as the vocabulary does. Read next: `comparison.py`.
"""

from __future__ import annotations

import numpy as np

from tenferro.backend.extend import register_pointwise
from tenferro.backend.lowering import Lowerings
from tenferro.primitives.bitwise import (
    BitwiseAnd,
    BitwiseNot,
    BitwiseOr,
    BitwiseXor,
    ShiftLeft,
    ShiftRight,
)
from tenferro_numpy.ir.expression import Specialize
from tenferro_numpy.lowerings.arithmetic import operator_or, ufunc

__all__ = ["EXPRESSIONS", "register"]


def register(lowerings: Lowerings) -> None:
    """Register what replaces the shared lowerings: shifts need no guard here."""
    register_pointwise(lowerings, [(ShiftLeft, np.left_shift), (ShiftRight, np.right_shift)])


EXPRESSIONS: dict[type, Specialize] = {
    BitwiseAnd: operator_or("&", np.bitwise_and),
    BitwiseOr: operator_or("|", np.bitwise_or),
    BitwiseXor: operator_or("^", np.bitwise_xor),
    BitwiseNot: ufunc(np.invert, 1),
    ShiftLeft: ufunc(np.left_shift, 2),
    ShiftRight: ufunc(np.right_shift, 2),
}

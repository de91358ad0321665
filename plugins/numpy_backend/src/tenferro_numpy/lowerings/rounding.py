"""Remainders of integers on NumPy: one by zero is refused.

Read next: `bitwise.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.primitives import Aval
from tenferro.primitives.rounding import Rem
from tenferro_numpy.errors import DivisionByZeroError
from tenferro_numpy.ir.expression import Expression, Function, Specialize, called

__all__ = ["EXPRESSIONS", "register"]


def register(lowerings: Lowerings) -> None:
    """Register what replaces the shared lowerings: integers without a value are refused."""

    @lowerings.register(Rem)
    def rem(op: Rem, x: Any, y: Any) -> Any:
        if x.dtype.kind in "iu" and not np.all(y):
            raise DivisionByZeroError(
                "rem: an integer divided by zero has no remainder", primitive=op.key
            )
        return np.fmod(x, y)


def _rem(op: Rem, avals: tuple[Aval, ...], result: Aval, lowering: Function) -> Expression:
    """Take the remainder of integers, which `ufuncs.py` leaves to this module."""
    return called(op, 2, lowering, shares=False)


EXPRESSIONS: dict[type, Specialize] = {Rem: _rem}

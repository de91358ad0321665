"""Rounding, remainders and the form of floats on NumPy: one ufunc each.

A remainder by an integer zero is refused. Read next: `bitwise.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.primitives import Aval
from tenferro.primitives.rounding import Ceil, Copysign, Floor, IsFinite, Nextafter, Rem, Round
from tenferro_numpy.errors import DivisionByZeroError
from tenferro_numpy.ir.expression import Expression, Function, Specialize, called, simple
from tenferro_numpy.lowerings.arithmetic import ufunc

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
    if result.dtype.is_integer:
        return called(op, 2, lowering, shares=False)
    return simple(np.fmod, 2)


EXPRESSIONS: dict[type, Specialize] = {
    Floor: ufunc(np.floor, 1),
    Ceil: ufunc(np.ceil, 1),
    Round: ufunc(np.rint, 1),
    Rem: _rem,
    IsFinite: ufunc(np.isfinite, 1),
    Nextafter: ufunc(np.nextafter, 2),
    Copysign: ufunc(np.copysign, 2),
}

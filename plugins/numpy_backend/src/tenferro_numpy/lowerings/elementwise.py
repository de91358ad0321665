"""Exponentials and logarithms on NumPy that are not one ufunc, of complex numbers or of any.

Read next: `complex.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.primitives import Aval
from tenferro.primitives.elementwise import (
    Expm1,
    Log1p,
    Logistic,
)
from tenferro_numpy.ir.expression import Expression, Function, Specialize, called

__all__ = ["EXPRESSIONS"]


def _shared(op: Any, avals: tuple[Aval, ...], result: Aval, lowering: Function) -> Expression:
    """Call the shared lowering."""
    return called(op, 1, lowering, shares=False)


EXPRESSIONS: dict[type, Specialize] = {
    Expm1: _shared,
    Log1p: _shared,
    Logistic: _shared,
}

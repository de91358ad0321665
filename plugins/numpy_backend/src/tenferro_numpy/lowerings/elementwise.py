"""Exponentials and logarithms on NumPy: one ufunc each.

Read next: `trigonometric.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenferro.primitives import Aval
from tenferro.primitives.elementwise import (
    Exp,
    Exp2,
    Expm1,
    Log,
    Log1p,
    Log2,
    Log10,
    Logaddexp,
    Logistic,
)
from tenferro_numpy.ir.expression import Expression, Function, Specialize, called, simple
from tenferro_numpy.lowerings.arithmetic import ufunc

__all__ = ["EXPRESSIONS"]


def _real_only(function: Function) -> Specialize:
    """Use one ufunc for real operands, the shared lowering for complex ones."""

    def specialize(
        op: Any, avals: tuple[Aval, ...], result: Aval, lowering: Function
    ) -> Expression:
        if result.dtype.is_complex:
            return called(op, 1, lowering, shares=False)
        return simple(function, 1)

    return specialize


def _logistic(
    op: Logistic, avals: tuple[Aval, ...], result: Aval, lowering: Function
) -> Expression:
    return called(op, 1, lowering, shares=False)


EXPRESSIONS: dict[type, Specialize] = {
    Exp: ufunc(np.exp, 1),
    Log: ufunc(np.log, 1),
    Expm1: _real_only(np.expm1),
    Log1p: _real_only(np.log1p),
    Exp2: ufunc(np.exp2, 1),
    Log2: ufunc(np.log2, 1),
    Log10: ufunc(np.log10, 1),
    Logaddexp: ufunc(np.logaddexp, 2),
    Logistic: _logistic,
}

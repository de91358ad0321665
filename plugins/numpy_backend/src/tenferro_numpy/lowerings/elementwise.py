"""Scalar functions on NumPy: one ufunc each; `erf` from scipy, imported when it is first used.

Importing `scipy.special` takes longer than importing NumPy, so nobody pays for it unasked.
Read next: `comparison.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.primitives import Aval
from tenferro.primitives.elementwise import (
    Cos,
    Erf,
    Exp,
    Expm1,
    Log,
    Log1p,
    Logistic,
    Sin,
    Tan,
    Tanh,
)
from tenferro_numpy._expression import Expression, Function, Specialize, called, simple
from tenferro_numpy.lowerings.arithmetic import ufunc

__all__ = ["EXPRESSIONS", "register"]


def register(lowerings: Lowerings) -> None:
    """Register what the shared lowerings lack."""

    @lowerings.register(Erf)
    def erf(op: Erf, x: Any) -> Any:
        return _erf_ufunc()(x).astype(x.dtype, copy=False)  # scipy widens float16


def _erf_ufunc() -> Function:
    from scipy.special import erf  # noqa: PLC0415 - slow to import, see above

    return erf


def _erf(op: Erf, avals: tuple[Aval, ...], result: Aval, lowering: Function) -> Expression:
    if result.dtype.name not in ("float32", "float64"):
        return called(op, 1, lowering, shares=False)
    return simple(_erf_ufunc(), 1)


def _real_only(function: Function) -> Specialize:
    """One ufunc for real operands, the shared lowering for complex ones."""
    real = simple(function, 1)

    def specialize(
        op: Any, avals: tuple[Aval, ...], result: Aval, lowering: Function
    ) -> Expression:
        return called(op, 1, lowering, shares=False) if result.dtype.is_complex else real

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
    Sin: ufunc(np.sin, 1),
    Cos: ufunc(np.cos, 1),
    Tan: ufunc(np.tan, 1),
    Tanh: ufunc(np.tanh, 1),
    Logistic: _logistic,
    Erf: _erf,
}

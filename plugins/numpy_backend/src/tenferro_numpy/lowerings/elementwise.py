"""Exponentials and logarithms on NumPy that are not one ufunc, of complex numbers or of any.

Read next: `complex.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenferro.primitives import Aval
from tenferro.primitives.elementwise import (
    Expm1,
    Log1p,
    Logistic,
)
from tenferro_numpy.ir.expression import Expression, Function, Specialize, called
from tenferro_numpy.ir.kept import number

__all__ = ["EXPRESSIONS"]


def _shared(op: Any, avals: tuple[Aval, ...], result: Aval, lowering: Function) -> Expression:
    """Call the shared lowering."""
    return called(op, 1, lowering, shares=False)


def _logistic(op: Any, avals: tuple[Aval, ...], result: Aval, lowering: Function) -> Expression:
    """Write exp(min(x, 0)) / (1 + exp(-|x|)), the shared formula, with one new array."""
    name = result.dtype.name
    if not result.shape or name not in ("float32", "float64"):
        return _shared(op, avals, result, lowering)
    return Expression(
        "{p0}({p1}({p2}({0}, {p3})), {p4}({0}))",
        (np.divide, np.exp, np.minimum, number(0, name), _ONE_MORE[name]),
        broadcasts=True,
        into="{p0}({p1}({p2}({0}, {p3}, out={out}), {out}), {p4}({0}), {out})",
    )


class _OneMore:
    """1 + exp(-|x|)."""

    def __init__(self, name: str) -> None:
        self._minus_one, self._one = number(-1, name), number(1, name)

    def __call__(self, x: Any) -> Any:
        found = np.copysign(x, self._minus_one)
        np.exp(found, found)
        return np.add(found, self._one, found)


_ONE_MORE = {name: _OneMore(name) for name in ("float32", "float64")}

EXPRESSIONS: dict[type, Specialize] = {
    Expm1: _shared,
    Log1p: _shared,
    Logistic: _logistic,
}

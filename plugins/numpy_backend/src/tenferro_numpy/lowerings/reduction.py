"""Reductions on NumPy: `reduce` of the ufunc, which is what `np.sum` arrives at.

Read next: `contraction.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenferro.primitives import Aval
from tenferro.primitives.reduction import (
    Argmax,
    Argmin,
    ReduceAnd,
    ReduceMax,
    ReduceMin,
    ReduceOr,
    ReduceProd,
    ReduceSum,
)
from tenferro_numpy._expression import Expression, Function, Specialize
from tenferro_numpy._folds import ones_for

__all__ = ["EXPRESSIONS"]

_LARGE = 4096  # elements from which the setting up of a product pays


def _reduce(function: Any, *, widens: bool) -> Specialize:
    """`function.reduce` over the axes; with a dtype where NumPy would widen narrow integers."""

    def specialize(
        op: Any, avals: tuple[Aval, ...], result: Aval, lowering: Function
    ) -> Expression:
        if not op.axes:
            return Expression("{p0}({0})", (np.array,))
        axes = tuple(op.axes)
        fold = function, axes, np.dtype(result.dtype.name)
        ones = _ones(function, axes, avals[0])
        if ones is not None:
            return Expression(
                "{p0}({0}, {p1}, {p2}, {p3})", (_rows, ones, axes, result.shape), fold=fold
            )
        axis = None if len(axes) == avals[0].ndim else axes[0] if len(axes) == 1 else axes
        if widens and not result.dtype.is_inexact:
            bound = (function.reduce, axis, np.dtype(result.dtype.name))
            return Expression("{p0}({0}, {p1}, {p2})", bound, fold=fold)
        return Expression("{p0}({0}, {p1})", (function.reduce, axis), fold=fold)

    return specialize


def _ones(function: Any, axes: tuple[int, ...], aval: Aval) -> Any:
    """What the rows of a large array are multiplied with; None where they are reduced."""
    if (
        function is not np.add
        or aval.size < _LARGE
        or aval.dtype.name not in ("float32", "float64")
    ):
        return None
    return ones_for(aval.shape[1:], tuple(a - 1 for a in axes), np.dtype(aval.dtype.name))


def _rows(x: Any, ones: Any, axes: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """Sums of short rows, as a product where the rows lie one after the other."""
    if x.flags.c_contiguous:
        return x.reshape(-1, len(ones)).dot(ones).reshape(shape)
    return np.add.reduce(x, axes)


def _position(method: str) -> Specialize:
    def specialize(
        op: Any, avals: tuple[Aval, ...], result: Aval, lowering: Function
    ) -> Expression:
        native = np.dtype(op.dtype.name)
        if native == np.dtype(np.intp):
            return Expression(f"{{0}}.{method}({{p0}})", (op.axis,))
        return Expression(f"{{0}}.{method}({{p0}}).astype({{p1}})", (op.axis, native))

    return specialize


EXPRESSIONS: dict[type, Specialize] = {
    ReduceSum: _reduce(np.add, widens=True),
    ReduceProd: _reduce(np.multiply, widens=True),
    ReduceMax: _reduce(np.maximum, widens=False),
    ReduceMin: _reduce(np.minimum, widens=False),
    ReduceAnd: _reduce(np.logical_and, widens=False),
    ReduceOr: _reduce(np.logical_or, widens=False),
    Argmax: _position("argmax"),
    Argmin: _position("argmin"),
}

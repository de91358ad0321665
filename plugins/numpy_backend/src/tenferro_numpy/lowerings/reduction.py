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
from tenferro_numpy.ir.expression import Expression, Function, Specialize
from tenferro_numpy.kernels.tile_reductions import row_length, rows_of

__all__ = ["EXPRESSIONS"]

_MIN_ELEMENTS_FOR_PRODUCT = 2048  # elements from which the setting up of a product pays


def _reduce(function: Any, *, widens: bool) -> Specialize:
    """`function.reduce` over the axes; with a dtype where NumPy would widen narrow integers."""

    def specialize(
        op: Any, avals: tuple[Aval, ...], result: Aval, lowering: Function
    ) -> Expression:
        if not op.axes:
            return Expression("{p0}({0})", (np.array,))
        axes = tuple(op.axes)
        fold = function, axes, np.dtype(result.dtype.name)
        by_rows = _by_rows(function, axes, avals[0])
        if by_rows is not None:
            rows = _Rows(function, axes, by_rows, result)
            return Expression("{p0}({0})", (rows,), fold=fold)
        axis = None if len(axes) == avals[0].ndim else axes[0] if len(axes) == 1 else axes
        if widens and not result.dtype.is_inexact:
            bound = (function.reduce, axis, np.dtype(result.dtype.name))
            return Expression("{p0}({0}, {p1}, {p2})", bound, fold=fold)
        return Expression("{p0}({0}, {p1})", (function.reduce, axis), fold=fold)

    return specialize


def _by_rows(function: Any, axes: tuple[int, ...], aval: Aval) -> Any:
    """Return a reduction of the short rows of a large array; None if `reduce` is used."""
    if aval.size < _MIN_ELEMENTS_FOR_PRODUCT or aval.dtype.name not in ("float32", "float64"):
        return None
    length = row_length(aval.shape[1:], tuple(axis - 1 for axis in axes))
    return rows_of(function, length, np.dtype(aval.dtype.name))


class _Rows:
    """A reduction of short rows, by whatever is fast where they lie one after the other."""

    def __init__(self, function: Any, axes: tuple[int, ...], by_rows: Any, result: Aval) -> None:
        self.function = function
        self.axes = axes
        self.by_rows = by_rows
        self.shape, self.dtype = result.shape, np.dtype(result.dtype.name)

    def __call__(self, x: Any) -> Any:
        if not x.flags.c_contiguous:
            return self.function.reduce(x, self.axes)
        out = np.empty(self.shape, self.dtype)
        self.by_rows(x.reshape(out.size, -1), out.reshape(-1))
        return out


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

"""Reductions on NumPy: `reduce` of the ufunc, which is what `np.sum` arrives at, or a product.

`reduce` costs 0.8 µs before it does anything, and some 20 ns for each row along a short axis. A
product with ones costs a third of that, and its inner loop is that of BLAS: small sums take it, and
sums over axes in the middle with few elements behind them. Other short axes in the middle are
joined slice by slice. Read next: `contraction.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache, partial
from importlib import import_module
from math import prod
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

__all__ = ["EXPRESSIONS"]

_MIN_ELEMENTS_FOR_PRODUCT = 2048  # elements from which the setting up of a product pays
#: Terms of a sum up to which a product adds them about as exactly as `reduce`, which adds pairwise.
_MAX_TERMS_FOR_ONES = 4096
_MAX_ELEMENTS_FOR_ONES = 8192  # elements up to which BLAS takes one thread
_MAX_ELEMENTS_FOR_POSITION = (
    8192  # elements up to which the position of the largest is found faster
)
#: Nanoseconds of `reduce` for each run of elements after the last reduced axis, and of a call that
#: joins two slices.
_RUN_NS, _SLICE_NS = 25, 1000
_MAX_ELEMENTS_TO_COPY = 8192  # elements up to which a copy costs less than to ask how they lie
_SHORT_ROW = 64  # elements of a row that `reduce` adds slowly to the one before


#: What compares columns of a copy in which each lies in one piece.
_OF_COLUMNS = Expression("{p0}({0}.T.copy(), {p1})", onto="{p0}({0}.T.copy(), {p1}, {p2}, {out})")


def _reduce(function: Any, *, widens: bool) -> Specialize:
    """`function.reduce` over the axes; with a dtype where NumPy would widen narrow integers."""

    def specialize(
        op: Any, avals: tuple[Aval, ...], result: Aval, lowering: Function
    ) -> Expression:
        if not op.axes:
            return Expression("{p0}({0})", (np.array,))
        axes = tuple(op.axes)
        fold = function, axes, np.dtype(result.dtype.name)
        small = _REPLACEMENTS.get(function)
        found = None if small is None else small(axes, avals[0], result)
        if found is not None:
            return found._replace(fold=fold)
        by_rows = _by_rows(function, axes, avals[0])
        if by_rows is not None and function is not np.add and _is_small_matrix(axes, avals[0]):
            return _OF_COLUMNS._replace(bound=(function.reduce, 0, None), fold=fold)
        if by_rows is not None:
            of_rows = partial(_of_rows, function, axes, by_rows, result.shape, fold[2])
            return Expression("{p0}({0})", (of_rows,), fold=fold)
        if _is_by_slices(function, axes, avals[0], result):
            return Expression("{p0}({0})", (partial(_of_slices, function, axes),), fold=fold)
        axis = None if len(axes) == avals[0].ndim else axes[0] if len(axes) == 1 else axes
        if widens and not result.dtype.is_inexact:
            bound = (function.reduce, axis, np.dtype(result.dtype.name))
            return Expression("{p0}({0}, {p1}, {p2})", bound, fold=fold)
        return Expression("{p0}({0}, {p1})", (function.reduce, axis), fold=fold)

    return specialize


def _product_with_ones(axes: tuple[int, ...], aval: Aval, result: Aval) -> Expression | None:
    """Return a sum as a product with ones; None if `reduce` adds more exactly or faster.

    1·x is x, also where that is inf or nan; of complex numbers it is not.
    """
    terms, rank = prod([aval.shape[axis] for axis in axes]), aval.ndim
    if terms > _MAX_TERMS_FOR_ONES or aval.dtype.name not in ("float32", "float64"):
        return None
    leads, ends = axes == tuple(range(len(axes))), axes == tuple(range(rank - len(axes), rank))
    if not (leads or ends):
        return _of_middle(axes, aval, result)
    if aval.size > _MAX_ELEMENTS_FOR_ONES and (not leads or result.size > _SHORT_ROW):
        return None
    ones = _ones(terms, aval.dtype.name)
    if rank == 1:
        return Expression("{0}.dot({p0})", (ones,))
    if leads and ends:
        return Expression('{0}.ravel("K").dot({p0})', (ones,))
    if rank == 2:
        product = "{p0}.dot({0}" if leads else "{0}.dot({p0}"
        return Expression(f"{product})", (ones,), onto=f"{product}, {{out}})", strict_out=True)
    return _of_matrix(axes, ones, result, leads=leads)


def _of_matrix(axes: tuple[int, ...], ones: Any, result: Aval, *, leads: bool) -> Expression:
    """Sum over the first or the last axes of an array of higher rank, which is read as a matrix."""
    bound: list[Any] = [ones, np.add.reduce, axes]
    if leads:
        bound.append((ones.size, result.size))
        product = "{p0}.dot({0}.reshape({p3}))"
    else:
        bound.append((result.size, ones.size))
        product = "{0}.reshape({p3}).dot({p0})"
    if result.ndim > 1:
        bound.append(result.shape)
        product += ".reshape({p4})"
    return Expression(
        f"({product} if {{0}}.flags.c_contiguous else {{p1}}({{0}}, {{p2}}))", tuple(bound)
    )


def _of_middle(axes: tuple[int, ...], aval: Aval, result: Aval) -> Expression | None:
    """Sum over axes in the middle, behind which few elements lie, by a product for each part."""
    found = _large().middle_of(np.add, aval.shape, axes, np.dtype(aval.dtype.name))
    if found is None:
        return None
    ones = _ones(found[1], aval.dtype.name)
    bound = np.matmul, ones, found, result.shape, np.add.reduce, axes
    product = "{p0}({p1}, {0}.reshape({p2})).reshape({p3})"
    return Expression(f"({product} if {{0}}.flags.c_contiguous else {{p4}}({{0}}, {{p5}}))", bound)


def _at_position(method: str, reduce: Function) -> Callable[..., Expression | None]:
    """Return the largest or smallest of a few numbers by its position, which is found faster.

    That of the first nan is found where there is one.
    """
    row = Expression(f"{{0}}[{{0}}.{method}()]")
    text = f"({{0}}.take({{0}}.{method}()) if {{0}}.flags.c_contiguous else {{p0}}({{0}}, None))"
    array = Expression(text, (reduce,))

    def found(axes: tuple[int, ...], aval: Aval, result: Aval) -> Expression | None:
        is_known = aval.dtype.name in ("float32", "float64", "int32", "int64")
        if result.shape or not is_known or not 0 < aval.size <= _MAX_ELEMENTS_FOR_POSITION:
            return None
        return row if aval.ndim == 1 else array

    return found


#: What replaces `reduce` where an array is small
_REPLACEMENTS: dict[Any, Callable[..., Expression | None]] = {
    np.add: _product_with_ones,
    np.maximum: _at_position("argmax", np.maximum.reduce),
    np.minimum: _at_position("argmin", np.minimum.reduce),
}


@cache
def _large() -> Any:
    """Import what reduces large arrays, which many programs do not have."""
    return import_module("tenferro_numpy.kernels.tile_reductions")


@lru_cache(maxsize=256)
def _ones(count: int, dtype: str) -> Any:
    ones = np.ones(count, dtype)
    ones.flags.writeable = False
    return ones


def _by_rows(function: Any, axes: tuple[int, ...], aval: Aval) -> Any:
    """Return a reduction of many short rows; None if `reduce` is used."""
    if aval.dtype.name not in ("float32", "float64"):
        return None
    length = _large().row_length(aval.shape[1:], tuple(axis - 1 for axis in axes))
    if aval.size < _MIN_ELEMENTS_FOR_PRODUCT and not (
        length and aval.size // length * (30 - 0.8 * length) > 450  # nanoseconds that it saves
    ):
        return None
    return _large().rows_of(function, length, np.dtype(aval.dtype.name))


def _is_small_matrix(axes: tuple[int, ...], aval: Aval) -> bool:
    """Return True if columns are compared fastest in a copy, wherever the matrix lies in memory."""
    return axes == (1,) and aval.ndim == 2 and aval.size <= _MAX_ELEMENTS_TO_COPY


def _is_by_slices(function: Any, axes: tuple[int, ...], aval: Aval, result: Aval) -> bool:
    """Return True if short axes are reduced faster slice by slice."""
    if aval.dtype is not result.dtype:
        return False
    if not _large().is_by_slices(function, aval.shape, axes, np.dtype(aval.dtype.name)):
        return False
    runs = aval.size // prod(aval.shape[max(axes) + 1 :])
    return runs * _RUN_NS > (aval.size // result.size - 1) * _SLICE_NS


def _of_slices(function: Any, axes: tuple[int, ...], x: Any) -> Any:
    """Reduce short axes by calls over their slices."""
    if not x.flags.c_contiguous:
        return function.reduce(x, axes, x.dtype)
    return _large().reduce_by_slices(function, x, axes)


def _of_rows(
    function: Any, axes: tuple[int, ...], by_rows: Any, shape: tuple[int, ...], dtype: Any, x: Any
) -> Any:
    """Reduce short rows, by whatever is fast where they lie one after the other."""
    if not x.flags.c_contiguous:
        return function.reduce(x, axes)
    out = np.empty(shape, dtype)
    by_rows(x.reshape(out.size, -1), out.reshape(-1))
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

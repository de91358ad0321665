"""Shape and layout on NumPy: methods of the array, which cost less than the functions.

A broadcast is left to the ufunc that reads it where that is possible (`planner.py`); elsewhere
small ones are written out, because `np.broadcast_to` costs more than the copy. Read next:
`reduction.py`.
"""

from __future__ import annotations

from functools import lru_cache, partial
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np

from tenferro.primitives import Aval
from tenferro.primitives.structural import (
    Bitcast,
    BroadcastInDim,
    Concatenate,
    Convert,
    OptimizationBarrier,
    Pad,
    Reshape,
    Reverse,
    Slice,
    StopGradient,
    Transpose,
)
from tenferro_numpy.ir.assembly import Pieces
from tenferro_numpy.ir.expression import (
    IDENTITY,
    VIEW_BY_UNIT_AXES,
    Expression,
    Function,
    Specialize,
    called,
)
from tenferro_numpy.ir.kept import number

__all__ = ["EXPRESSIONS"]

_WRITTEN_OUT = 4096  # elements up to which a broadcast is copied
_ALL = slice(None)
_MAX_ELEMENTS_TO_EXPAND = 8192  # elements up to which a copy is compared with what its readers pay


def _reshape(op: Reshape, avals: tuple[Aval, ...], result: Aval, lowering: Function) -> Expression:
    if avals[0].shape == result.shape:
        return IDENTITY
    return _viewed_as(avals[0].shape, result.shape)


@lru_cache(maxsize=512)
def _viewed_as(shape: tuple[int, ...], wanted: tuple[int, ...]) -> Expression:
    """Write a view of another shape: by an index where only axes of length 1 come or go."""
    index = _index_of_unit_axes(shape, wanted) if shape and wanted else None
    if index is None:
        return Expression("{0}.reshape({p0})", (wanted,), shares=True)
    return Expression(VIEW_BY_UNIT_AXES, (wanted, index), shares=True)


def _index_of_unit_axes(
    shape: tuple[int, ...], wanted: tuple[int, ...]
) -> tuple[int | slice | None, ...] | None:
    """Return the index that drops and adds axes of length 1; None if others change, too."""
    index: list[int | slice | None] = []
    left, right = [*reversed(shape)], [*reversed(wanted)]
    while left or right:
        if left and right and left[-1] == right[-1]:
            index.append(_ALL)
            left.pop()
            right.pop()
        elif left and left[-1] == 1:
            index.append(0)
            left.pop()
        elif right and right[-1] == 1:
            index.append(None)
            right.pop()
        else:
            return None
    return _without_last(index)


def _without_last(index: list[Any]) -> tuple[Any, ...]:
    """Return an index without the last axes that it takes whole: NumPy reads it faster."""
    while index and index[-1] == _ALL:
        index.pop()
    return tuple(index)


def _transpose(
    op: Transpose, avals: tuple[Aval, ...], result: Aval, lowering: Function
) -> Expression:
    axes = tuple(op.permutation)
    if axes == tuple(range(len(axes))):
        return IDENTITY
    if axes == (1, 0):
        return Expression("{0}.T", shares=True)
    return Expression("{0}.transpose({p0})", (axes,), shares=True)


def _broadcast_in_dim(
    op: BroadcastInDim, avals: tuple[Aval, ...], result: Aval, lowering: Function
) -> Expression:
    shape = avals[0].shape
    if shape == result.shape:
        return IDENTITY
    expanded = op.expanded(shape)
    skipped = next((d for d, n in enumerate(expanded) if n != 1), len(expanded))
    aligned = expanded[min(skipped, len(expanded) - len(shape)) :]
    unexpanded = IDENTITY if aligned == shape else _viewed_as(shape, aligned)
    if result.size == avals[0].size:  # a view that may be given to the user, who may write to it
        return _viewed_as(shape, result.shape)._replace(unexpanded=unexpanded)
    if shape and 0 < result.size <= _MAX_ELEMENTS_TO_EXPAND:
        return _expanded(expanded, result, unexpanded)
    bound: tuple[Any, ...] = (_written_out, expanded, result.shape)
    if result.size <= _WRITTEN_OUT:
        return Expression("{p0}({0}, {p1}, {p2})", bound, unexpanded=unexpanded)
    bound = (np.broadcast_to, expanded, result.shape)
    return Expression("{p0}({0}.reshape({p1}), {p2})", bound, shares=True, unexpanded=unexpanded)


def _expanded(expanded: tuple[int, ...], result: Aval, unexpanded: Expression) -> Expression:
    """Expand a small array, by an index or by an assignment, whichever costs less.

    The costs are nanoseconds. An assignment, and a ufunc that expands an operand itself, pay for
    each run of elements along which the operand varies, or does not.
    """
    size, runs = result.size, result.size / _run_length(expanded, result.shape)
    by_index, assigned = 165 + 0.6 * size, 525 + 0.13 * size + 3.7 * runs
    saved = 570 + 0.15 * size + 4.6 * runs  # by a reader that need not expand it
    readers = int(1.3 * min(by_index, assigned) / saved) + 1
    if by_index <= assigned:
        return Expression(
            "{0}.take({p0})",
            (_positions(expanded, result.shape),),
            onto='{0}.take({p0}, None, {out}, "clip")',
            unexpanded=unexpanded,
            expanded_for=readers,
        )
    return Expression(
        "{p0}({0}, {p1}, {p2})",
        (_written_out, expanded, result.shape),
        onto="{p0}({0}, {p1}, {p2}, {out})",
        unexpanded=unexpanded,
        expanded_for=readers,
    )


def _run_length(expanded: tuple[int, ...], shape: tuple[int, ...]) -> int:
    """Return the elements of the last axes along which an operand varies, or is repeated."""
    length = 1
    repeats = None
    for given, n in zip(reversed(expanded), reversed(shape), strict=True):
        if n == 1:
            continue
        if repeats is None:
            repeats = given == 1
        elif repeats is not (given == 1):
            break
        length *= n
    return length


@lru_cache(maxsize=64)
def _positions(expanded: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """Return where in an array of one shape the elements of another one are.

    `take` would copy positions that cannot be written to, or are in another order.
    """
    places = np.arange(prod(expanded)).reshape(expanded)
    return np.array(np.broadcast_to(places, shape), order="C")


def _written_out(x: Any, expanded: tuple[int, ...], shape: tuple[int, ...], out: Any = None) -> Any:
    if out is None:
        out = np.empty(shape, x.dtype)
    out[...] = x.reshape(expanded)
    return out


def _slice(op: Slice, avals: tuple[Aval, ...], result: Aval, lowering: Function) -> Expression:
    if avals[0].shape == result.shape:
        return IDENTITY
    parts = [*map(slice, op.start, op.limit, op.strides)]
    index = [
        _ALL if part == slice(0, n, 1) else part
        for part, n in zip(parts, avals[0].shape, strict=True)
    ]
    return Expression("{0}[{p0}]", (_without_last(index),), shares=True)


def _reverse(op: Reverse, avals: tuple[Aval, ...], result: Aval, lowering: Function) -> Expression:
    if not op.dimensions:
        return IDENTITY
    steps = [-1 if axis in op.dimensions else None for axis in range(len(result.shape))]
    where = tuple(slice(None, None, step) for step in steps)
    return Expression("{0}[{p0}]", (where,), shares=True)


def _pad(op: Pad, avals: tuple[Aval, ...], result: Aval, lowering: Function) -> Expression:
    if min((*op.low, *op.high), default=0) < 0:
        return called(op, 2, lowering, shares=False)
    axes = zip(op.low, avals[0].shape, op.interior, strict=True)
    window = [slice(a, a + (n - 1) * (gap + 1) + 1 if n else a, gap + 1) for a, n, gap in axes]
    pieces = None if any(op.interior) else Pieces((tuple(op.low),), fill=1)
    frame = partial(_framed, result.shape, np.dtype(result.dtype.name), tuple(window))
    return Expression("{p0}({0}, {1})", (frame,), pieces=pieces)


def _framed(
    shape: tuple[int, ...], dtype: Any, window: tuple[slice, ...], x: Any, value: Any
) -> Any:
    """Put an array into a window of a new one that is filled with a value."""
    out = np.empty(shape, dtype)
    out[...] = value
    out[window] = x
    return out


def _concatenate(
    op: Concatenate, avals: tuple[Aval, ...], result: Aval, lowering: Function
) -> Expression:
    operands = "".join(f"{{{i}}}, " for i in range(len(avals)))
    ends = accumulate([aval.shape[op.dimension] for aval in avals], initial=0)
    starts = [tuple([end * (d == op.dimension) for d in range(result.ndim)]) for end in ends]
    return Expression(
        f"{{p0}}(({operands}), {{p1}})",
        (np.concatenate, op.dimension),
        onto=f"{{p0}}(({operands}), {{p1}}, {{out}})",
        pieces=Pieces(tuple(starts[:-1])),
    )


def _convert(op: Convert, avals: tuple[Aval, ...], result: Aval, lowering: Function) -> Expression:
    source, target = avals[0].dtype, op.dtype
    if target.is_bool:
        return Expression("{p0}({0}, {p1})", (np.not_equal, number(0, source.name)))
    native = np.dtype(target.name)
    if source.is_complex and not target.is_complex:
        return Expression(
            "{0}.real.astype({p0})", (native, np.copyto), into='{p1}({out}, {0}.real, "unsafe")'
        )
    return Expression("{0}.astype({p0})", (native, np.copyto), into='{p1}({out}, {0}, "unsafe")')


def _bitcast(op: Bitcast, avals: tuple[Aval, ...], result: Aval, lowering: Function) -> Expression:
    return Expression("{0}.view({p0})", (np.dtype(op.dtype.name),), shares=True)


def _barrier(
    op: OptimizationBarrier, avals: tuple[Aval, ...], result: Aval, lowering: Function
) -> Expression:
    return IDENTITY if op.count == 1 else called(op, op.count, lowering, shares=True)


EXPRESSIONS: dict[type, Specialize] = {
    Reshape: _reshape,
    Transpose: _transpose,
    BroadcastInDim: _broadcast_in_dim,
    Slice: _slice,
    Reverse: _reverse,
    Pad: _pad,
    Concatenate: _concatenate,
    Convert: _convert,
    Bitcast: _bitcast,
    OptimizationBarrier: _barrier,
    StopGradient: lambda op, avals, result, lowering: IDENTITY,
}

"""``moves``: reshapes, transposes, broadcasts, slices, paddings and conversions that meet.

Two moves in a row become one or none, as far as one equation can say both. A conversion is left
out only where no bit is lost: widening and then narrowing back, or widening on the way to what
rounds once in either case. Everything here is exact. Read next: ``broadcasts.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from math import prod
from typing import Any

from tenferro.computegraph import Operation
from tenferro.passes._facts import made_by
from tenferro.passes._rewriter import Rewriter
from tenferro.passes._rules import PassRules
from tenferro.passes._shapes import merged_slice, placed, unit_axes_alone
from tenferro.primitives._dtype import DType
from tenferro.primitives.arithmetic import Add, Div, Mul, Sub
from tenferro.primitives.structural import (
    BroadcastInDim,
    Concatenate,
    Convert,
    Pad,
    Reshape,
    Reverse,
    Slice,
    Transpose,
    inverse,
)

MOVES = PassRules("moves")
_Operands = tuple[int, ...]
_MAX_CONCATENATED = 64  # operands of one concatenation

# ---- reshape, transpose, broadcast ---------------------------------------------------------------


@MOVES.of(Reshape)
def _reshape(rw: Rewriter, op: Reshape, operands: _Operands) -> int | None:
    """Simplify a reshape: to the same shape, of a reshape, or of unit axes alone."""
    (x,) = operands
    if rw.avals[x].shape == op.shape:
        return x
    inner = rw.operations[x]
    if type(inner) is Reshape:
        return rw.emit(op, *rw.operands[x])
    if type(inner) is Transpose:
        return _unit_axes_of_transpose(rw, op, x, inner)
    if type(inner) is not BroadcastInDim:
        return None
    axes = unit_axes_alone(inner.shape, op.shape)
    if axes is None:
        return None
    dimensions = placed([axes.get(d) for d in inner.dimensions], len(op.shape))
    if dimensions is None:
        return None
    return rw.emit(BroadcastInDim(op.shape, dimensions), *rw.operands[x])


def _unit_axes_of_transpose(rw: Rewriter, op: Reshape, x: int, inner: Transpose) -> int | None:
    """Drop axes of size 1 before the transpose that moves them, if another reshape made them."""
    (source,) = rw.operands[x]
    before, after = rw.avals[x].shape, op.shape
    if type(rw.operations[source]) is not Reshape or unit_axes_alone(before, after) is None:
        return None
    kept = [axis for axis in inner.permutation if rw.avals[source].shape[axis] != 1]
    if len(kept) != len(after):
        return None
    flat = rw.emit(Reshape(tuple([rw.avals[source].shape[axis] for axis in sorted(kept)])), source)
    return rw.emit(Transpose(_ranks(kept)), flat)


def _ranks(numbers: Sequence[int]) -> tuple[int, ...]:
    """Return the place of each number among all of them, sorted."""
    ordered = sorted(numbers)
    return tuple([ordered.index(number) for number in numbers])


@MOVES.of(Transpose)
def _transpose(rw: Rewriter, op: Transpose, operands: _Operands) -> int | None:
    """Simplify a transpose: the identity, of a transpose, of a broadcast, or of unit axes only."""
    (x,) = operands
    order, shape = op.permutation, rw.avals[x].shape
    if order == tuple(range(len(order))):
        return x
    inner = rw.operations[x]
    if type(inner) is Transpose:
        return rw.emit(Transpose(tuple([inner.permutation[i] for i in order])), *rw.operands[x])
    moved = [axis for axis in order if shape[axis] != 1]
    if moved == sorted(moved) and rw.can(Reshape):
        return rw.emit(Reshape(tuple([shape[axis] for axis in order])), x)
    if type(inner) is not BroadcastInDim:
        return None
    place = inverse(order)
    dimensions = [place[d] for d in inner.dimensions]
    source = rw.operands[x][0]
    if dimensions != sorted(dimensions):
        source = rw.emit(Transpose(inverse(dimensions)), source)
    wide = tuple([shape[axis] for axis in order])
    return rw.emit(BroadcastInDim(wide, tuple(sorted(dimensions))), source)


@MOVES.of(Add, Sub, Mul, Div, reads=[Transpose], every=True)
def _of_transposed(rw: Rewriter, op: Operation, operands: _Operands) -> int | None:
    """Combine before a transpose that moves both operands alike and that nothing else reads."""
    x, y = operands
    inner: Any = rw.operations[x]
    if x == y or rw.operations[y] != inner or not (rw.is_read_once(x) and rw.is_read_once(y)):
        return None
    return rw.emit(inner, rw.emit(op, *rw.operands[x], *rw.operands[y]))


@MOVES.of(BroadcastInDim)
def _broadcast(rw: Rewriter, op: BroadcastInDim, operands: _Operands) -> int | None:
    """Simplify a broadcast: to the same shape, of a broadcast, or of a reshape with unit axes."""
    (x,) = operands
    if rw.avals[x].shape == op.shape and op.dimensions == tuple(range(len(op.shape))):
        return x
    inner = rw.operations[x]
    if type(inner) is BroadcastInDim:
        dimensions = tuple([op.dimensions[d] for d in inner.dimensions])
        return rw.emit(BroadcastInDim(op.shape, dimensions), *rw.operands[x])
    if type(inner) is not Reshape:
        return None
    source = rw.operands[x][0]
    axes = unit_axes_alone(rw.avals[source].shape, inner.shape)
    if axes is None:
        return None
    wanted = [axes.get(axis) for axis in range(rw.avals[source].ndim)]
    found = placed([None if w is None else op.dimensions[w] for w in wanted], len(op.shape))
    return None if found is None else rw.emit(BroadcastInDim(op.shape, found), source)


@MOVES.of(Reverse)
def _reverse(rw: Rewriter, op: Reverse, operands: _Operands) -> int | None:
    """Simplify a reverse: twice along the same axes, or along axes without variation."""
    (x,) = operands
    inner, axes = made_by(rw, x, Reverse), set(op.dimensions)
    if inner is not None:
        axes ^= set(inner.dimensions)
        return rw.emit(Reverse(tuple(sorted(axes))), rw.operands[x][0])
    shape = rw.avals[x].shape
    kept = [axis for axis in op.dimensions if shape[axis] > 1]
    if len(kept) == len(op.dimensions):
        return None if kept else x
    return rw.emit(Reverse(tuple(kept)), x)


# ---- slice, pad, concatenate ---------------------------------------------------------------------


@MOVES.of(Slice)
def _slice(rw: Rewriter, op: Slice, operands: _Operands) -> int | None:
    """Simplify a slice: of everything, of a slice, a broadcast, a padding or a concatenation."""
    (x,) = operands
    shape = rw.avals[x].shape
    if not any(op.start) and op.limit == shape and set(op.strides) <= {1}:
        return x
    inner = rw.operations[x]
    if type(inner) is Slice:
        return rw.emit(merged_slice(inner, op), *rw.operands[x])
    if type(inner) is BroadcastInDim:
        return _slice_of_broadcast(rw, op, x, inner)
    if type(inner) is Pad:
        return _slice_of_padding(rw, op, x, inner)
    return _slice_of_joined(rw, op, x) if type(inner) is Concatenate else None


def _slice_of_broadcast(rw: Rewriter, op: Slice, x: int, inner: BroadcastInDim) -> int:
    """Cut along the axes that the source has, repeat less along the others."""
    (source,) = rw.operands[x]
    shape = rw.avals[source].shape
    bounds: list[tuple[int, int, int]] = []
    for n, d in zip(shape, inner.dimensions, strict=True):
        own = (op.start[d], op.limit[d], op.strides[d])
        bounds.append((0, 1, 1) if n == 1 else own)
    start, limit, strides = (tuple([bound[k] for bound in bounds]) for k in range(3))
    cut = rw.emit(Slice(start, limit, strides), source)
    wide = op.abstract_eval(rw.avals[x]).shape
    return rw.emit(BroadcastInDim(wide, inner.dimensions), cut)


def _slice_of_padding(rw: Rewriter, op: Slice, x: int, inner: Pad) -> int | None:
    """Slice the padded array instead, if none of the padding is taken."""
    if any(inner.interior):
        return None
    source = rw.operands[x][0]
    start = [i - low for i, low in zip(op.start, inner.low, strict=True)]
    limit = [i - low for i, low in zip(op.limit, inner.low, strict=True)]
    bounds = zip(start, limit, rw.avals[source].shape, strict=True)
    if any(not 0 <= first <= last <= n for first, last, n in bounds):
        return None
    return rw.emit(Slice(tuple(start), tuple(limit), op.strides), source)


def _slice_of_joined(rw: Rewriter, op: Slice, x: int) -> int | None:
    """Slice one operand instead, if all of the slice comes from it."""
    axis = rw.operations[x].dimension  # type: ignore[union-attr]
    first, last = op.start[axis], op.limit[axis]
    for source in rw.operands[x]:
        n = rw.avals[source].shape[axis]
        if 0 <= first and last <= n:
            start, limit = list(op.start), list(op.limit)
            start[axis], limit[axis] = first, last
            return rw.emit(Slice(tuple(start), tuple(limit), op.strides), source)
        first, last = first - n, last - n
        if first < 0:
            return None
    return None


@MOVES.of(Pad)
def _pad(rw: Rewriter, op: Pad, operands: _Operands) -> int | None:
    """Simplify a pad: by nothing, one that only crops, or a pad with the same constant."""
    x, filler = operands
    if any(op.interior):
        return None
    if not any(n > 0 for n in (*op.low, *op.high)):
        start = [-n for n in op.low]
        shape = rw.avals[x].shape
        limit = [n + high for n, high in zip(shape, op.high, strict=True)]
        if any(first > last for first, last in zip(start, limit, strict=True)):
            return None
        return rw.emit(Slice(tuple(start), tuple(limit), (1,) * len(start)), x)
    inner = made_by(rw, x, Pad)
    if inner is None or any(inner.interior) or rw.operands[x][1] != filler:
        return None
    sides = (*inner.low, *inner.high, *op.low, *op.high)
    if any(n < 0 for n in sides) or not rw.is_read_once(x):
        return None
    low = [i + j for i, j in zip(inner.low, op.low, strict=True)]
    high = [i + j for i, j in zip(inner.high, op.high, strict=True)]
    return rw.emit(Pad(tuple(low), tuple(high), op.interior), rw.operands[x][0], filler)


@MOVES.of(Concatenate, reads=[BroadcastInDim], every=True)
def _of_broadcasts(rw: Rewriter, op: Concatenate, operands: _Operands) -> int | None:
    """Concatenate what is repeated in the same way, and repeat the result."""
    first: Any = rw.operations[operands[0]]
    axis = op.dimension
    if len(operands) < 2:
        return None
    if axis not in first.dimensions:
        return _of_repeated_rows(rw, op, operands)
    own = first.dimensions.index(axis)
    for x in operands:
        inner: Any = rw.operations[x]
        source = rw.avals[rw.operands[x][0]].shape
        if inner.dimensions != first.dimensions or source[own] != inner.shape[axis]:
            return None
    sources = [rw.operands[x][0] for x in operands]
    shapes = [rw.avals[x].shape for x in sources]
    if len({(*shape[:own], *shape[own + 1 :]) for shape in shapes}) > 1:
        return None
    wide = op.abstract_eval(*[rw.avals[x] for x in operands]).shape
    return rw.emit(BroadcastInDim(wide, first.dimensions), rw.emit(Concatenate(own), *sources))


def _of_repeated_rows(rw: Rewriter, op: Concatenate, operands: _Operands) -> int | None:
    """Concatenate what rows of one element repeat along other axes, and repeat the result."""
    first: Any = rw.operations[operands[0]]
    axis, dimensions = op.dimension, first.dimensions
    sources = [rw.operands[x][0] for x in operands]
    shape = rw.avals[sources[0]].shape
    if prod(shape) == prod(first.shape):
        return None
    for x, source in zip(operands, sources, strict=True):
        inner: Any = rw.operations[x]
        if inner != first or inner.shape[axis] != 1 or rw.avals[source].shape != shape:
            return None
    own = len([k for k in dimensions if k < axis])
    row = Reshape((*shape[:own], 1, *shape[own:]))
    joined = rw.emit(Concatenate(own), *[rw.emit(row, source) for source in sources])
    wide = (*first.shape[:axis], len(operands), *first.shape[axis + 1 :])
    return rw.emit(BroadcastInDim(wide, (*dimensions[:own], axis, *dimensions[own:])), joined)


@MOVES.of(Concatenate)
def _concatenate(rw: Rewriter, op: Concatenate, operands: _Operands) -> int | None:
    """Simplify a concatenation: of one or of empty arrays, of adjacent slices, or nested."""
    if len(operands) == 1:
        return operands[0]
    axis = op.dimension
    parts = [x for x in operands if rw.avals[x].shape[axis]]
    if len(parts) < len(operands):
        return rw.emit(op, *(parts or operands[:1]))
    makers = [type(rw.operations[x]) for x in parts]
    joined = _joined_slices(rw, axis, parts) if Slice in makers else parts
    if len(joined) == len(parts) > 1 and (Slice in makers or Reshape in makers):
        found = import_module("tenferro.passes._transposed_slices")
        joined = found.transposed_slices(rw, axis, parts)
    if len(joined) < len(parts):
        return rw.emit(op, *joined)
    if Concatenate not in makers:
        return None
    flat: list[int] = []
    for x in parts:
        inside = made_by(rw, x, Concatenate) is op and rw.is_read_once(x)
        flat += rw.operands[x] if inside else (x,)
    return rw.emit(op, *flat) if len(parts) < len(flat) <= _MAX_CONCATENATED else None


def _joined_slices(rw: Rewriter, axis: int, parts: Sequence[int]) -> Sequence[int]:
    """Merge adjacent slices of one value among the parts of a concatenation."""
    joined = [parts[0]]
    for x in parts[1:]:
        whole = _neighbours(rw, axis, joined[-1], x)
        if whole is None:
            joined.append(x)
        else:
            joined[-1] = whole
    return joined


def _neighbours(rw: Rewriter, axis: int, x: int, y: int) -> int | None:
    """Merge two slices of one value if the second begins at the end of the first."""
    a, b = made_by(rw, x, Slice), made_by(rw, y, Slice)
    if a is None or b is None or a.limit[axis] != b.start[axis]:
        return None
    if rw.operands[x] != rw.operands[y] or a.strides != b.strides or a.strides[axis] != 1:
        return None
    limit = list(a.limit)
    limit[axis] = b.limit[axis]
    start = list(b.start)
    start[axis] = a.start[axis]
    if tuple(start) != a.start or tuple(limit) != b.limit:
        return None
    return rw.emit(Slice(tuple(start), tuple(limit), a.strides), *rw.operands[x])


# ---- convert -------------------------------------------------------------------------------------


@MOVES.of(Convert)
def _convert(rw: Rewriter, op: Convert, operands: _Operands) -> int | None:
    """Simplify a conversion: to the same dtype, or of a conversion that has lost nothing."""
    (x,) = operands
    if rw.avals[x].dtype is op.dtype:
        return x
    if made_by(rw, x, Convert) is None:
        return None
    source = rw.operands[x][0]
    between, first = rw.avals[x].dtype, rw.avals[source].dtype
    if not _holds(between, first) or not _same_directly(first, between, op.dtype):
        return None
    return rw.emit(op, source)


def _holds(wide: DType, narrow: DType) -> bool:
    """Return True if one dtype represents every number of the other."""
    if narrow.is_bool:
        return not wide.is_bool
    if narrow.is_integer:
        return _holds_integers(wide, narrow)
    if not wide.is_inexact or (narrow.is_complex and not wide.is_complex):
        return False
    a, b = narrow.real_dtype, wide.real_dtype
    return a is b or a.bits < b.bits


def _holds_integers(wide: DType, narrow: DType) -> bool:
    bits = narrow.bits - (narrow.category == "int")
    if wide.is_inexact:
        return bits <= wide.precision
    if wide.is_bool or (narrow.category == "int" and wide.category == "uint"):
        return False
    return bits <= wide.bits - (wide.category == "int")


def _same_directly(first: DType, between: DType, last: DType) -> bool:
    """Return True if the detour over a wider dtype can be skipped.

    A float that is out of the range of an integer has no meaning as one, and machines differ in
    what they make of it; so floats that become integers go the way that was written.
    """
    if first is last or last.is_bool or last.is_inexact:
        return True
    return not between.is_inexact or (not first.is_inexact and _holds(last, first))

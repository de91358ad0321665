"""``reduce``: reductions of less.

What is repeated along a reduced axis is not read n times: a sum is n·x, a maximum is x. A factor,
a divisor or a sign that does not vary along the reduced axes goes behind the sum. Sums over
several axes in a row become one. The largest, the smallest, and, or keep every bit. Sums of floats
agree to rounding, where nothing overflows and the factor is finite (inf·0 is nan within a sum, and
may be no part of it behind it); the zero that a sum gives may have the other sign. Nothing is done
to float16 and bfloat16, whose sums overflow where scaled ones do not.
Read next: ``contractions.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tenferro.passes._facts import constant, is_narrow
from tenferro.passes._repeats import REPEATED, along, may_repeat, remaining, repeated, varying
from tenferro.passes._rewriter import Rewriter
from tenferro.passes._rounding import holds_integer, wrapped
from tenferro.passes._rules import PassRules
from tenferro.primitives._aval import Aval
from tenferro.primitives._dtype import float64
from tenferro.primitives.arithmetic import Div, Mul, Neg
from tenferro.primitives.reduction import ReduceAnd, ReduceMax, ReduceMin, ReduceOr, ReduceSum
from tenferro.primitives.structural import BroadcastInDim, Reshape, Transpose

REDUCE = PassRules("reduce")
_Operands = tuple[int, ...]
_MAX_DEPTH = 8  # of products in products
_ALL = (ReduceSum, ReduceMax, ReduceMin, ReduceAnd, ReduceOr)


@REDUCE.of(*_ALL)
def _single(rw: Rewriter, op: Any, operands: _Operands) -> int | None:
    """Replace a reduction over axes of size 1 by a reshape."""
    (x,) = operands
    shape = rw.avals[x].shape
    if op.axes and 1 not in shape:
        return None
    single = [axis for axis in op.axes if shape[axis] == 1]
    if not op.axes:
        return x
    if not single or not rw.can(Reshape):
        return None
    kept = remaining(len(shape), single)
    smaller = rw.emit(Reshape(tuple([shape[axis] for axis in kept])), x)
    axes = tuple([kept.index(axis) for axis in op.axes if axis in kept])
    return rw.emit(type(op)(axes), smaller) if axes else smaller


@REDUCE.of(*_ALL, reads=[Transpose])
def _moved(rw: Rewriter, op: Any, operands: _Operands) -> int | None:
    """Reduce the operand of a transpose that keeps the order of the other axes."""
    (x,) = operands
    inner: Any = rw.operations[x]
    if type(inner) is not Transpose:
        return None
    order = inner.permutation
    kept = [order[axis] for axis in remaining(len(order), op.axes)]
    if kept != sorted(kept):
        return None
    return rw.emit(type(op)(tuple([order[axis] for axis in op.axes])), *rw.operands[x])


@REDUCE.of(*_ALL, reads=_ALL)
def _nested(rw: Rewriter, op: Any, operands: _Operands) -> int | None:
    """Merge nested reductions if the inner one has no other reader."""
    (x,) = operands
    inner: Any = rw.operations[x]
    if type(inner) is not type(op) or not rw.is_read_once(x):
        return None
    if type(op) is ReduceSum and is_narrow(rw.avals[x]):
        return None
    (source,) = rw.operands[x]
    kept = remaining(rw.avals[source].ndim, inner.axes)
    axes = (*inner.axes, *[kept[axis] for axis in op.axes])
    return rw.emit(type(op)(axes), source)


@REDUCE.of(*_ALL, reads=REPEATED)
def _of_repeated(rw: Rewriter, op: Any, operands: _Operands) -> int | None:
    """Reduce a repeated value once; a sum along the repeated axes multiplies by n."""
    (x,) = operands
    aval = rw.avals[x]
    if not may_repeat(rw, x):
        return None
    free = varying(rw, x)
    if prod(aval.shape) <= prod([aval.shape[axis] for axis in free]):
        return None
    count = prod([aval.shape[axis] for axis in op.axes if axis not in free])
    if not _may_multiply(rw, op, aval, count):
        return None
    kept = sorted(free)
    small = along(rw, x, kept)
    axes = tuple([kept.index(axis) for axis in op.axes if axis in free])
    found = rw.emit(type(op)(axes), small) if axes else small
    if type(op) is ReduceSum and count != 1:
        found = _times(rw, found, count)
    rest = remaining(aval.ndim, op.axes)
    shape = tuple([aval.shape[axis] for axis in rest])
    return repeated(rw, found, shape, [rest.index(axis) for axis in kept if axis in rest])


def _may_multiply(rw: Rewriter, op: Any, aval: Aval, count: int) -> bool:
    if type(op) is not ReduceSum or count == 1:
        return True
    if aval.dtype.is_integer:
        return rw.can(Mul)
    return not is_narrow(aval) and holds_integer(count, aval.dtype) and rw.can(Mul)


def _times(rw: Rewriter, x: int, count: int) -> int:
    aval = rw.avals[x]
    factor: Any = wrapped(count, aval.dtype) if aval.dtype.is_integer else float(count)
    return rw.emit(Mul(), x, constant(rw, factor, aval))


@REDUCE.of(ReduceSum, reads=[Neg, Mul, Div])
def _factor(rw: Rewriter, op: ReduceSum, operands: _Operands) -> int | None:
    """Σ -x = -Σ x; Σ c·x = c·Σ x and Σ x/c = (Σ x)/c where c does not vary along the sum.

    If nothing else reads what is summed, or if Σ x is there anyway.
    """
    (z,) = operands
    inner: Any = rw.operations[z]
    aval = rw.avals[z]
    is_product = type(inner) is Mul or (type(inner) is Div and aval.dtype.is_inexact)
    if is_narrow(aval) or not (is_product or type(inner) is Neg):
        return None
    pair: Any = rw.operands[z]
    for x, *c in (pair, pair[::-1]) if type(inner) is Mul else (pair,):
        if all([may_repeat(rw, i) and varying(rw, i).isdisjoint(op.axes) for i in c]):
            if rw.is_read_once(z) or rw.is_there(op, x):
                return rw.emit(inner, rw.emit(op, x), *[_behind(rw, i, op.axes) for i in c])
    return None


@REDUCE.of(ReduceSum, reads=[Mul, Div, Neg])
def _inner_factors(rw: Rewriter, op: ReduceSum, operands: _Operands) -> int | None:
    """Σ (x/c)·(y·d) = (d/c)·Σ x·y where c and d do not vary along the sum.

    In double precision alone, and where nothing else reads the parts of the product: shorter
    floats underflow so early that the order of factors matters.
    """
    (z,) = operands
    if rw.avals[z].dtype.real_dtype is not float64 or type(rw.operations[z]) is Neg:
        return None
    factors: list[tuple[Any, list[int]]] = []
    product = _without_factors(rw, z, op.axes, factors)
    if not factors:
        return None
    found = rw.emit(op, product)
    for operation, c in factors:
        found = rw.emit(operation, found, *[_behind(rw, i, op.axes) for i in c])
    return found


def _without_factors(
    rw: Rewriter, z: int, axes: Sequence[int], found: list[tuple[Any, list[int]]], depth: int = 0
) -> int:
    """Return a product without what does not vary along axes; append that to ``found``."""
    inner: Any = rw.operations[z]
    if type(inner) not in (Mul, Div, Neg) or depth > _MAX_DEPTH or not rw.is_read_once(z):
        return z
    pair = rw.operands[z]
    for x, *c in (pair, pair[::-1]) if type(inner) is Mul else (pair,):
        if all([may_repeat(rw, i) and varying(rw, i).isdisjoint(axes) for i in c]):
            found.append((inner, c))
            return _without_factors(rw, x, axes, found, depth + 1)
    parts = pair if type(inner) is Mul else pair[:1]
    new = [_without_factors(rw, i, axes, found, depth + 1) for i in parts]
    return z if tuple(new) == parts else rw.emit(inner, *new, *pair[len(new) :])


def _behind(rw: Rewriter, c: int, axes: Sequence[int]) -> int:
    """Return a repeated value in its shape without these axes."""
    aval = rw.avals[c]
    rest = remaining(aval.ndim, axes)
    shape = tuple([aval.shape[axis] for axis in rest])
    own = sorted(varying(rw, c))
    small = along(rw, c, own)
    if rw.avals[small].shape == shape:
        return small
    return rw.emit(BroadcastInDim(shape, tuple([rest.index(axis) for axis in own])), small)

"""``windows``: compute what is read, and pad late.

A slice of an operation on elements is the operation on slices, where nothing else reads the rest.
What a derivative pads with zeros, as that of a slice does, stays so where it is multiplied: the
product is computed in the window and padded then. A zero that a derivative is padded with says
that nothing flows there, so it stays 0 where the other factor is inf or nan, as it would if the
function had been written with the slice first. Where the derivatives of two branches, or of a real
and an imaginary part, are added, one choice or one complex number is made of both. All else is
exact.
Read next: ``moves.py``, ``broadcasts.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro.passes._facts import constant_of, made_by
from tenferro.passes._rewriter import Rewriter
from tenferro.passes._rules import PassRules
from tenferro.primitives._primitive import pointwise
from tenferro.primitives.arithmetic import Add, Div, Mul, Neg, Sub
from tenferro.primitives.comparison import Select
from tenferro.primitives.complex import Complex
from tenferro.primitives.constants import Constant
from tenferro.primitives.reduction import ReduceSum
from tenferro.primitives.structural import BroadcastInDim, Concatenate, Pad, Slice

WINDOWS = PassRules("windows")
_Operands = tuple[int, ...]


# ---- slices --------------------------------------------------------------------------------------


@WINDOWS.of(Slice)
def _slice_of_elementwise(rw: Rewriter, op: Slice, operands: _Operands) -> int | None:
    """f(x, y)[a:b] = f(x[a:b], y[a:b]), where slices alone read f(x, y), each another part."""
    (x,) = operands
    inner: Any = rw.operations[x]
    if inner is None or getattr(type(inner), "batch", None) is not pointwise:
        return None
    given, shape = rw.operands[x], rw.avals[x].shape
    if inner.output_count != 1 or set(op.strides) != {1} or not given:
        return None
    if any([rw.avals[i].shape != shape for i in given]):
        return None
    if not rw.is_read_once(x) and not _is_part(rw, op, x):
        return None
    return rw.emit(inner, *[rw.emit(op, i) for i in given])


def _is_part(rw: Rewriter, op: Slice, x: int) -> bool:
    """Return True if slices alone read a value, and each operand has this slice as a part."""
    given = rw.operands[x]
    joined = [i for i in given if type(rw.operations[i]) is Concatenate]
    if not joined or not rw.is_read_by(x, Slice):
        return False
    others = [i for i in given if type(rw.operations[i]) is not Concatenate]
    if any([constant_of(rw, i) is None for i in others]):
        return False
    return all([_begins_and_ends_with_a_part(rw, op, i) for i in joined])


def _begins_and_ends_with_a_part(rw: Rewriter, op: Slice, joined: int) -> bool:
    axis = rw.operations[joined].dimension  # type: ignore[union-attr]
    sizes = rw.avals[joined].shape
    if any([op.limit[d] - op.start[d] != n for d, n in enumerate(sizes) if d != axis]):
        return False
    begin = 0
    for part in rw.operands[joined]:
        end = begin + rw.avals[part].shape[axis]
        if op.start[axis] == begin and op.limit[axis] == end:
            return True
        begin = end
    return False


# ---- paddings ------------------------------------------------------------------------------------


@WINDOWS.of(Mul, reads=[Pad])
def _product(rw: Rewriter, op: Mul, operands: _Operands) -> int | None:
    """pad(u)·y = pad(u·window of y), where u carries a derivative."""
    for padded, y in (operands, operands[::-1]):
        if _is_padded_flow(rw, padded):
            return _in_window(rw, op, padded, (padded, y) if padded == operands[0] else (y, padded))
    return None


@WINDOWS.of(Div, Neg, reads=[Pad])
def _quotient_or_negative(rw: Rewriter, op: Div | Neg, operands: _Operands) -> int | None:
    """pad(u)/y = pad(u/window of y) and -pad(u) = pad(-u), where u carries a derivative."""
    return _in_window(rw, op, operands[0], operands) if _is_padded_flow(rw, operands[0]) else None


@WINDOWS.of(Add, Sub, reads=[Pad], every=True)
def _sum(rw: Rewriter, op: Add | Sub, operands: _Operands) -> int | None:
    """pad(u) + pad(v) = pad(u + v), where both are padded alike."""
    x, y = operands
    first, second = made_by(rw, x, Pad), made_by(rw, y, Pad)
    alike = first is second and rw.avals[rw.operands[x][0]] is rw.avals[rw.operands[y][0]]
    if first is None or not alike or not (_is_padded_flow(rw, x) and _is_padded_flow(rw, y)):
        return None
    return _in_window(rw, op, x, operands)


@WINDOWS.of(ReduceSum, reads=[Pad])
def _sum_over_padding(rw: Rewriter, op: ReduceSum, operands: _Operands) -> int | None:
    """Σ pad(u) = pad(Σ u), where u carries a derivative and is padded along a summed axis."""
    (x,) = operands
    if not _is_padded_flow(rw, x):
        return None
    pad: Any = rw.operations[x]
    source, filler = rw.operands[x]
    paddings = list(zip(pad.low, pad.high, pad.interior, strict=True))
    if not any([any(paddings[axis]) for axis in op.axes]):
        return None
    kept = [padding for axis, padding in enumerate(paddings) if axis not in op.axes]
    total = rw.emit(op, source)
    if not any([any(padding) for padding in kept]):
        return total
    return rw.emit(Pad(*map(tuple, zip(*kept, strict=True))), total, filler)


def _is_padded_flow(rw: Rewriter, value: int) -> bool:
    """Return True for a derivative that is padded with zeros, and nowhere cropped."""
    op = made_by(rw, value, Pad)
    if op is None or not rw.is_linear(value) or min((*op.low, *op.high), default=0) < 0:
        return False
    source, filler = rw.operands[value]
    return bool(constant_of(rw, filler) == 0 and rw.avals[source].size > 0)


def _in_window(rw: Rewriter, op: Any, padded: int, operands: _Operands) -> int:
    """Apply an operation in the window of one operand, and pad its result."""
    pad: Any = rw.operations[padded]
    source, filler = rw.operands[padded]
    each = zip(pad.low, rw.avals[source].shape, pad.interior, strict=True)
    bounds = [(low, low + (n - 1) * (gap + 1) + 1, gap + 1) for low, n, gap in each]
    start, limit, strides = (tuple([bound[k] for bound in bounds]) for k in range(3))
    window = Slice(start, limit, strides)
    inside = [
        source if i == padded else _source(rw, i, pad) or rw.emit(window, i) for i in operands
    ]
    return rw.emit(pad, rw.emit(op, *inside), filler)


def _source(rw: Rewriter, value: int, pad: Pad) -> int | None:
    """Return what was padded in the same way."""
    return rw.operands[value][0] if rw.operations[value] is pad else None


@WINDOWS.of(Concatenate)
def _padded(rw: Rewriter, op: Concatenate, operands: _Operands) -> int | None:
    """Pad a derivative instead of joining it with zeros."""
    filled = [constant_of(rw, x) == 0 for x in operands]
    if filled.count(False) != 1 or len(operands) < 2 or not rw.can(Pad):
        return None
    place = filled.index(False)
    x, axis = operands[place], op.dimension
    if not rw.is_linear(x) and not any([rw.is_linear(i) for i in operands]):
        return None
    sizes = [rw.avals[i].shape[axis] for i in operands]
    rank = rw.avals[x].ndim
    low, high = [0] * rank, [0] * rank
    low[axis], high[axis] = sum(sizes[:place]), sum(sizes[place + 1 :])
    zero = rw.emit(Constant(0, rw.avals[x].dtype, ()))
    return rw.emit(Pad(tuple(low), tuple(high), (0,) * rank), x, zero)


@WINDOWS.of(Slice, reads=[Pad])
def _slice_of_padding(rw: Rewriter, op: Slice, operands: _Operands) -> int | None:
    """Pad a slice instead of slicing a padding; outside, return the padding value."""
    (x,) = operands
    pad: Any = rw.operations[x]
    source, filler = rw.operands[x]
    if any(pad.interior) or set(op.strides) != {1} or min(*pad.low, *pad.high) < 0:
        return None
    sizes = rw.avals[source].shape
    start, limit, low, high = [], [], [], []
    for first, last, before, n in zip(op.start, op.limit, pad.low, sizes, strict=True):
        begin, end = max(first - before, 0), min(last - before, n)
        if begin >= end:
            wide = op.abstract_eval(rw.avals[x]).shape
            return rw.emit(BroadcastInDim(wide, ()), filler)
        start.append(begin)
        limit.append(end)
        low.append(before + begin - first)
        high.append(last - before - end)
    cut = rw.emit(Slice(tuple(start), tuple(limit), op.strides), source)
    return rw.emit(Pad(tuple(low), tuple(high), pad.interior), cut, filler)


# ---- sums of derivatives that are zero where the other is not -----------------------------------


@WINDOWS.of(Add, reads=[Select], every=True)
def _sum_of_branches(rw: Rewriter, op: Add, operands: _Operands) -> int | None:
    """(m ? u : 0) + (m ? 0 : v) = m ? u : v, and u where u is v; u and v carry derivatives."""
    if not all([rw.is_linear(x) for x in operands]):
        return None
    for x, y in (operands, operands[::-1]):
        (mask, u, nothing), (other, zero, v) = rw.operands[x], rw.operands[y]
        if mask != other or constant_of(rw, nothing) != 0 or constant_of(rw, zero) != 0:
            continue
        if u == v:
            return u
        if rw.is_read_once(x) and rw.is_read_once(y):
            return rw.emit(Select(), mask, u, v)
    return None


@WINDOWS.of(Add, reads=[Complex], every=True)
def _sum_of_parts(rw: Rewriter, op: Add, operands: _Operands) -> int | None:
    """(u + 0i) + (0 + vi) = u + vi, where u and v carry derivatives."""
    if not all([rw.is_linear(x) for x in operands]):
        return None
    for x, y in (operands, operands[::-1]):
        (u, nothing), (zero, v) = rw.operands[x], rw.operands[y]
        if constant_of(rw, nothing) == 0 and constant_of(rw, zero) == 0:
            return rw.emit(Complex(), u, v)
    return None

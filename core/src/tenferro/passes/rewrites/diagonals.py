"""``diagonals``: a matrix with one value off a diagonal is that diagonal, padded.

Identity matrices and diagonal matrices are n numbers between n zeros each. A number multiplies the
n numbers and one zero; added to another matrix, they are added to n of its elements, which is done
in its memory where the backend can. A number that multiplies may be inf or nan: then inf·0 is nan
off the diagonal, as it was; but a sum of all elements of a product takes nothing of what the zeros
multiply: an infinite element there does not make the sum nan. Read next: ``windows.py``.
"""

from __future__ import annotations

from math import prod
from typing import Any

from tenferro.passes._facts import constant_of, is_narrow, made_by
from tenferro.passes._repeats import along, may_repeat, varying
from tenferro.passes._rewriter import Rewriter
from tenferro.passes._rules import PassRules
from tenferro.primitives._aval import Shape
from tenferro.primitives.arithmetic import Add, Mul, Sub
from tenferro.primitives.comparison import Eq, Select
from tenferro.primitives.constants import Constant, Iota
from tenferro.primitives.reduction import ReduceSum
from tenferro.primitives.structural import BroadcastInDim, Convert, Pad, Reshape, Slice

DIAGONALS = PassRules("diagonals")
_Operands = tuple[int, ...]
_MIN_ELEMENTS = 1 << 10  # of a matrix; small ones cost no less in parts


@DIAGONALS.of(Convert, reads=[Eq])
def _identity(rw: Rewriter, op: Convert, operands: _Operands) -> int | None:
    """Write an identity matrix as ones between zeros."""
    (mask,) = operands
    shape = _shape_of_diagonal(rw, mask)
    if shape is None or not _is_possible(rw):
        return None
    ones = rw.emit(Constant(1, op.dtype, (min(shape),)))
    return _spread(rw, ones, rw.emit(Constant(0, op.dtype, ())), shape)


@DIAGONALS.of(Select, reads=[Eq])
def _selected(rw: Rewriter, op: Select, operands: _Operands) -> int | None:
    """Pad the diagonal of a matrix with the constant that is elsewhere."""
    mask, values, rest = operands
    shape, filler = _shape_of_diagonal(rw, mask), constant_of(rw, rest)
    if shape is None or filler is None or not _is_possible(rw):
        return None
    constant = rw.emit(Constant(filler, rw.avals[rest].dtype, ()))
    return _spread(rw, _diagonal(rw, values, shape), constant, shape)


def _diagonal(rw: Rewriter, values: int, shape: Shape) -> int:
    """Emit the main diagonal of a matrix."""
    n = min(shape)
    if may_repeat(rw, values) and len(varying(rw, values)) == 1:
        vector = along(rw, values, sorted(varying(rw, values)))
        is_whole = rw.avals[vector].shape == (n,)
        return vector if is_whole else rw.emit(Slice((0,), (n,), (1,)), vector)
    flat = rw.emit(Reshape((prod(shape),)), values)
    return rw.emit(Slice((0,), ((n - 1) * (shape[1] + 1) + 1,), (shape[1] + 1,)), flat)


def _is_possible(rw: Rewriter) -> bool:
    return rw.can(Pad) and rw.can(Reshape) and rw.can(Slice)


def _shape_of_diagonal(rw: Rewriter, mask: int) -> Shape | None:
    """Return the shape of a large mask that is true on the main diagonal alone."""
    if made_by(rw, mask, Eq) is None:
        return None
    x, y = (rw.operations[i] for i in rw.operands[mask])
    shape = rw.avals[mask].shape
    if type(x) is not Iota or type(y) is not Iota or len(shape) != 2:
        return None
    is_diagonal = {x.dimension, y.dimension} == {0, 1} and prod(shape) >= _MIN_ELEMENTS
    return shape if is_diagonal else None


def _spread(rw: Rewriter, diagonal: int, filler: int, shape: Shape) -> int:
    """Pad a diagonal to a matrix."""
    n, columns = min(shape), shape[1]
    high = prod(shape) - (n - 1) * (columns + 1) - 1
    return rw.emit(Reshape(shape), rw.emit(Pad((0,), (high,), (columns,)), diagonal, filler))


# ---- what is done with it ------------------------------------------------------------------------


def _padding_of(rw: Rewriter, value: int) -> int | None:
    """Return the padded vector of a matrix that is one."""
    if made_by(rw, value, Reshape) is None:
        return None
    (vector,) = rw.operands[value]
    op = made_by(rw, vector, Pad)
    is_spread = op is not None and len(op.interior) == 1 and op.interior[0] > 0
    return vector if is_spread and min(*op.low, *op.high) >= 0 else None  # type: ignore[union-attr]


@DIAGONALS.of(Mul, reads=[Reshape])
def _scaled(rw: Rewriter, op: Mul, operands: _Operands) -> int | None:
    """s·pad(v) = pad(s·v): a number multiplies the diagonal, and what it is padded with."""
    for value, s in (operands, operands[::-1]):
        vector = _padding_of(rw, value)
        if vector is None or not may_repeat(rw, s) or varying(rw, s):
            continue
        diagonal, filler = rw.operands[vector]
        number = along(rw, s, [])
        many = rw.emit(BroadcastInDim(rw.avals[diagonal].shape, ()), number)
        scaled = rw.emit(op, many, diagonal), rw.emit(op, number, filler)
        return rw.emit(
            Reshape(rw.avals[value].shape),
            rw.emit(rw.operations[vector], *scaled),  # type: ignore[arg-type]
        )
    return None


@DIAGONALS.of(Add, Sub, reads=[Reshape])
def _added(rw: Rewriter, op: Add | Sub, operands: _Operands) -> int | None:
    """x + pad(v) in the shape in which v was padded, where x is not such a matrix."""
    for place, value in enumerate(operands):
        vector, other = _padding_of(rw, value), operands[1 - place]
        if vector is None or not rw.is_read_once(value) or may_repeat(rw, other):
            continue
        if _padding_of(rw, other) is not None:
            return None
        flat = rw.emit(Reshape(rw.avals[vector].shape), other)
        found = rw.emit(op, *((vector, flat) if place == 0 else (flat, vector)))
        return rw.emit(Reshape(rw.avals[value].shape), found)
    return None


@DIAGONALS.of(ReduceSum, reads=[Mul])
def _sum_of_product(rw: Rewriter, op: ReduceSum, operands: _Operands) -> int | None:
    """Sum v times the diagonal of y instead of pad(v)·y, where v is padded with zeros."""
    (product,) = operands
    if len(op.axes) != rw.avals[product].ndim or not rw.is_read_once(product):
        return None
    if made_by(rw, product, Mul) is None or is_narrow(rw.avals[product]):
        return None
    pair = rw.operands[product]
    for value, y in (pair, pair[::-1]):
        vector = _padding_of(rw, value)
        if vector is None or constant_of(rw, rw.operands[vector][1]) != 0:
            continue
        flat = rw.emit(Reshape(rw.avals[vector].shape), y)
        inside = rw.emit(_window(rw, vector), flat)
        return rw.emit(ReduceSum((0,)), rw.emit(Mul(), rw.operands[vector][0], inside))
    return None


def _window(rw: Rewriter, vector: int) -> Slice:
    """Return the slice that takes the elements that were padded."""
    pad: Any = rw.operations[vector]
    (n,) = rw.avals[rw.operands[vector][0]].shape
    (low,), step = pad.low, pad.interior[0] + 1
    return Slice((low,), (low + (n - 1) * step + 1 if n else low,), (step,))


@DIAGONALS.of(ReduceSum, reads=[Reshape])
def _sum_of_rows(rw: Rewriter, op: ReduceSum, operands: _Operands) -> int | None:
    """Return the diagonal as the sums of the rows or columns of a square."""
    (value,) = operands
    vector, shape = _padding_of(rw, value), rw.avals[value].shape
    if vector is None or len(op.axes) != 1 or len(shape) != 2 or shape[0] != shape[1]:
        return None
    source, filler = rw.operands[vector]
    pad: Any = rw.operations[vector]
    is_main = (*pad.low, *pad.high, *pad.interior) == (0, 0, shape[0])
    return source if is_main and constant_of(rw, filler) == 0 else None

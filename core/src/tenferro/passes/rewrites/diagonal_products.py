"""Diagonal matrices in ``contract``: a product with one multiplies rows or columns.

The diagonal of a product is a sum of products of elements. Diagonal matrices are recognized as
``diag`` and derivatives of a diagonal write them. Registered by ``contractions.py``.
Read next: ``contractions.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro.passes._contracting import Side
from tenferro.passes._facts import constant_of, is_narrow, made_by
from tenferro.passes._repeats import along, may_repeat, repeated, varying
from tenferro.passes._rewriter import Rewriter
from tenferro.primitives.arithmetic import Mul
from tenferro.primitives.comparison import Eq, Select
from tenferro.primitives.constants import Iota
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.reduction import ReduceSum
from tenferro.primitives.structural import Pad, Reshape, Slice, Transpose

_Operands = tuple[int, ...]


def times_diagonal(rw: Rewriter, op: DotGeneral, operands: _Operands) -> int | None:
    """X diag(t) = X∘t along columns, diag(t) X = t∘X along rows."""
    aval = rw.avals[operands[0]]
    if op.lhs_batch or len(op.lhs_contract) != 1 or is_narrow(aval) or not rw.can(Mul):
        return None
    if op.preferred not in (None, aval.dtype):
        return None
    sides = Side.both(rw, op, operands)
    for k in (0, 1):
        side, other = sides[k], sides[1 - k]
        vector = _diagonal_of(rw, side.value)
        if vector is None:
            continue
        own = (*other.contract, *other.free) if k == 0 else (*other.free, *other.contract)
        moved = other.value
        if own != tuple(range(len(own))):
            moved = rw.emit(Transpose(own), moved)
        shape = rw.avals[moved].shape
        place = 0 if k == 0 else len(shape) - 1
        return rw.emit(Mul(), moved, repeated(rw, vector, shape, (place,)))
    return None


def _diagonal_of(rw: Rewriter, value: int) -> int | None:
    """Return the vector t of a matrix diag(t)."""
    shape, operands = rw.avals[value].shape, rw.operands[value]
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] < 2:
        return None
    if made_by(rw, value, Select) and _is_diagonal(rw, operands[0]):
        spread = operands[1]
        if constant_of(rw, operands[2]) != 0 or not may_repeat(rw, spread):
            return None
        axes = sorted(varying(rw, spread))
        return along(rw, spread, axes) if len(axes) == 1 else None
    if made_by(rw, value, Reshape):
        (flat,) = operands
        pad = made_by(rw, flat, Pad)
        if pad is None or len(pad.interior) != 1 or constant_of(rw, rw.operands[flat][1]) != 0:
            return None
        is_main = (pad.low[0], pad.high[0], pad.interior[0]) == (0, 0, shape[0])
        return rw.operands[flat][0] if is_main else None
    return None


def _is_diagonal(rw: Rewriter, mask: int) -> bool:
    """Return True for the mask row = column."""
    if not made_by(rw, mask, Eq):
        return False
    counts: list[Any] = [made_by(rw, i, Iota) for i in rw.operands[mask]]
    return all(counts) and sorted([count.dimension for count in counts]) == [0, 1]


def diagonal_of_product(rw: Rewriter, op: Slice, operands: _Operands) -> int | None:
    """diag(X Y) = Σ_k X∘Yᵀ, if nothing else reads X Y: a slice of the flat product."""
    (flat,) = operands
    if not made_by(rw, flat, Reshape) or not rw.is_read_once(flat):
        return None
    (product,) = rw.operands[flat]
    inner = made_by(rw, product, DotGeneral)
    shape = rw.avals[product].shape
    if inner is None or len(shape) != 2 or shape[0] != shape[1] or not rw.is_read_once(product):
        return None
    n = shape[0]
    if (op.start, op.strides, rw.avals[flat].shape) != ((0,), (n + 1,), (n * n,)):
        return None
    if op.limit[0] <= (n - 1) * (n + 1):  # a part of the diagonal
        return None
    left, right = Side.both(rw, inner, rw.operands[product])
    aval = rw.avals[left.value]
    if left.batch or len(left.free) != 1 or len(left.contract) != 1 or is_narrow(aval):
        return None
    if inner.preferred not in (None, aval.dtype) or not rw.can(Mul):
        return None
    x, y = (_rows(rw, side) for side in (left, right))
    return rw.emit(ReduceSum((1,)), rw.emit(Mul(), x, y))


def _rows(rw: Rewriter, side: Side) -> int:
    """Return a matrix whose columns are contracted."""
    return side.value if side.contract == (1,) else rw.emit(Transpose((1, 0)), side.value)

"""Rules for instructions that act on rows, the elements at one index of the axis of an extent.

What they give at an index follows from the same index of some operands, and from the whole of the
others. Which axis that is follows from the shape: the only one of the extent, or the leading one.
Read next: ``savings.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.primitives import Aval, pointwise
from tenferro.primitives.arithmetic import Add, Maximum, Minimum
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.reduction import ReduceMax, ReduceMin, ReduceSum
from tenferro.primitives.structural import BroadcastInDim, Reshape, Transpose

__all__ = [
    "DTYPES",
    "REDUCTIONS",
    "ByRows",
    "acts_by_rows",
    "has_rule",
    "resized",
    "row_axis",
    "with_rows",
]

DTYPES = frozenset(("float32", "float64", "complex64", "complex128", "bool"))  # nothing raises
_JOINED: dict[type, type] = {ReduceSum: Add, ReduceMax: Maximum, ReduceMin: Minimum}
REDUCTIONS = tuple(_JOINED)


class ByRows(NamedTuple):
    """Operands that are read row by row (others whole), and the join of partial results.

    ``joined`` is the elementwise primitive that joins two partial results; None where the result
    has rows itself.
    """

    operands: tuple[bool, ...]
    joined: type | None = None


def has_rule(kind: Any) -> bool:
    """Return True if instructions of a class may act on rows."""
    return getattr(kind, "batch", None) is pointwise or kind in _RULES


def acts_by_rows(op: Any, avals: Sequence[Aval], result: Aval, extent: int) -> ByRows | None:
    """Return how an instruction acts on rows of this extent; None if it does not.

    Its class has a rule, and all avals have one of ``DTYPES``.
    """
    if type(op).batch is pointwise:
        axis = row_axis(result.shape, extent)
        rows = axis is not None and all([x.shape == result.shape for x in avals])
        return ByRows((True,) * len(avals)) if rows else None
    return _RULES[type(op)](op, avals, result, extent)


def row_axis(shape: Sequence[int], extent: int) -> int | None:
    """Return the axis of an array that its rows lie along; None if it has none."""
    if not shape or extent not in shape:
        return None
    if shape[0] == extent or shape.count(extent) == 1:
        return shape.index(extent)
    return None


def resized(shape: Sequence[int], extent: int, rows: int) -> tuple[int, ...]:
    """Return the shape of so many rows of an array."""
    axis = row_axis(shape, extent)
    return tuple([rows if i == axis else n for i, n in enumerate(shape)])


def with_rows(op: Any, extent: int, rows: int) -> Any:
    """Return the operation for results with so many rows instead of all."""
    if isinstance(op, Reshape):
        return Reshape(resized(op.shape, extent, rows))
    if isinstance(op, BroadcastInDim):
        return BroadcastInDim(resized(op.shape, extent, rows), op.dimensions)
    return op


def _reshaped(op: Any, avals: Sequence[Aval], result: Aval, extent: int) -> ByRows | None:
    given, made = row_axis(avals[0].shape, extent), row_axis(result.shape, extent)
    if given is None or made is None:
        return None
    same = prod(avals[0].shape[:given]) == prod(result.shape[:made])
    return ByRows((True,)) if same else None


def _transposed(op: Any, avals: Sequence[Aval], result: Aval, extent: int) -> ByRows | None:
    given, made = row_axis(avals[0].shape, extent), row_axis(result.shape, extent)
    if given is None or made is None:
        return None
    return ByRows((True,)) if op.permutation[made] == given else None


def _broadcast(op: Any, avals: Sequence[Aval], result: Aval, extent: int) -> ByRows | None:
    made = row_axis(result.shape, extent)
    if made is None:
        return None
    if made not in op.dimensions:
        return ByRows((False,))
    from_axis = op.dimensions.index(made)
    if avals[0].shape[from_axis] == 1:
        return ByRows((False,))
    return ByRows((True,)) if row_axis(avals[0].shape, extent) == from_axis else None


def _reduced(op: Any, avals: Sequence[Aval], result: Aval, extent: int) -> ByRows | None:
    given = row_axis(avals[0].shape, extent)
    if given is None:
        return None
    if given in op.axes:
        return ByRows((True,), _JOINED[type(op)])
    made = given - sum([axis < given for axis in op.axes])
    return ByRows((True,)) if row_axis(result.shape, extent) == made else None


def _contracted(op: Any, avals: Sequence[Aval], result: Aval, extent: int) -> ByRows | None:
    if op.preferred is not None:
        return None
    lhs, rhs = avals
    left, right = row_axis(lhs.shape, extent), row_axis(rhs.shape, extent)
    if left is not None and (left, right) in zip(op.lhs_contract, op.rhs_contract, strict=True):
        return ByRows((True, True), Add)
    made = row_axis(result.shape, extent)
    if made is None:
        return None
    if made < len(op.lhs_batch):
        both = op.lhs_batch[made] == left and op.rhs_batch[made] == right
        return ByRows((True, True)) if both else None
    free = _free(lhs.ndim, (*op.lhs_batch, *op.lhs_contract))
    place = made - len(op.lhs_batch)
    if place < len(free):
        return ByRows((True, False)) if free[place] == left else None
    free_right = _free(rhs.ndim, (*op.rhs_batch, *op.rhs_contract))
    return ByRows((False, True)) if free_right[place - len(free)] == right else None


def _free(ndim: int, used: Sequence[int]) -> list[int]:
    return [axis for axis in range(ndim) if axis not in used]


_RULES: dict[type, Callable[[Any, Sequence[Aval], Aval, int], ByRows | None]] = {
    Reshape: _reshaped,
    Transpose: _transposed,
    BroadcastInDim: _broadcast,
    ReduceSum: _reduced,
    ReduceMax: _reduced,
    ReduceMin: _reduced,
    DotGeneral: _contracted,
}

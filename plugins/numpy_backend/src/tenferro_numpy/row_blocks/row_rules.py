"""Rules for instructions that act on rows, the elements at one index of the leading axis.

What they give at an index follows from the same index of some operands, and from the whole of the
others. Read next: `row_blocks/find.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tenferro.backend.extend import NamedTuple, batch_pointwise
from tenferro.primitives import Aval
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.reduction import ReduceMax, ReduceMin, ReduceSum
from tenferro.primitives.structural import BroadcastInDim, Reshape, Transpose

__all__ = ["REDUCTIONS", "ByRows", "acts_by_rows", "with_extent"]

_DTYPES = frozenset(("float32", "float64", "complex64", "complex128", "bool"))  # nothing raises
_JOINED: dict[type, np.ufunc] = {ReduceSum: np.add, ReduceMax: np.maximum, ReduceMin: np.minimum}
REDUCTIONS = tuple(_JOINED)


class ByRows(NamedTuple):
    """Operands that are read row by row (others whole), and the join of partial results.

    `joined` is None where the result has rows itself.
    """

    operands: tuple[bool, ...]
    joined: np.ufunc | None = None


def acts_by_rows(op: Any, avals: Sequence[Aval], result: Aval, extent: int) -> ByRows | None:
    """Return how an instruction acts on rows of a leading axis of this extent; None if not."""
    if any(aval.dtype.name not in _DTYPES for aval in (*avals, result)):
        return None
    if type(op).batch is batch_pointwise:
        rows = bool(avals) and _has(result, extent) and all(_has(x, extent) for x in avals)
        return ByRows((True,) * len(avals)) if rows else None
    rule = _RULES.get(type(op))
    return rule(op, avals, result, extent) if rule else None


def with_extent(op: Any, extent: int) -> Any:
    """Return the operation for results with this many rows."""
    if isinstance(op, Reshape):
        return Reshape((extent, *op.shape[1:]))
    if isinstance(op, BroadcastInDim):
        return BroadcastInDim((extent, *op.shape[1:]), op.dimensions)
    return op


def _has(aval: Aval, extent: int) -> bool:
    return bool(aval.shape) and aval.shape[0] == extent


def _kept(op: Any, avals: Sequence[Aval], result: Aval, extent: int) -> ByRows | None:
    """Handle an operation that keeps the leading axis in its place."""
    kept = _has(avals[0], extent) and _has(result, extent)
    return ByRows((True,)) if kept else None


def _transposed(op: Any, avals: Sequence[Aval], result: Aval, extent: int) -> ByRows | None:
    return _kept(op, avals, result, extent) if op.permutation[:1] == (0,) else None


def _broadcast(op: Any, avals: Sequence[Aval], result: Aval, extent: int) -> ByRows | None:
    if not _has(result, extent):
        return None
    if op.dimensions[:1] != (0,):
        return ByRows((False,))
    return ByRows((avals[0].shape[0] == extent,))


def _reduced(op: Any, avals: Sequence[Aval], result: Aval, extent: int) -> ByRows | None:
    if not _has(avals[0], extent):
        return None
    return ByRows((True,), _JOINED[type(op)] if 0 in op.axes else None)


def _contracted(op: Any, avals: Sequence[Aval], result: Aval, extent: int) -> ByRows | None:
    lhs = avals[0]
    if op.preferred is not None:
        return None
    if op.lhs_batch or op.rhs_batch:
        both = op.lhs_batch[0] == op.rhs_batch[0] == 0
        return ByRows((True, True)) if both and _has(result, extent) else None
    if (0, 0) in zip(op.lhs_contract, op.rhs_contract, strict=True):
        return ByRows((True, True), np.add) if _has(lhs, extent) else None
    if not _has(result, extent):
        return None
    if len(op.lhs_contract) < lhs.ndim:  # the free axes of the left operand come first
        return ByRows((True, False)) if 0 not in op.lhs_contract else None
    return ByRows((False, True)) if 0 not in op.rhs_contract else None


_RULES: dict[type, Callable[[Any, Sequence[Aval], Aval, int], ByRows | None]] = {
    Reshape: _kept,
    Transpose: _transposed,
    BroadcastInDim: _broadcast,
    ReduceSum: _reduced,
    ReduceMax: _reduced,
    ReduceMin: _reduced,
    DotGeneral: _contracted,
}

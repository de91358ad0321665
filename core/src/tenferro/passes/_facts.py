"""What rules ask about values: the constant that one is, how it was repeated, of which kind it is.

Read next: ``arithmetic.py``.
"""

from __future__ import annotations

from typing import Any, TypeVar

from tenferro.computegraph import Operation
from tenferro.passes._rewriter import Rewriter
from tenferro.primitives._aval import Aval
from tenferro.primitives.constants import Constant, Iota
from tenferro.primitives.structural import BroadcastInDim

Op = TypeVar("Op", bound=Operation)


def made_by(rw: Rewriter, value: int, kind: type[Op]) -> Op | None:
    """The operation that made a value, if it is of that kind."""
    operation = rw.operations[value]
    return operation if type(operation) is kind else None


def constant_of(rw: Rewriter, value: int) -> Any:
    """The Python scalar that fills a value; ``None`` where it is no constant."""
    operation = rw.operations[value]
    return operation.value if type(operation) is Constant else None


def constant(rw: Rewriter, value: Any, aval: Aval) -> int:
    """A constant of an aval."""
    return rw.emit(Constant(value, aval.dtype, aval.shape))


def is_real(aval: Aval) -> bool:
    """Whether the dtype is one of numbers that are not complex."""
    dtype = aval.dtype
    return dtype.is_float or dtype.is_integer


def repeated_along(rw: Rewriter, value: int) -> bool:
    """Whether a value may be the same along an axis: a broadcast, a constant, a count."""
    return type(rw.operations[value]) in _REPEATED


_REPEATED = frozenset({BroadcastInDim, Constant, Iota})


def varying(rw: Rewriter, value: int) -> frozenset[int]:
    """The axes along which a value may differ from itself; none of size 1."""
    aval = rw.avals[value]
    operation = rw.operations[value]
    if type(operation) is Constant:
        return frozenset()
    if type(operation) is Iota:
        return frozenset([operation.dimension] if aval.shape[operation.dimension] != 1 else [])
    if type(operation) is BroadcastInDim:
        source = rw.avals[rw.operands[value][0]]
        pairs = zip(source.shape, operation.dimensions, strict=True)
        return frozenset([axis for n, axis in pairs if n != 1 and n == aval.shape[axis]])
    return frozenset([axis for axis, n in enumerate(aval.shape) if n != 1])

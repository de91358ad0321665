"""Values that are repeated: a constant, a count, a broadcast, without the axes of repetition.

Read next: ``rewrites/broadcasts.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from tenferro.passes._rewriter import Rewriter
from tenferro.primitives._aval import Shape
from tenferro.primitives.constants import Constant, Iota
from tenferro.primitives.structural import BroadcastInDim, Reshape

REPEATED = (BroadcastInDim, Constant, Iota)


def may_repeat(rw: Rewriter, value: int) -> bool:
    """Return True if a value may be constant along an axis: a broadcast, a constant, an iota."""
    return type(rw.operations[value]) in REPEATED


def varying(rw: Rewriter, value: int) -> frozenset[int]:
    """Return the axes along which the elements of a value may differ; none of size 1."""
    shape = rw.avals[value].shape
    operation: Any = rw.operations[value]
    if type(operation) is Constant:
        return frozenset()
    if type(operation) is Iota:
        return frozenset([operation.dimension] if shape[operation.dimension] != 1 else [])
    if type(operation) is BroadcastInDim:
        source = rw.avals[rw.operands[value][0]]
        pairs = zip(source.shape, operation.dimensions, strict=True)
        return frozenset([axis for n, axis in pairs if n != 1 and n == shape[axis]])
    return frozenset([axis for axis, n in enumerate(shape) if n != 1])


def along(rw: Rewriter, value: int, kept: Sequence[int]) -> int:
    """Reduce a repeated value to these axes, in this order; it varies along no others."""
    operation: Any = rw.operations[value]
    shape = rw.avals[value].shape
    small = tuple([shape[axis] for axis in kept])
    if type(operation) is Constant:
        return rw.emit(Constant(operation.value, operation.dtype, small))
    if type(operation) is Iota:
        if operation.dimension not in kept:  # of size 1: it counts to 0
            return rw.emit(Constant(0, operation.dtype, small))
        return rw.emit(Iota(small, kept.index(operation.dimension), operation.dtype))
    if type(operation) is BroadcastInDim:
        return _source_along(rw, value, kept, small)
    return value if len(kept) == len(shape) else rw.emit(Reshape(small), value)


def _source_along(rw: Rewriter, value: int, kept: Sequence[int], small: Shape) -> int:
    operation: Any = rw.operations[value]
    (source,) = rw.operands[value]
    own = rw.avals[source].shape
    places = [
        kept.index(axis)
        for n, axis in zip(own, operation.dimensions, strict=True)
        if axis in kept and n == small[kept.index(axis)]
    ]
    sizes = tuple([small[place] for place in places])
    if own != sizes:
        source = rw.emit(Reshape(sizes), source)
    if len(places) == len(kept):
        return source
    return rw.emit(BroadcastInDim(small, tuple(places)), source)


def repeated(rw: Rewriter, value: int, shape: Shape, axes: Sequence[int]) -> int:
    """Broadcast a value into a shape; return it unchanged if it has that shape."""
    if rw.avals[value].shape == shape:
        return value
    return rw.emit(BroadcastInDim(shape, tuple(axes)), value)


def remaining(rank: int, dropped: Collection[int]) -> list[int]:
    """Return the axes that are not dropped."""
    return [axis for axis in range(rank) if axis not in dropped]

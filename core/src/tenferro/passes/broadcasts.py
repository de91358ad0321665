"""``broadcast``: compute small, repeat late.

Where all operands of an operation on elements are repeated along an axis, the operation is done
once, on what is not repeated, and its result is repeated. The same operations are done on the same
numbers, so results are the same wherever a backend rounds one number as it rounds an array of
them (NumPy may not for complex products and transcendental functions: the last bit). Only where
the result has at least twice as many elements: an operation on few costs no less than one on fewer.
Read next: ``reductions.py``.
"""

from __future__ import annotations

from math import prod
from typing import Any

from tenferro.passes._facts import repeated_along, varying
from tenferro.passes._rewriter import Rewriter, Rules
from tenferro.primitives._aval import Shape
from tenferro.primitives._primitive import pointwise
from tenferro.primitives.constants import Constant, Iota
from tenferro.primitives.structural import BroadcastInDim, Reshape

BROADCAST = Rules("broadcast")
_Operands = tuple[int, ...]


@BROADCAST.where(lambda cls: getattr(cls, "batch", None) is pointwise)
def _elementwise(rw: Rewriter, op: Any, operands: _Operands) -> int | None:
    """An operation on elements that are all repeated: once for each that differs."""
    if not all([repeated_along(rw, x) for x in operands]) or op.output_count != 1:
        return None
    shape: Shape = rw.avals[operands[0]].shape
    axes: set[int] = set()
    for x in operands:
        if rw.avals[x].shape != shape:
            return None
        axes |= varying(rw, x)
    kept = tuple(sorted(axes))
    small = tuple([shape[axis] for axis in kept])
    if not 2 * prod(small) <= prod(shape):
        return None
    found = rw.emit(op, *[_shrunk(rw, x, kept, small) for x in operands])
    return rw.emit(BroadcastInDim(shape, kept), found)


def _shrunk(rw: Rewriter, x: int, kept: tuple[int, ...], small: Shape) -> int:
    """A repeated value along the kept axes alone."""
    op: Any = rw.operations[x]
    if type(op) is Constant:
        return rw.emit(Constant(op.value, op.dtype, small))
    if type(op) is Iota:
        if op.dimension not in kept:  # of size 1: it counts to 0
            return rw.emit(Constant(0, op.dtype, small))
        return rw.emit(Iota(small, kept.index(op.dimension), op.dtype))
    (source,) = rw.operands[x]
    pairs = zip(rw.avals[source].shape, op.dimensions, strict=True)
    own = [(n, kept.index(d)) for n, d in pairs if d in kept and n == small[kept.index(d)]]
    sizes = tuple([n for n, _ in own])
    if rw.avals[source].shape != sizes:
        source = rw.emit(Reshape(sizes), source)
    dimensions = tuple([place for _, place in own])
    return source if len(own) == len(kept) else rw.emit(BroadcastInDim(small, dimensions), source)

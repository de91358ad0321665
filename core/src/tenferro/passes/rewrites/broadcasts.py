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

from tenferro.passes._repeats import REPEATED, along, may_repeat, varying
from tenferro.passes._rewriter import Rewriter
from tenferro.passes._rules import PassRules
from tenferro.primitives._aval import Shape
from tenferro.primitives._primitive import pointwise
from tenferro.primitives.structural import BroadcastInDim

BROADCAST = PassRules("broadcast")
_Operands = tuple[int, ...]


@BROADCAST.where(lambda cls: getattr(cls, "batch", None) is pointwise, reads=REPEATED, every=True)
def _elementwise(rw: Rewriter, op: Any, operands: _Operands) -> int | None:
    """Compute an elementwise operation of repeated operands once per distinct element."""
    if not all([may_repeat(rw, x) for x in operands]) or op.output_count != 1:
        return None
    shape: Shape = rw.avals[operands[0]].shape
    axes: set[int] = set()
    for x in operands:
        if rw.avals[x].shape != shape:
            return None
        axes |= varying(rw, x)
    kept = tuple(sorted(axes))
    if not 2 * prod([shape[axis] for axis in kept]) <= prod(shape):
        return None
    found = rw.emit(op, *[along(rw, x, kept) for x in operands])
    return rw.emit(BroadcastInDim(shape, kept), found)

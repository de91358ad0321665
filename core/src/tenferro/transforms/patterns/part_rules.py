"""Rules by which linear operations act on the parts of a sparse Jacobian.

A rule takes the operation, for each operand its parts (``None`` if nothing flows there) and its
handle, and the aval of the result. It returns the parts of the result, or ``None`` if it has no
such form. Read next: ``patterns/part_moves.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.primitives import Handle, bind, constant
from tenferro.primitives._aval import Aval
from tenferro.primitives.arithmetic import Add, Mul, Neg, Sub
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.indexing import (
    DynamicSlice,
    DynamicUpdateSlice,
    Gather,
    Scatter,
    ScatterAdd,
)
from tenferro.primitives.reduction import ReduceSum
from tenferro.primitives.structural import (
    BroadcastInDim,
    Concatenate,
    Pad,
    Reshape,
    Reverse,
    Slice,
    Transpose,
)
from tenferro.transforms.patterns.part_moves import join, move, move_pad
from tenferro.transforms.patterns.part_positions import (
    from_gather,
    from_slice,
    into_places,
    into_slice,
)
from tenferro.transforms.patterns.part_sums import contract, sum_along
from tenferro.transforms.patterns.parts import Part, Parts, merged


def pointwise(op: Any, given: Sequence[Parts | None], xs: Sequence[Handle], y: Aval) -> Parts:
    """Apply an operation to the coefficients; zeros stand for the other operands that flow."""
    found: Parts = []
    for i, parts in enumerate(given):
        for part in parts or ():
            found = merged(found, [_applied(op, i, part, given, xs)], y.dtype)
    return found


def _applied(
    op: Any, place: int, part: Part, given: Sequence[Parts | None], xs: Sequence[Handle]
) -> Part:
    others = [x for i, x in enumerate(xs) if i != place]
    if type(op) is Mul and part.coefficients is None:
        return part._replace(coefficients=part.restricted(others[0]))
    own = part.filled(xs[place].dtype)
    operands = []
    for i, x in enumerate(xs):
        if i == place:
            operands.append(own)
        elif given[i] is None:
            operands.append(part.restricted(x))
        else:
            operands.append(constant(0, x.dtype, part.shape))
    return part._replace(coefficients=bind(op, *operands))


def add(op: Any, given: Sequence[Parts | None], xs: Sequence[Handle], y: Aval) -> Parts:
    """Add up parts; those in the same places become one."""
    left, right = given[0] or [], given[1] or []
    if type(op) is Sub:
        minus = [p._replace(coefficients=bind(Neg(), p.filled(y.dtype))) for p in right]
        return merged(left, minus, y.dtype)
    return merged(left, right, y.dtype)


RULES: dict[type, Callable[..., Parts | None]] = {
    Add: add,
    Sub: add,
    Reshape: move,
    Transpose: move,
    BroadcastInDim: move,
    Slice: move,
    Reverse: move,
    Pad: move_pad,
    Concatenate: join,
    ReduceSum: sum_along,
    DotGeneral: contract,
}
AT_POSITIONS: dict[type, Callable[..., Parts | None]] = {
    Gather: from_gather,
    DynamicSlice: from_slice,
    DynamicUpdateSlice: into_slice,
    Scatter: into_places,
    ScatterAdd: into_places,
}

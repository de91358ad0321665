"""Rules for contractions that stand in quadratic forms Σ s·xᵀ A x and in their gradients.

Their derivatives multiply by A and by Aᵀ, with the weight s on one operand or on the other. Where A
is a product x xᵀ both are one, and the weight leaves a product that is there without it.
Results agree to rounding, where nothing overflows. Read next: ``rewrites/contractions.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro.passes._contracting import Side, dot, transposed
from tenferro.passes._facts import is_narrow
from tenferro.passes._repeats import along, may_repeat, repeated, varying
from tenferro.passes._rewriter import Rewriter
from tenferro.primitives.arithmetic import Mul
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.structural import inverse

_Operands = tuple[int, ...]


def of_symmetric(rw: Rewriter, op: DotGeneral, operands: _Operands) -> int | None:
    """Contract the first axis of x xᵀ instead of the second, so that equal products look alike."""
    if not any([_is_square(rw, value) for value in operands]):
        return None
    left, right = Side.both(rw, op, operands)
    first, second = _first_axis(rw, left), _first_axis(rw, right)
    if (first, second) == (left, right):
        return None
    return dot(rw, first, second, op.preferred)


def _is_square(rw: Rewriter, value: int) -> bool:
    """Return True if a value is a contraction of an array with itself."""
    inputs = rw.operands[value]
    return type(rw.operations[value]) is DotGeneral and inputs[0] == inputs[1]


def _first_axis(rw: Rewriter, side: Side) -> Side:
    """Return the side with the two axes of a symmetric product exchanged, if this sorts them."""
    if not _is_square(rw, side.value):
        return side
    inner: Any = rw.operations[side.value]
    x, y = Side.both(rw, inner, rw.operands[side.value])
    if x != y or len(x.free) != 1:
        return side
    j = len(x.batch) + 1
    if side.contract != (j,) or side.free != (j - 1,):
        return side
    return side._replace(contract=(j - 1,), free=(j,))


def of_scaled(rw: Rewriter, op: DotGeneral, operands: _Operands) -> int | None:
    """A (x·s) = (A x)·s where A x is there anyway, and s does not vary along what is contracted.

    The gradient of a quadratic form xᵀ A x, with a weight s for each x, has such products.
    """
    sides = Side.both(rw, op, operands)
    if is_narrow(rw.avals[operands[0]]) or op.preferred is not None:
        return None
    for k, side in enumerate(sides):
        if type(rw.operations[side.value]) is not Mul or len(side.contract) != 1:
            continue
        other = sides[1 - k]
        if len(other.free) != 1:
            continue
        pair = rw.operands[side.value]
        for x, scale in (pair, pair[::-1]):
            if not may_repeat(rw, scale) or side.contract[0] in varying(rw, scale):
                continue
            given = (x, other.value) if k == 0 else (other.value, x)
            if rw.is_there(op, *given):
                return _scaled(rw, op, given, side, k, scale)
    return None


def _scaled(
    rw: Rewriter, op: DotGeneral, given: tuple[int, int], side: Side, k: int, scale: int
) -> int:
    """Multiply a product by a factor of one operand, in the order of axes of that operand.

    There its gradient may have the same equation.
    """
    product = rw.emit(op, *given)
    (summed,), batch = side.contract, len(side.batch)
    start = batch if k == 0 else batch + 1
    places = {axis: i for i, axis in enumerate(side.batch)}
    places.update({axis: start + i for i, axis in enumerate(side.free)})
    places[summed] = batch + len(side.free) if k == 0 else batch
    axes = sorted(varying(rw, scale))
    small = along(rw, scale, axes)
    order = tuple([places[axis] for axis in range(len(places))])
    if order[:batch] == tuple(range(batch)):  # a transpose would exchange the operands
        ranks = sorted(range(len(axes)), key=lambda i: places[axes[i]])
        small = transposed(rw, small, tuple(ranks))
        shape = rw.avals[product].shape
        return rw.emit(Mul(), product, repeated(rw, small, shape, [places[axes[i]] for i in ranks]))
    shape = tuple([rw.avals[product].shape[place] for place in order])
    factor = repeated(rw, small, shape, axes)
    found = rw.emit(Mul(), transposed(rw, product, order), factor)
    return transposed(rw, found, inverse(order))

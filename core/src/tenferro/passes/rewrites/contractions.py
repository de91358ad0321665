"""``contract``: products and sums that become smaller contractions, or one.

A transposition is read by ``dot_general`` itself, of an operand and of the result; a sum of the
result over an axis that one operand alone has is done on that operand first, and over a batch axis
is one more contraction; an operand that is repeated is contracted once; a sum over the product of
two repeated arrays, each smaller than the product, is a contraction, and so is one of an input or
a contraction times a repeated array. A sum over two products of repeated arrays, added or
subtracted, is two contractions. Contracted axes are sorted.
A stack of products by one matrix is one product, and what is written as matrices is contracted as
tensors if a reshape makes tensors of the result; see ``../_merged_axes.py``.
Where nothing is contracted, a contraction is a product, and where only few elements of batches are,
a short sum of products: elementwise equations join them.
Results agree to rounding where nothing overflows; infinities may meet zeros elsewhere, so inf and
nan may differ from one another. Nothing is done to float16 and bfloat16, whose sums overflow early.
Read next: ``../_contracting.py``, then ``../_quadratic_forms.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tenferro.passes._contracting import Side, dot, is_worth_a_stack, transposed
from tenferro.passes._facts import is_narrow
from tenferro.passes._merged_axes import of_merged, split_again, split_sum
from tenferro.passes._outer_products import Outer, outer_of
from tenferro.passes._quadratic_forms import of_scaled, of_symmetric
from tenferro.passes._repeats import REPEATED, along, may_repeat, remaining, repeated, varying
from tenferro.passes._rewriter import Rewriter
from tenferro.passes._rules import PassRules
from tenferro.passes.rewrites.diagonal_products import diagonal_of_product, times_diagonal
from tenferro.primitives.arithmetic import Add, Mul, Neg, Sub
from tenferro.primitives.comparison import Select
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.reduction import ReduceSum
from tenferro.primitives.structural import BroadcastInDim, Reshape, Slice, Transpose, inverse

CONTRACT = PassRules("contract")
_Operands = tuple[int, ...]
_MAX_SHORT_SUM = 16  # terms that are multiplied and added faster than BLAS is called

# ---- transpositions and order --------------------------------------------------------------------


@CONTRACT.of(DotGeneral, reads=[Transpose])
def _of_transposed(rw: Rewriter, op: DotGeneral, operands: _Operands) -> int | None:
    """Contract the operands of transposes that keep the order of the free axes."""
    left, right = Side.both(rw, op, operands)
    turned = _without_transpose(rw, left), _without_transpose(rw, right)
    if turned == (left, right):
        return None
    return dot(rw, *turned, op.preferred)


def _without_transpose(rw: Rewriter, side: Side) -> Side:
    inner: Any = rw.operations[side.value]
    if type(inner) is not Transpose:
        return side
    order = inner.permutation
    found = side.renamed(rw.operands[side.value][0], [order[axis] for axis in range(len(order))])
    return found if list(found.free) == sorted(found.free) else side


@CONTRACT.of(DotGeneral)
def _sorted(rw: Rewriter, op: DotGeneral, operands: _Operands) -> int | None:
    """Sort the contracted axes by their order in the left operand."""
    if len(op.lhs_contract) < 2 or list(op.lhs_contract) == sorted(op.lhs_contract):
        return None
    pairs = sorted(zip(op.lhs_contract, op.rhs_contract, strict=True))
    left, right = (tuple([pair[k] for pair in pairs]) for k in (0, 1))
    return rw.emit(DotGeneral(left, right, op.lhs_batch, op.rhs_batch, op.preferred), *operands)


@CONTRACT.of(Transpose, reads=[DotGeneral])
def _exchanged(rw: Rewriter, op: Transpose, operands: _Operands) -> int | None:
    """Exchange the operands if a transpose exchanges the free axes of both sides."""
    (z,) = operands
    inner: Any = rw.operations[z]
    if type(inner) is not DotGeneral or not rw.is_read_once(z):
        return None
    left, right = Side.both(rw, inner, rw.operands[z])
    start, middle = len(left.batch), len(left.batch) + len(left.free)
    end = middle + len(right.free)
    if op.permutation != (*range(start), *range(middle, end), *range(start, middle)):
        return None
    return dot(rw, right, left, inner.preferred)


# ---- reshapes and quadratic forms ----------------------------------------------------------------

CONTRACT.of(Reshape, reads=[DotGeneral])(split_again)
CONTRACT.of(Reshape, reads=[Add])(split_sum)
CONTRACT.of(DotGeneral, reads=[Reshape], every=True)(of_merged)
CONTRACT.of(DotGeneral, reads=[DotGeneral])(of_symmetric)
CONTRACT.of(DotGeneral, reads=[Mul])(of_scaled)


# ---- sums of the result --------------------------------------------------------------------------


@CONTRACT.of(ReduceSum, reads=[DotGeneral])
def _sum_of_contraction(rw: Rewriter, op: ReduceSum, operands: _Operands) -> int | None:
    """Sum free axes before the contraction; turn a sum over batch axes into contracted axes."""
    (z,) = operands
    inner: Any = rw.operations[z]
    if type(inner) is not DotGeneral or not rw.is_read_once(z) or not op.axes:
        return None
    left, right = Side.both(rw, inner, rw.operands[z])
    if is_narrow(rw.avals[left.value]):
        return None
    batch = len(left.batch)
    joined = [axis for axis in op.axes if axis < batch]
    left, right = left.contracting(joined), right.contracting(joined)
    free = [axis - batch for axis in op.axes if axis >= batch]
    count = len(left.free)
    left = _summed(rw, left, [left.free[i] for i in free if i < count])
    right = _summed(rw, right, [right.free[i - count] for i in free if i >= count])
    return dot(rw, left, right, inner.preferred)


def _summed(rw: Rewriter, side: Side, axes: Sequence[int]) -> Side:
    """Return a side whose operand is summed over axes."""
    if not axes:
        return side
    return side.without(rw.emit(ReduceSum(tuple(axes)), side.value), axes)


# ---- operands that are repeated ------------------------------------------------------------------


@CONTRACT.of(DotGeneral, reads=REPEATED)
def _of_repeated(rw: Rewriter, op: DotGeneral, operands: _Operands) -> int | None:
    """Contract repeated operands once: repeat the result, or sum the other operand first."""
    sides = Side.both(rw, op, operands)
    if is_narrow(rw.avals[operands[0]]):
        return None
    for k in (0, 1):
        side, other = sides[k], sides[1 - k]
        single = _repeated_axes(rw, side)
        if not single or not _saves(rw, side, single):
            continue
        contracted = [i for i, axis in enumerate(side.contract) if axis in single]
        other = _summed(rw, other, [other.contract[i] for i in contracted])
        rank = rw.avals[side.value].ndim
        small = side.without(along(rw, side.value, remaining(rank, single)), single)
        left, right = (small, other) if k == 0 else (other, small)
        found = dot(rw, left, right, op.preferred)
        shape = op.abstract_eval(*[rw.avals[i] for i in operands]).shape
        first = len(side.batch) + (0 if k == 0 else len(other.free))
        spread = [first + i for i, axis in enumerate(side.free) if axis in single]
        return repeated(rw, found, shape, remaining(len(shape), spread))
    return None


@CONTRACT.of(DotGeneral, reads=[BroadcastInDim])
def _of_repeated_stack(rw: Rewriter, op: DotGeneral, operands: _Operands) -> int | None:
    """Make a batch axis along which one operand is repeated a free axis of the other one.

    A stack of products by the same matrix is one product.
    """
    sides = Side.both(rw, op, operands)
    for k, side in enumerate(sides):
        if type(rw.operations[side.value]) is not BroadcastInDim:
            continue
        shape, differ = rw.avals[side.value].shape, varying(rw, side.value)
        places = [i for i, b in enumerate(side.batch) if shape[b] != 1 and b not in differ]
        if places:
            return _one_product(rw, op, sides, k, places)
    return None


def _one_product(
    rw: Rewriter, op: DotGeneral, sides: Sequence[Side], k: int, places: Sequence[int]
) -> int:
    """Contract without some of the batch axes, along which operand ``k`` is repeated."""
    side, other = sides[k], sides[1 - k]
    gone = [side.batch[i] for i in places]
    moved = [other.batch[i] for i in places]
    small = side.without(along(rw, side.value, remaining(rw.avals[side.value].ndim, gone)), gone)
    kept = tuple([axis for axis in other.batch if axis not in moved])
    free = tuple(sorted((*other.free, *moved)))
    wide = other._replace(batch=kept, free=free)
    pair = (small, wide) if k == 0 else (wide, small)
    found = dot(rw, *pair, op.preferred)
    start = len(kept) + (len(small.free) if k == 0 else 0)
    place = {axis: i for i, axis in enumerate(kept)} | {a: start + i for i, a in enumerate(free)}
    alone = len(kept) + (0 if k == 0 else len(free))
    own = range(alone, alone + len(small.free))
    rest = [place[axis] for axis in other.free]
    order = [place[axis] for axis in other.batch]
    return transposed(rw, found, (*order, *own, *rest) if k == 0 else (*order, *rest, *own))


def _repeated_axes(rw: Rewriter, side: Side) -> list[int]:
    """Return the contracted and free axes along which an operand is repeated."""
    if not may_repeat(rw, side.value):
        return []
    free, shape = varying(rw, side.value), rw.avals[side.value].shape
    axes = [axis for axis in (*side.contract, *side.free) if axis not in free and shape[axis] != 1]
    return [] if 0 in [shape[axis] for axis in axes] else axes


def _saves(rw: Rewriter, side: Side, single: Sequence[int]) -> bool:
    """Return True if the contraction costs more than one sum over the other operand."""
    shape = rw.avals[side.value].shape
    return any(shape[axis] != 1 for axis in side.free) or any(a in side.free for a in single)


@CONTRACT.of(DotGeneral)
def _with_number(rw: Rewriter, op: DotGeneral, operands: _Operands) -> int | None:
    """Replace the contraction of a number and an array by their product."""
    x, y = operands
    dtype = rw.avals[x].dtype
    if (rw.avals[x].ndim and rw.avals[y].ndim) or op.preferred not in (None, dtype):
        return None
    for number, other in ((x, y), (y, x)):
        if not rw.avals[number].ndim and rw.can(Mul):
            return rw.emit(Mul(), repeated(rw, number, rw.avals[other].shape, ()), other)
    return None


# ---- contractions that are products of elements --------------------------------------------------


@CONTRACT.of(DotGeneral)
def _elementwise(rw: Rewriter, op: DotGeneral, operands: _Operands) -> int | None:
    """Multiply where nothing is contracted; multiply and sum where few elements of batches are."""
    aval = rw.avals[operands[0]]
    terms = prod([aval.shape[axis] for axis in op.lhs_contract])
    if terms > _MAX_SHORT_SUM or (terms != 1 and not op.lhs_batch):
        return None
    if op.preferred not in (None, aval.dtype) or is_narrow(aval) or not rw.can(Mul):
        return None
    left, right = Side.both(rw, op, operands)
    if left.contract and terms == 1:
        left, right = _reshaped(rw, left), _reshaped(rw, right)
    if left.contract and (left.free or right.free):
        return None
    lhs, rhs = rw.avals[left.value].shape, rw.avals[right.value].shape
    first = (*left.batch, *left.free, *left.contract)
    second = (*right.batch, *right.contract, *right.free)
    batch, rest = len(left.batch), len(left.batch) + len(left.free)
    shape = (*[lhs[axis] for axis in first], *[rhs[axis] for axis in right.free])
    places = [*range(batch), *range(rest, len(shape))]
    x = repeated(rw, transposed(rw, left.value, first), shape, range(len(first)))
    y = repeated(rw, transposed(rw, right.value, second), shape, places)
    product = rw.emit(Mul(), x, y)
    return rw.emit(ReduceSum(tuple(range(rest, len(shape)))), product) if left.contract else product


def _reshaped(rw: Rewriter, side: Side) -> Side:
    """Return a side without its contracted axes, which have size 1."""
    shape = rw.avals[side.value].shape
    kept = tuple([shape[axis] for axis in remaining(len(shape), side.contract)])
    return side.without(rw.emit(Reshape(kept), side.value), side.contract)


@CONTRACT.of(DotGeneral, reads=[Mul, Neg])
def _of_outer(rw: Rewriter, op: DotGeneral, operands: _Operands) -> int | None:
    """(u vᵀ) y = u (vᵀ y) and x (u vᵀ) = (x u) vᵀ."""
    left, right = Side.both(rw, op, operands)
    aval = rw.avals[left.value]
    if left.batch or len(left.free) != 1 or len(right.free) != 1 or len(left.contract) != 1:
        return None
    if op.preferred not in (None, aval.dtype) or is_narrow(aval):
        return None
    for side, other in ((left, right), (right, left)):
        outer = outer_of(rw, side.value)
        if outer is None:
            continue
        kept, summed = outer if side.contract == (1,) else outer[::-1]
        contraction = DotGeneral((0,), other.contract, (), ())
        moved = rw.emit(contraction, summed, other.value)
        return (Outer(kept, moved) if side is left else Outer(moved, kept)).emit(rw)
    return None


CONTRACT.of(DotGeneral, reads=[Select, Reshape])(times_diagonal)
CONTRACT.of(Slice, reads=[Reshape])(diagonal_of_product)


# ---- sums of products ----------------------------------------------------------------------------


@CONTRACT.of(ReduceSum, reads=[Mul])
def _sum_of_product(rw: Rewriter, op: ReduceSum, operands: _Operands) -> int | None:
    """Contract two repeated arrays with axes of their own, or a stored and a repeated one."""
    (p,) = operands
    aval = rw.avals[p]
    if type(rw.operations[p]) is not Mul or not rw.is_read_once(p) or not rw.can(DotGeneral):
        return None
    x, y = rw.operands[p]
    if aval.dtype.bits < 32 or not aval.dtype.is_inexact or not aval.size:
        return None
    axes = [sorted(varying(rw, i)) for i in (x, y)]
    if may_repeat(rw, x) and may_repeat(rw, y):
        is_worth = is_worth_a_stack(aval.shape, axes[0], axes[1], op.axes)
    else:
        is_worth = _are_matrix_and_vector(rw, (x, y), axes, op.axes)
    if not is_worth:
        return None
    if axes[0] and axes[1] and axes[1][0] < axes[0][0]:
        x, y, axes = y, x, axes[::-1]
    return _contracted(rw, (x, y), axes, op.axes, aval.shape)


@CONTRACT.of(ReduceSum, reads=[Add, Sub])
def _sum_of_products(rw: Rewriter, op: ReduceSum, operands: _Operands) -> int | None:
    """Σ (u·v ± w·x) = Σ u·v ± Σ w·x where both are contractions of repeated arrays."""
    (z,) = operands
    inner: Any = rw.operations[z]
    if type(inner) not in (Add, Sub) or not rw.is_read_once(z) or not rw.can(DotGeneral):
        return None
    aval = rw.avals[z]
    if aval.dtype.bits < 32 or not aval.dtype.is_inexact or not aval.size:
        return None
    terms = rw.operands[z]
    if not all([_is_stack_of_outer(rw, term, op.axes) for term in terms]):
        return None
    return rw.emit(inner, *[rw.emit(op, term) for term in terms])


def _is_stack_of_outer(rw: Rewriter, p: int, summed: Sequence[int]) -> bool:
    """Return True for a product of repeated arrays that is worth a contraction."""
    if type(rw.operations[p]) is not Mul or not rw.is_read_once(p):
        return False
    if not all([may_repeat(rw, i) for i in rw.operands[p]]):
        return False
    left, right = (sorted(varying(rw, i)) for i in rw.operands[p])
    return is_worth_a_stack(rw.avals[p].shape, left, right, summed)


def _are_matrix_and_vector(
    rw: Rewriter, pair: tuple[int, int], axes: Sequence[Sequence[int]], summed: Sequence[int]
) -> bool:
    """Return True if one factor has the summed axes and others, and the other one has fewer.

    The first has to be an input or a contraction, which are stored anyway: a backend may compute
    anything else together with the sum and store neither. Matrices of a stack lie one behind the
    other; otherwise XLA copies them first.
    """
    for k in (0, 1):
        matrix, vector = axes[k], axes[1 - k]
        order = _stored_order(rw, pair[k])
        if order is None or not set(summed) <= set(vector) < set(matrix):
            continue
        batch = [order.index(axis) for axis in vector if axis not in summed]
        shape = rw.avals[pair[k]].shape
        is_stack = sorted(batch) == [*range(len(batch))]
        return is_stack and is_worth_a_stack(shape, matrix, vector, summed, is_vector=True)
    return False


def _stored_order(rw: Rewriter, value: int) -> tuple[int, ...] | None:
    """Return the axes of an input or a contraction in the order in which they are stored.

    Axes of a transposed one count as in the value; None for other values.
    """
    order = tuple(range(rw.avals[value].ndim))
    operation: Any = rw.operations[value]
    if type(operation) is Transpose:
        (value,) = rw.operands[value]
        order = inverse(operation.permutation)
    is_stored = rw.operations[value] is None or type(rw.operations[value]) is DotGeneral
    return order if is_stored else None


def _contracted(
    rw: Rewriter,
    pair: tuple[int, int],
    axes: Sequence[Sequence[int]],
    summed: Sequence[int],
    shape: tuple[int, ...],
) -> int:
    shared = [axis for axis in axes[0] if axis in axes[1]]
    contract = [axis for axis in shared if axis in summed]
    batch = [axis for axis in shared if axis not in summed]
    sides = []
    for x, own in zip(pair, axes, strict=True):
        side = Side.of(
            along(rw, x, own),
            len(own),
            tuple([own.index(axis) for axis in contract]),
            tuple([own.index(axis) for axis in batch]),
        )
        alone = [i for i, axis in enumerate(own) if axis in summed and axis not in shared]
        sides.append(_summed(rw, side, alone))
    found = dot(rw, sides[0], sides[1], None)
    free = [axis for own in axes for axis in own if axis not in shared and axis not in summed]
    order = [*batch, *free]
    ranks = tuple(sorted(range(len(order)), key=order.__getitem__))
    if ranks != tuple(range(len(order))):
        found = rw.emit(Transpose(ranks), found)
    rest = remaining(len(shape), summed)
    wide = tuple([shape[axis] for axis in rest])
    if rw.avals[found].shape == wide:
        return found
    return rw.emit(BroadcastInDim(wide, tuple([rest.index(axis) for axis in sorted(order)])), found)

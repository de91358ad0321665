"""Sparsity rules of moves and sums, which ``patterns/pattern`` looks up.

A rule takes the bits of the operands, their avals and that of the result. Moves are sums of steps:
per axis the steps in row-major order, for all axes the sums of one step each.
Read next: ``patterns/pattern_windows.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import accumulate
from math import prod
from operator import or_
from typing import Any

from tenferro.primitives._aval import Aval, Shape
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.cumulative import Cumsum
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

Bits = list[int]  # per element of a value, the set of the elements of the direction it may read
Operands = Sequence[Bits | None]  # None: the operand does not depend on the direction


def union(sets: Sequence[int]) -> int:
    """Return the union of sets; each distinct object is read once."""
    return reduce(or_, {id(bits): bits for bits in sets}.values(), 0)


def joined(one: Bits, other: Bits) -> Bits:
    """Join two lists of sets, element by element; equal sets stay one object."""
    return [a if a is b else a | b for a, b in zip(one, other, strict=True)]


def join_elements(op: Any, operands: Operands, avals: Sequence[Aval], result: Aval) -> Bits:
    """Return the union of the operands' sets, element by element."""
    given = [bits for bits in operands if bits is not None]
    return reduce(joined, given)


# ---- moves: for each axis the steps in row-major order, for all axes their sums ------------------


def strides_of(shape: Shape) -> list[int]:
    """Return the strides of a row-major array, in elements."""
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]


def places(steps: Sequence[Sequence[int]]) -> list[int]:
    """Return the sums of one step per axis, in row-major order of the steps."""
    places = [0]
    for along in steps:
        places = [place + step for place in places for step in along]
    return places


def along(sizes: Iterable[int], strides: Iterable[int]) -> list[list[int]]:
    """Return the steps along axes of these sizes; a stride of 0 repeats one place."""
    return [times(range(n), stride) for n, stride in zip(sizes, strides, strict=True)]


def times(positions: Iterable[int], stride: int) -> list[int]:
    """Return the positions times the stride."""
    return [position * stride for position in positions]


def only(operands: Operands) -> Bits:
    """Return the bits of the first operand."""
    bits = operands[0]
    assert bits is not None
    return bits


def move_reshape(op: Reshape, operands: Operands, avals: Sequence[Aval], result: Aval) -> Bits:
    """Return the sets as they are: a reshape keeps the order of elements."""
    return only(operands)


def move_transpose(op: Transpose, operands: Operands, avals: Sequence[Aval], result: Aval) -> Bits:
    """Return the sets in the order of the permuted axes."""
    bits, strides = only(operands), strides_of(avals[0].shape)
    return [bits[i] for i in places(along(result.shape, [strides[a] for a in op.permutation]))]


def move_broadcast(op: BroadcastInDim, operands: Operands, avals: Sequence[Aval], y: Aval) -> Bits:
    """Return the sets, repeated along the new axes."""
    bits, shape = only(operands), avals[0].shape
    strides = [0] * y.ndim
    for n, stride, axis in zip(shape, strides_of(shape), op.dimensions, strict=True):
        strides[axis] = stride if n != 1 else 0
    return [bits[i] for i in places(along(y.shape, strides))]


def move_slice(op: Slice, operands: Operands, avals: Sequence[Aval], result: Aval) -> Bits:
    """Return the sets of the elements that the slice takes."""
    bits, strides = only(operands), strides_of(avals[0].shape)
    taken = zip(op.start, op.limit, op.strides, strides, strict=True)
    return [bits[i] for i in places([times(range(a, b, s), stride) for a, b, s, stride in taken])]


def move_reverse(op: Reverse, operands: Operands, avals: Sequence[Aval], result: Aval) -> Bits:
    """Return the sets in reverse order along the reversed axes."""
    bits = only(operands)
    steps = along(result.shape, strides_of(result.shape))
    reversed_steps = [
        [*reversed(s)] if axis in op.dimensions else s for axis, s in enumerate(steps)
    ]
    return [bits[i] for i in places(reversed_steps)]


def move_pad(op: Pad, operands: Operands, avals: Sequence[Aval], result: Aval) -> Bits:
    """Return the sets at their places between those of the padding."""
    around = operands[1]
    found = [0 if around is None else around[0]] * result.size
    bits = operands[0]
    if bits is None:
        return found
    sources, targets = [], []
    for axis, n in enumerate(avals[0].shape):
        gap, low, size = op.interior[axis] + 1, op.low[axis], result.shape[axis]
        kept = [i for i in range(n) if 0 <= low + i * gap < size]  # negative padding crops
        sources.append(kept)
        targets.append([low + i * gap for i in kept])
    put(found, bits, scaled(targets, result.shape), scaled(sources, avals[0].shape))
    return found


def scaled(positions: Sequence[Sequence[int]], shape: Shape) -> list[int]:
    """Return the places of positions along the axes of an array of this shape."""
    pairs = zip(positions, strides_of(shape), strict=True)
    return places([times(along, stride) for along, stride in pairs])


def put(found: Bits, bits: Bits, targets: Sequence[int], sources: Sequence[int]) -> None:
    """Write the sets of the source places into the target places."""
    for target, source in zip(targets, sources, strict=True):
        found[target] = bits[source]


def move_concatenate(op: Concatenate, operands: Operands, avals: Sequence[Aval], y: Aval) -> Bits:
    """Return the sets of all operands, side by side."""
    found = [0] * y.size
    start = 0
    for bits, aval in zip(operands, avals, strict=True):
        positions: list[Any] = [range(n) for n in aval.shape]
        stop = start + aval.shape[op.dimension]
        positions[op.dimension] = range(start, stop)
        if bits is not None:
            put(found, bits, scaled(positions, y.shape), range(aval.size))
        start = stop
    return found


# ---- sums ----------------------------------------------------------------------------------------


def summed(bits: Bits, shape: Shape, kept: Sequence[int]) -> Bits:
    """Return the union over all other axes, per element along the kept axes in this order."""
    strides = strides_of(shape)
    others = [axis for axis in range(len(shape)) if axis not in kept]
    inside = places(along([shape[a] for a in others], [strides[a] for a in others]))
    firsts = places(along([shape[a] for a in kept], [strides[a] for a in kept]))
    if inside == [0]:
        return [bits[i] for i in firsts]
    return [union([bits[i + step] for step in inside]) for i in firsts]


def sum_along(op: ReduceSum, operands: Operands, avals: Sequence[Aval], result: Aval) -> Bits:
    """Return the unions over the summed axes."""
    shape = avals[0].shape
    return summed(only(operands), shape, [a for a in range(len(shape)) if a not in op.axes])


def sum_up(op: Cumsum, operands: Operands, avals: Sequence[Aval], result: Aval) -> Bits:
    """Return the unions of the sets up to each position along the axis."""
    bits, shape, stride = only(operands), result.shape, strides_of(result.shape)[op.axis]
    found = [0] * result.size
    steps = [i * stride for i in range(shape[op.axis])]
    ends = (*shape[: op.axis], 1, *shape[op.axis + 1 :])
    for place in places(along(ends, strides_of(shape))):
        line = [place + step for step in (reversed(steps) if op.reverse else steps)]
        for i, joined in zip(line, accumulate([bits[i] for i in line], or_), strict=True):
            found[i] = joined
    return found


def contract(op: DotGeneral, operands: Operands, avals: Sequence[Aval], z: Aval) -> Bits:
    """Return the bits of a contraction: a row of the left and a column of the right operand."""
    sides = zip(operands, avals, (op.lhs_batch, op.rhs_batch), (op.lhs_contract, op.rhs_contract),
                strict=True)  # fmt: skip
    count = prod([avals[0].shape[axis] for axis in op.lhs_batch])
    rows: list[list[Bits]] = []
    for bits, aval, batch, contract in sides:
        free = [axis for axis in range(aval.ndim) if axis not in batch and axis not in contract]
        size = prod([aval.shape[axis] for axis in free])
        flat = [0] * (count * size) if bits is None else summed(bits, aval.shape, (*batch, *free))
        rows.append([flat[k * size : (k + 1) * size] for k in range(count)])
    return [a | b for left, right in zip(*rows, strict=True) for a in left for b in right]


def repeated(lines: Bits, shape: Shape, kept: Sequence[int]) -> Bits:
    """Repeat the lines along the kept axes for all elements of the shape."""
    strides = [0] * len(shape)
    for axis, stride in zip(kept, strides_of(tuple([shape[a] for a in kept])), strict=True):
        strides[axis] = stride
    return [lines[i] for i in places(along(shape, strides))]


def spread(bits: Bits, shape: Shape, blurred: Sequence[int]) -> Bits:
    """Let each element read all elements along these axes."""
    kept = [axis for axis in range(len(shape)) if axis not in blurred]
    return repeated(summed(bits, shape, kept), shape, kept)

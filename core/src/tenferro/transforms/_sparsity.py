"""Which elements of a linear map's results depend on which elements of its direction.

The linear graph is walked once. Each value that depends on the direction keeps, per element in
row-major order, the elements of the direction that it may read: a Python integer as a set of bits.
What moves elements moves bits, what adds them joins bits, and an operation without a rule here
reads everything that its operands read, so that a pattern may be too large but never too small.
Nothing is evaluated: positions that are data count as any position. Read next: ``_colouring.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from itertools import accumulate
from math import prod
from operator import or_
from typing import Any

from tenferro.computegraph import Definition, MaterializedGraph, ValueKey, flatten
from tenferro.primitives._aval import Aval, Shape
from tenferro.primitives._primitive import pointwise
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.cumulative import Cumsum
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
    OptimizationBarrier,
    Pad,
    Reshape,
    Reverse,
    Slice,
    Transpose,
)

Bits = list[int]  # per element of a value, the set of the elements of the direction it may read
Operands = Sequence[Bits | None]  # None: the operand does not depend on the direction
Rule = Callable[[Any, Operands, Sequence[Aval], Aval], Bits]

_BUDGET = 1 << 23  # steps of this walk, about one or two seconds
_WORD = 4096  # bits that are joined in about the time of a step


def pattern(results: Sequence[ValueKey], direction: ValueKey) -> list[Bits | None] | None:
    """Per result the bits of its elements, ``None`` where it depends on nothing.

    ``None`` altogether where the walk would take too long.
    """
    oldest = direction.serial  # what is older cannot depend on the direction

    def definition_of(key: ValueKey) -> Definition | None:
        return None if key is direction or key.serial < oldest else key.definition

    graph = flatten((direction,), results, definition_of)
    found: dict[int, Bits] = {0: [1 << i for i in range(direction.aval.size)]}
    step = 1 + direction.aval.size // _WORD
    left = _BUDGET
    for node, dead in zip(graph.nodes, _last_uses(graph), strict=True):
        operands = [found.get(i) for i in node.inputs]
        if any([bits is not None for bits in operands]):
            avals = [graph.avals[i] for i in node.inputs]
            results_of = [graph.avals[i] for i in node.outputs]
            left -= step * sum([aval.size for aval in (*avals, *results_of)])
            if left < 0:
                return None
            bits_of = _bits_of(node.operation, operands, avals, results_of)
            for i, bits in zip(node.outputs, bits_of, strict=True):
                if bits is not None:
                    found[i] = bits
        for i in dead:
            found.pop(i, None)
    return [found.get(i) for i in graph.outputs]


def _last_uses(graph: MaterializedGraph) -> list[list[int]]:
    """For each node the values that no later one reads, so that their bits can go."""
    seen = set(graph.outputs)
    dying = []
    for node in reversed(graph.nodes):
        last = {i for i in (*node.inputs, *node.outputs) if i not in seen}
        seen |= last
        dying.append([*last])
    dying.reverse()
    return dying


def _bits_of(
    operation: Any, operands: Operands, avals: Sequence[Aval], results: Sequence[Aval]
) -> Sequence[Bits | None]:
    """The bits of each output of an equation."""
    if type(operation) is OptimizationBarrier:
        return operands
    rule = _RULES.get(type(operation))
    if rule is None and _is_elementwise(operation, operands, results):
        rule = _elementwise
    if rule is not None and len(results) == 1:
        return [rule(operation, operands, avals, results[0])]
    everything = _union([_union(bits) for bits in operands if bits is not None])
    return [[everything] * aval.size for aval in results]


def _is_elementwise(operation: Any, operands: Operands, results: Sequence[Aval]) -> bool:
    """Whether the operation treats each element by itself, as its batching rule says."""
    if getattr(type(operation), "batch", None) is not pointwise:
        return False
    return all(bits is None or len(bits) == results[0].size for bits in operands)


def _union(sets: Sequence[int]) -> int:
    """All bits of some sets, each looked at once."""
    return reduce(or_, {id(bits): bits for bits in sets}.values(), 0)


def _joined(one: Bits, other: Bits) -> Bits:
    """The bits of both, element by element; equal sets stay one object."""
    return [a if a is b else a | b for a, b in zip(one, other, strict=True)]


def _elementwise(op: Any, operands: Operands, avals: Sequence[Aval], result: Aval) -> Bits:
    given = [bits for bits in operands if bits is not None]
    return reduce(_joined, given)


# ---- moves: for each axis the steps in row-major order, for all axes their sums ------------------


def _strides(shape: Shape) -> list[int]:
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]


def _places(steps: Sequence[Sequence[int]]) -> list[int]:
    """The sums of one step per axis, in row-major order of the steps."""
    places = [0]
    for along in steps:
        places = [place + step for place in places for step in along]
    return places


def _along(sizes: Iterable[int], strides: Iterable[int]) -> list[list[int]]:
    """The steps along axes of these sizes; a stride of 0 repeats one place."""
    return [_times(range(n), stride) for n, stride in zip(sizes, strides, strict=True)]


def _times(positions: Iterable[int], stride: int) -> list[int]:
    return [position * stride for position in positions]


def _only(operands: Operands) -> Bits:
    """The bits of the first operand."""
    bits = operands[0]
    assert bits is not None
    return bits


def _reshape(op: Reshape, operands: Operands, avals: Sequence[Aval], result: Aval) -> Bits:
    return _only(operands)


def _transpose(op: Transpose, operands: Operands, avals: Sequence[Aval], result: Aval) -> Bits:
    bits, strides = _only(operands), _strides(avals[0].shape)
    return [bits[i] for i in _places(_along(result.shape, [strides[a] for a in op.permutation]))]


def _broadcast(op: BroadcastInDim, operands: Operands, avals: Sequence[Aval], y: Aval) -> Bits:
    bits, shape = _only(operands), avals[0].shape
    strides = [0] * y.ndim
    for n, stride, axis in zip(shape, _strides(shape), op.dimensions, strict=True):
        strides[axis] = stride if n != 1 else 0
    return [bits[i] for i in _places(_along(y.shape, strides))]


def _slice(op: Slice, operands: Operands, avals: Sequence[Aval], result: Aval) -> Bits:
    bits, strides = _only(operands), _strides(avals[0].shape)
    taken = zip(op.start, op.limit, op.strides, strides, strict=True)
    return [bits[i] for i in _places([_times(range(a, b, s), stride) for a, b, s, stride in taken])]


def _reverse(op: Reverse, operands: Operands, avals: Sequence[Aval], result: Aval) -> Bits:
    bits = _only(operands)
    steps = _along(result.shape, _strides(result.shape))
    turned = [[*reversed(s)] if axis in op.dimensions else s for axis, s in enumerate(steps)]
    return [bits[i] for i in _places(turned)]


def _pad(op: Pad, operands: Operands, avals: Sequence[Aval], result: Aval) -> Bits:
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
    _put(found, bits, _scaled(targets, result.shape), _scaled(sources, avals[0].shape))
    return found


def _scaled(positions: Sequence[Sequence[int]], shape: Shape) -> list[int]:
    """The places in an array of this shape of positions along its axes."""
    pairs = zip(positions, _strides(shape), strict=True)
    return _places([_times(along, stride) for along, stride in pairs])


def _put(found: Bits, bits: Bits, targets: Sequence[int], sources: Sequence[int]) -> None:
    for target, source in zip(targets, sources, strict=True):
        found[target] = bits[source]


def _concatenate(op: Concatenate, operands: Operands, avals: Sequence[Aval], y: Aval) -> Bits:
    found = [0] * y.size
    start = 0
    for bits, aval in zip(operands, avals, strict=True):
        positions: list[Any] = [range(n) for n in aval.shape]
        stop = start + aval.shape[op.dimension]
        positions[op.dimension] = range(start, stop)
        if bits is not None:
            _put(found, bits, _scaled(positions, y.shape), range(aval.size))
        start = stop
    return found


# ---- sums ----------------------------------------------------------------------------------------


def _summed(bits: Bits, shape: Shape, kept: Sequence[int]) -> Bits:
    """The union over all other axes, for the elements along the kept axes in this order."""
    strides = _strides(shape)
    others = [axis for axis in range(len(shape)) if axis not in kept]
    inside = _places(_along([shape[a] for a in others], [strides[a] for a in others]))
    places = _places(_along([shape[a] for a in kept], [strides[a] for a in kept]))
    if inside == [0]:
        return [bits[i] for i in places]
    return [_union([bits[i + step] for step in inside]) for i in places]


def _reduce_sum(op: ReduceSum, operands: Operands, avals: Sequence[Aval], result: Aval) -> Bits:
    shape = avals[0].shape
    return _summed(_only(operands), shape, [a for a in range(len(shape)) if a not in op.axes])


def _cumsum(op: Cumsum, operands: Operands, avals: Sequence[Aval], result: Aval) -> Bits:
    bits, shape, stride = _only(operands), result.shape, _strides(result.shape)[op.axis]
    found = [0] * result.size
    steps = [i * stride for i in range(shape[op.axis])]
    ends = (*shape[: op.axis], 1, *shape[op.axis + 1 :])
    for place in _places(_along(ends, _strides(shape))):
        line = [place + step for step in (reversed(steps) if op.reverse else steps)]
        for i, joined in zip(line, accumulate([bits[i] for i in line], or_), strict=True):
            found[i] = joined
    return found


def _dot_general(op: DotGeneral, operands: Operands, avals: Sequence[Aval], z: Aval) -> Bits:
    """Each element reads a row of the left and a column of the right operand, as far as active."""
    sides = zip(operands, avals, (op.lhs_batch, op.rhs_batch), (op.lhs_contract, op.rhs_contract),
                strict=True)  # fmt: skip
    count = prod([avals[0].shape[axis] for axis in op.lhs_batch])
    rows: list[list[Bits]] = []
    for bits, aval, batch, contract in sides:
        free = [axis for axis in range(aval.ndim) if axis not in batch and axis not in contract]
        size = prod([aval.shape[axis] for axis in free])
        flat = [0] * (count * size) if bits is None else _summed(bits, aval.shape, (*batch, *free))
        rows.append([flat[k * size : (k + 1) * size] for k in range(count)])
    return [a | b for left, right in zip(*rows, strict=True) for a in left for b in right]


# ---- positions that are data ---------------------------------------------------------------------


def _repeated(lines: Bits, shape: Shape, kept: Sequence[int]) -> Bits:
    """What stands along the kept axes, for all elements of the shape."""
    strides = [0] * len(shape)
    for axis, stride in zip(kept, _strides(tuple([shape[a] for a in kept])), strict=True):
        strides[axis] = stride
    return [lines[i] for i in _places(_along(shape, strides))]


def _spread(bits: Bits, shape: Shape, blurred: Sequence[int]) -> Bits:
    """Each element reads all along these axes."""
    kept = [axis for axis in range(len(shape)) if axis not in blurred]
    return _repeated(_summed(bits, shape, kept), shape, kept)


def _gather(op: Gather, operands: Operands, avals: Sequence[Aval], result: Aval) -> Bits:
    """Along an axis that is indexed, or not taken whole, any element may be read."""
    shape = avals[0].shape
    blurred = [
        axis
        for axis, n in enumerate(shape)
        if axis in op.start_index_map or op.slice_sizes[axis] != n
    ]
    bits = _spread(_only(operands), shape, blurred)
    window = [a for a in range(len(shape)) if a not in op.collapsed_slice_dims]
    strides, source = [0] * result.ndim, _strides(shape)
    for place, axis in zip(op.offset_dims, window, strict=True):
        strides[place] = 0 if axis in blurred else source[axis]
    return [bits[i] for i in _places(_along(result.shape, strides))]


def _scatter(op: Any, operands: Operands, avals: Sequence[Aval], result: Aval) -> Bits:
    """Along an axis that is indexed, or not covered, an update may be anywhere."""
    x, _, updates = operands
    found = [0] * result.size if x is None else x
    if updates is None:
        return found
    shape, of = result.shape, avals[2].shape
    window = [a for a in range(len(shape)) if a not in op.inserted_window_dims]
    whole = [  # (axis of the result, axis of the updates) that keep their elements apart
        (axis, place)
        for axis, place in zip(window, op.update_window_dims, strict=True)
        if axis not in op.scatter_dims_to_operand_dims and of[place] == shape[axis]
    ]
    lines = _summed(updates, of, [place for _, place in whole])
    return _joined(found, _repeated(lines, shape, [axis for axis, _ in whole]))


def _dynamic_slice(op: DynamicSlice, operands: Operands, avals: Sequence[Aval], y: Aval) -> Bits:
    shape = avals[0].shape
    blurred = [axis for axis, n in enumerate(shape) if y.shape[axis] != n]
    bits = _spread(_only(operands), shape, blurred)
    return [bits[i] for i in _places(_along(y.shape, _strides(shape)))]


def _dynamic_update_slice(
    op: DynamicUpdateSlice, operands: Operands, avals: Sequence[Aval], result: Aval
) -> Bits:
    x, update = operands[:2]
    found = [0] * result.size if x is None else x
    if update is None:
        return found
    shape, of = result.shape, avals[1].shape
    whole = [axis for axis, n in enumerate(shape) if of[axis] == n]
    return _joined(found, _repeated(_summed(update, of, whole), shape, whole))


_RULES: dict[type, Rule] = {
    Reshape: _reshape,
    Transpose: _transpose,
    BroadcastInDim: _broadcast,
    Slice: _slice,
    Reverse: _reverse,
    Pad: _pad,
    Concatenate: _concatenate,
    ReduceSum: _reduce_sum,
    Cumsum: _cumsum,
    DotGeneral: _dot_general,
    Gather: _gather,
    ScatterAdd: _scatter,
    Scatter: _scatter,
    DynamicSlice: _dynamic_slice,
    DynamicUpdateSlice: _dynamic_update_slice,
}

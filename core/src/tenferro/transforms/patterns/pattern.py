"""Sparsity pattern of a linear map: which elements of its results depend on which inputs.

The linear graph is walked once. Each value that depends on the direction keeps, per element in
row-major order, the elements of the direction that it may read: a Python integer as a set of bits.
What moves elements moves bits, what adds them joins bits, and an operation without a rule here
reads everything that its operands read, so that a pattern may be too large but never too small.
Read next: ``patterns/pattern_moves.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.computegraph import Definition, MaterializedGraph, ValueKey, flatten, inputs_of
from tenferro.primitives._aval import Aval
from tenferro.primitives._primitive import pointwise
from tenferro.primitives.arithmetic import Add, Sub
from tenferro.primitives.constants import Constant, Iota, Table
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
from tenferro.transforms.patterns import pattern_moves as moves
from tenferro.transforms.patterns import pattern_windows as windows
from tenferro.transforms.patterns.pattern_moves import Bits, Operands
from tenferro.transforms.recording.positions import Reads

MAX_DIRECTION_ELEMENTS = 1 << 15
"""Elements of a direction up to which a pattern is looked for: their bits take some 100 MB."""

_BUDGET = 1 << 23  # steps of this walk, about one or two seconds
_BUDGET_FOR_ENTRIES = 1 << 27  # where nothing else will do
_WORD = 4096  # bits that are joined in about the time of a step
_MAX_POSITION_DEPTH = 8  # operations on positions that are followed
_SIGNS: dict[type, int] = {Add: 1, Sub: -1}

_MOVES: dict[type, Callable[..., Bits]] = {
    Reshape: moves.move_reshape,
    Transpose: moves.move_transpose,
    BroadcastInDim: moves.move_broadcast,
    Slice: moves.move_slice,
    Reverse: moves.move_reverse,
    Concatenate: moves.move_concatenate,
}
_RULES: dict[type, Callable[..., Bits]] = {
    **_MOVES,
    Pad: moves.move_pad,
    ReduceSum: moves.sum_along,
    Cumsum: moves.sum_up,
    DotGeneral: moves.contract,
}
_AT_POSITIONS: dict[type, Callable[..., Bits]] = {
    Gather: windows.gather,
    ScatterAdd: windows.scatter,
    Scatter: windows.scatter,
    DynamicSlice: windows.dynamic_slice,
    DynamicUpdateSlice: windows.dynamic_update_slice,
}


def pattern(
    results: Sequence[ValueKey], direction: ValueKey, reads: Reads, *, patient: bool = False
) -> list[Bits | None] | None:
    """Return, per result, the bits of its elements; ``None`` for one that depends on nothing.

    Return ``None`` altogether if the walk would take too long; a ``patient`` caller waits longer
    than the dense derivative would take. ``reads`` notes the leaves that were
    read for positions.
    """
    oldest = direction.serial  # what is older cannot depend on the direction

    def definition_of(key: ValueKey) -> Definition | None:
        return None if key is direction or key.serial < oldest else key.definition

    graph = flatten((direction,), results, definition_of)
    found: dict[int, Bits] = {0: [1 << i for i in range(direction.aval.size)]}
    positions = _Positions(graph, reads)
    step = 1 + direction.aval.size // _WORD
    left = _BUDGET_FOR_ENTRIES if patient else _BUDGET
    for node, dead in zip(graph.nodes, _last_uses(graph), strict=True):
        operands = [found.get(i) for i in node.inputs]
        if any([bits is not None for bits in operands]):
            every = [graph.avals[i] for i in (*node.inputs, *node.outputs)]
            left -= step * sum([aval.size for aval in every])
            if left < 0:
                return None
            bits_of = _bits_of(node, operands, graph, positions)
            for i, bits in zip(node.outputs, bits_of, strict=True):
                if bits is not None:
                    found[i] = bits
        for i in dead:
            found.pop(i, None)
    return [found.get(i) for i in graph.outputs]


def _last_uses(graph: MaterializedGraph) -> list[list[int]]:
    """Return, for each node, the values that no later node reads, so that their bits can be
    freed.
    """
    seen = set(graph.outputs)
    dying = []
    for node in reversed(graph.nodes):
        last = {i for i in (*node.inputs, *node.outputs) if i not in seen}
        seen |= last
        dying.append([*last])
    dying.reverse()
    return dying


def _bits_of(
    node: Any, operands: Operands, graph: MaterializedGraph, positions: _Positions
) -> Sequence[Bits | None]:
    """Return the bits of each output of an equation."""
    operation = node.operation
    if type(operation) is OptimizationBarrier:
        return operands
    avals = [graph.avals[i] for i in node.inputs]
    results = [graph.avals[i] for i in node.outputs]
    at_positions = _AT_POSITIONS.get(type(operation))
    if at_positions is not None:
        numbers = [positions.of(i) for i in node.inputs]
        return [at_positions(operation, operands, avals, results[0], numbers)]
    rule = _RULES.get(type(operation))
    if rule is None and is_elementwise(
        operation, [len(bits) for bits in operands if bits is not None], results[0]
    ):
        rule = moves.join_elements
    if rule is not None and len(results) == 1:
        return [rule(operation, operands, avals, results[0])]
    everything = moves.union([moves.union(bits) for bits in operands if bits is not None])
    return [[everything] * aval.size for aval in results]


def is_elementwise(operation: Any, sizes: Sequence[int], result: Aval) -> bool:
    """Return True if the operation treats each element by itself, as its batching rule says.

    ``sizes`` are those of the operands that depend on the direction.
    """
    if getattr(type(operation), "batch", None) is not pointwise:
        return False
    return all([size == result.size for size in sizes])


class _Positions:
    """The integers that operands consist of, where they are known."""

    def __init__(self, graph: MaterializedGraph, reads: Reads) -> None:
        self._inputs = graph.inputs
        self._reads = reads
        self._literals = {
            node.outputs[0]: node.operation
            for node in graph.nodes
            if not node.inputs and node.operation.literal
        }
        self._avals = graph.avals

    def of(self, value: int) -> Sequence[int] | None:
        """Return the integers of a value of the graph."""
        if not self._avals[value].dtype.is_integer:
            return None
        if value < len(self._inputs):
            return numbers_of_key(self._inputs[value], self._reads)
        return _of_literal(self._literals.get(value))


def numbers_of_key(
    key: ValueKey, reads: Reads, depth: int = _MAX_POSITION_DEPTH
) -> Sequence[int] | None:
    """Return the integers of a value, followed through moves and sums; ``None`` if unknown."""
    definition = key.definition
    if definition is None:
        return reads.numbers_of(key)
    operation, _, slot = definition[:3]
    inputs = inputs_of(definition)
    if operation.transparent:
        return numbers_of_key(inputs[slot], reads, depth)
    if not inputs:
        return _of_literal(operation)
    rule = _MOVES.get(type(operation))
    sign = _SIGNS.get(type(operation))
    if not depth or (rule is None and sign is None):
        return None
    found: list[Any] = [numbers_of_key(each, reads, depth - 1) for each in inputs]
    if any([numbers is None for numbers in found]):
        return None
    if rule is not None:
        return rule(operation, found, [each.aval for each in inputs], key.aval)
    return [a + sign * b for a, b in zip(*found, strict=True)]


def _of_literal(operation: Any) -> Sequence[int] | None:
    if type(operation) is Table:
        return operation.values
    if type(operation) is Constant:
        value: Any = operation.value
        return [value] * operation.abstract_eval().size
    if type(operation) is Iota:
        shape, axis = operation.shape, operation.dimension
        strides = [int(i == axis) for i in range(len(shape))]
        return moves.places(moves.along(shape, strides))
    return None

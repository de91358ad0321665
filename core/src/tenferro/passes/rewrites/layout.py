"""``layout``: a short last axis is laid first where arrays are combined along the other axes.

Differences of points, shape [n, m, 3], are the usual case: a backend that runs an operation over
strided arrays has an inner loop of three elements, and starts n·m of them. As [3, n, m] the inner
loop is as long as the arrays. Equations element by element stay as they are, broadcasts and
reductions name other axes, and transpositions stand where a value enters or leaves. A connected set
of equations moves only if what it saves is more than what these transpositions cost. Numbers change
at most by the order of sums. Read next: ``../_driver.py``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

from tenferro.computegraph import MaterializedGraph, infer
from tenferro.computegraph._materialize import MaterializedNode, new_row
from tenferro.passes._disjoint_sets import DisjointSets
from tenferro.passes._rewriter import needed
from tenferro.primitives._primitive import pointwise
from tenferro.primitives.constants import Constant
from tenferro.primitives.reduction import (
    ReduceAnd,
    ReduceMax,
    ReduceMin,
    ReduceOr,
    ReduceProd,
    ReduceSum,
)
from tenferro.primitives.structural import BroadcastInDim, Transpose

LAYOUT = "layout"
_MAX_SHORT_AXIS = 16  # elements; the start of an inner loop costs about as much
_MIN_ELEMENTS = 1 << 12
_START_OF_INNER_LOOP = 10.0  # ns
_TRANSPOSED_ELEMENT = 1.5  # ns, to copy one to where its neighbours are others
_REDUCTIONS = (ReduceAnd, ReduceMax, ReduceMin, ReduceOr, ReduceProd, ReduceSum)


def with_short_axes_first(graph: MaterializedGraph) -> tuple[MaterializedGraph, int]:
    """Lay short last axes first where that pays; also count the equations that changed."""
    if not any([_is_candidate(aval.shape) for aval in set(graph.avals)]):
        return graph, 0
    moving = _Sets(graph).worth_moving()
    if not moving:
        return graph, 0
    return _Moved(graph, moving).graph(), len(moving)


def _is_candidate(shape: tuple[int, ...]) -> bool:
    return (
        len(shape) >= 2
        and 2 <= shape[-1] <= _MAX_SHORT_AXIS < shape[-2]
        and prod(shape) >= _MIN_ELEMENTS
    )


def _is_elementwise(node: MaterializedNode) -> bool:
    operation: Any = node[0]
    return operation.output_count == 1 and getattr(type(operation), "batch", None) is pointwise


class _Sets:
    """Connected values of one shape with a short last axis, made element by element."""

    def __init__(self, graph: MaterializedGraph) -> None:
        self._graph = graph
        self._sets = DisjointSets()
        self._members: set[int] = set()
        avals = graph.avals
        for node in graph.nodes:
            value = node[2][0]
            if not _is_candidate(avals[value].shape):
                continue
            if type(node[0]) in (BroadcastInDim, Constant):
                self._members.add(value)
            elif _is_elementwise(node):
                self._members.add(value)
                for i in node[1]:
                    if i in self._members and avals[i].shape == avals[value].shape:
                        self._sets.join(i, value)

    def worth_moving(self) -> frozenset[int]:
        """Return the members of the sets that run faster with the axis first."""
        avals, members = self._graph.avals, self._members
        gains: defaultdict[int, float] = defaultdict(float)
        crossing: set[tuple[int, int]] = set()
        for gain_of, value, crossed in self._effects():
            gains[self._sets.root(value)] += gain_of * avals[value].size
            if crossed >= 0:
                crossing.add((self._sets.root(value), crossed))
        for root, crossed in crossing:
            gains[root] -= _TRANSPOSED_ELEMENT * avals[crossed].size
        return frozenset([i for i in members if gains[self._sets.root(i)] > 0])

    def _effects(self) -> Iterator[tuple[float, int, int]]:
        """Yield nanoseconds saved per element, the member, and a value that is transposed or -1."""
        graph, members = self._graph, self._members
        makers = {node[2][0]: node for node in graph.nodes if node[2][0] in members}
        for node in graph.nodes:
            if node[2][0] not in members:
                yield from self._effects_of_reader(node)
            elif type(node[0]) not in (BroadcastInDim, Constant):
                yield from self._effects_of_member(node, makers)
        for i in graph.outputs:
            if i in members:
                yield 0.0, i, i

    def _effects_of_member(
        self, node: MaterializedNode, makers: Mapping[int, MaterializedNode]
    ) -> Iterator[tuple[float, int, int]]:
        value = node[2][0]
        for i in node[1]:
            if i in makers:
                yield self._saved_by(makers[i]), value, -1
            elif self._graph.avals[i].shape == self._graph.avals[value].shape:
                yield 0.0, value, i

    def _effects_of_reader(self, node: MaterializedNode) -> Iterator[tuple[float, int, int]]:
        for i in node[1]:
            if i not in self._members:
                continue
            reduction: Any = node[0]
            if type(reduction) not in _REDUCTIONS:
                yield 0.0, i, i
                continue
            shape = self._graph.avals[i].shape
            last = len(shape) - 1
            alone = last in reduction.axes and last - 1 not in reduction.axes
            yield _START_OF_INNER_LOOP / shape[-1] if alone else 0.0, i, -1

    def _saved_by(self, maker: MaterializedNode) -> float:
        """Return what a reader of a broadcast saves, whose inner loop is the last axis."""
        if type(maker[0]) is not BroadcastInDim:
            return 0.0
        shape = maker[0].shape
        given = self._graph.avals[maker[1][0]].shape
        varying = {d for d, n in zip(maker[0].dimensions, given, strict=True) if n > 1}
        last = len(shape) - 1
        if (last in varying) == (last - 1 in varying):  # both are one axis for the inner loop
            return 0.0
        return _START_OF_INNER_LOOP / shape[-1]


class _Moved:
    """The graph anew, where some values have their last axis first."""

    def __init__(self, graph: MaterializedGraph, moving: frozenset[int]) -> None:
        self._graph = graph
        self._moving = moving
        self._avals: list[Any] = list(graph.avals)
        self._nodes: list[MaterializedNode] = []
        self._turned: set[int] = set()  # values that exist only with their last axis first
        self._first: dict[int, int] = {}  # a value, or a copy, with its last axis first
        self._plain: dict[int, int] = {}  # of values that were written anew: as they were
        self._like: MaterializedNode = graph.nodes[0]  # whose role and source new equations have

    def graph(self) -> MaterializedGraph:
        """Return the new graph."""
        for node in self._graph.nodes:
            self._like = node
            self._rewrite(node)
        outputs = [self._as_it_was(i) for i in self._graph.outputs]
        return needed(self._graph, self._nodes, outputs, self._avals)

    def _rewrite(self, node: MaterializedNode) -> None:
        operation, inputs, outputs = node[:3]
        value = outputs[0]
        if value in self._moving:
            self._first[value] = self._moved(node)
            self._turned.add(value)
        elif type(operation) in _REDUCTIONS and inputs[0] in self._moving:
            self._reduce(operation, inputs[0], value)
        else:
            given = tuple([self._as_it_was(i) for i in inputs])
            self._nodes.append(new_row((operation, given, outputs, node[3], node[4])))

    def _moved(self, node: MaterializedNode) -> int:
        """Write an equation of a set with the last axis of its result first."""
        operation: Any = node[0]
        shape = self._graph.avals[node[2][0]].shape
        if type(operation) is Constant:
            return self._emit(Constant(operation.value, operation.dtype, _rotated(shape)))
        if type(operation) is BroadcastInDim:
            return self._broadcast(operation, node[1][0])
        return self._emit(
            operation,
            *[
                self._with_first(i) if self._graph.avals[i].shape == shape else self._as_it_was(i)
                for i in node[1]
            ],
        )

    def _broadcast(self, operation: BroadcastInDim, x: int) -> int:
        last = len(operation.shape) - 1
        source, dimensions = self._as_it_was(x), operation.dimensions
        if last in dimensions:  # the last one of the operand, too: they are in order
            source, dimensions = self._with_first(x), (0, *[d + 1 for d in dimensions[:-1]])
        else:
            dimensions = tuple([d + 1 for d in dimensions])
        return self._emit(BroadcastInDim(_rotated(operation.shape), dimensions), source)

    def _reduce(self, operation: Any, x: int, value: int) -> None:
        """Reduce a moved value; what is left of a short axis goes last again."""
        last = self._graph.avals[x].ndim - 1
        axes = tuple(sorted([0 if axis == last else axis + 1 for axis in operation.axes]))
        found = self._emit(type(operation)(axes), self._first[x])
        if last in operation.axes:
            self._plain[value] = found
        else:
            self._first[value] = found
            self._turned.add(value)

    def _with_first(self, value: int) -> int:
        """Return a value with its last axis first."""
        found = self._first.get(value)
        if found is None:
            plain = self._as_it_was(value)
            ndim = self._avals[plain].ndim
            order = (ndim - 1, *range(ndim - 1))
            found = plain if ndim < 2 else self._emit(Transpose(order), plain)
            self._first[value] = found
        return found

    def _as_it_was(self, value: int) -> int:
        """Return a value with its axes in their order."""
        if value in self._turned and value not in self._plain:
            first = self._first[value]
            ndim = self._avals[first].ndim
            order = (*range(1, ndim), 0)
            self._plain[value] = first if ndim < 2 else self._emit(Transpose(order), first)
        return self._plain.get(value, value)

    def _emit(self, operation: Any, *operands: int) -> int:
        value = len(self._avals)
        self._avals += infer(operation, tuple([self._avals[i] for i in operands]))
        role, source = self._like[3:5]
        self._nodes.append(new_row((operation, operands, (value,), role, source)))
        return value


def _rotated(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (shape[-1], *shape[:-1])

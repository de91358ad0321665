"""Trees of additions: the terms of a sum, wherever in it they stand, and the sum with others.

A tree is what add, sub and neg make of values that nothing else reads; so its terms may change
places. The graph is written again from its inputs to its outputs. There a term that was joined to
another is left out, and an addition with one term left becomes that term.
Read next: ``rewrites/paddings.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import chain
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import MaterializedGraph, Operation, infer
from tenferro.computegraph._materialize import MaterializedNode, new_row
from tenferro.computegraph._roles import PRIMARY, OperationRole
from tenferro.primitives.arithmetic import Add, Neg, Sub

NOTHING = -1
"""Number of a term that no longer exists."""


class Term(NamedTuple):
    """An equation whose result is read by a sum alone, and whether the sum takes it off."""

    position: int
    value: int
    negative: bool


def terms_of_sums(
    graph: MaterializedGraph,
    wanted: Callable[[MaterializedNode], bool],
    first: int = 0,
    whole: Collection[int] = (),
) -> list[list[Term]]:
    """Return the terms of each sum that come from such equations, in the order of the graph.

    No equation before position ``first`` is wanted. The values ``whole`` are terms even if they are
    sums themselves.
    """
    uses = _counted(graph)
    place: dict[int, tuple[int, bool]] = {}  # of what one sum alone reads: which, and the sign
    sums: dict[int, list[Term]] = {}
    for position in range(len(graph.nodes) - 1, first - 1, -1):
        node = graph.nodes[position]
        value, cls = node[2][0], type(node[0])
        if (cls is Add or cls is Sub or cls is Neg) and value not in whole:
            root, negative = place.pop(value, (value, False))
            for i in node[1]:
                if uses[i] == 1:
                    is_subtracted = cls is not Add and i == node[1][-1]
                    place[i] = root, negative != is_subtracted
        elif value in place:
            root, negative = place.pop(value)
            if wanted(node):
                sums.setdefault(root, []).append(Term(position, value, negative))
    return [terms[::-1] for terms in sums.values()]


def _counted(graph: MaterializedGraph) -> list[int]:
    """Count how often each value is read; an output counts as a reader."""
    uses = [0] * len(graph.avals)
    for i in chain.from_iterable([node[1] for node in graph.nodes]):
        uses[i] += 1
    for i in graph.outputs:
        uses[i] += 1
    return uses


class Rewritten:
    """A graph that is written anew; ``number`` is what each value is replaced by."""

    def __init__(self, graph: MaterializedGraph, first: int) -> None:
        """Begin with the equations before position ``first`` as they are."""
        self.graph = graph
        self.nodes: list[MaterializedNode] = list(graph.nodes[:first])
        self.avals: list[Any] = list(graph.avals)
        self.number: list[int] = [*range(len(graph.avals))]
        self._literals: dict[Operation, int] = {}  # those that were emitted here

    def emit(
        self,
        operation: Operation,
        operands: Sequence[int],
        like: MaterializedNode,
        role: OperationRole,
    ) -> int:
        """Emit an equation instead of another; an equal literal is reused."""
        there = None if operands else self._literals.get(operation)
        if there is not None:
            return there
        value, given = len(self.avals), tuple(operands)
        self.avals += infer(operation, tuple([self.avals[i] for i in given]))
        self.nodes.append(new_row((operation, given, (value,), role, like[4])))
        if not operands:
            self._literals[operation] = value
        return value

    def copy(self, node: MaterializedNode) -> None:
        """Write an equation as it was, but for terms that are nothing now."""
        number = self.number
        for i in node[1]:
            if number[i] != i:
                break
        else:
            self.nodes.append(node)
            return
        operation, inputs, outputs, role, source = node
        operands = tuple([number[i] for i in inputs])
        if NOTHING in operands:
            number[outputs[0]] = self._without_nothing(node, operands)
        else:
            self.nodes.append(new_row((operation, operands, outputs, role, source)))

    def _without_nothing(self, node: MaterializedNode, operands: Sequence[int]) -> int:
        if operands[-1] == NOTHING:
            return operands[0]  # x + 0 and x - 0; of neg, and where both are nothing, nothing
        if type(node[0]) is Sub:
            return self.emit(Neg(), operands[1:], node, PRIMARY)
        return operands[1]

    def finished(self, unread: Collection[int]) -> MaterializedGraph:
        """Return the graph that was written, its values numbered with gaps.

        ``unread`` are literals of the graph that may have lost their readers.
        """
        outputs = [self.number[i] for i in self.graph.outputs]
        read = {*outputs, *chain.from_iterable([node[1] for node in self.nodes])}
        dead = {i for i in unread if i not in read}
        nodes = self.nodes
        if dead:
            nodes = [node for node in nodes if node[2][0] not in dead]
        return MaterializedGraph(self.graph.inputs, nodes, outputs, self.avals)

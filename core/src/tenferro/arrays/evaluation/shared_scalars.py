"""Programs that do not depend on which numbers are equal by chance.

Equal numbers, and small arrays of equal content, are one input of a graph, so that what is made of
them is computed once. In a loop over data, which of them coincide is accidental: ``x * a + b`` with
``a == b`` in some iterations would be two programs. Here each use of a number becomes an input of
its own. Read next: ``evaluation/form.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.computegraph import MaterializedGraph
from tenferro.computegraph._keys import SHARED_SERIAL
from tenferro.computegraph._materialize import MaterializedNode
from tenferro.primitives import BroadcastInDim, Convert

_PREPARING = (Convert, BroadcastInDim)  # prepare a number for an array, each at most once


def split_shared_scalars(graph: MaterializedGraph) -> tuple[MaterializedGraph, tuple[int, ...]]:
    """Give each use of a number its own input; also return the original input of each new one."""
    separating = _Separating(graph)
    for node in graph.nodes:
        separating.take(node)
    return separating.finish()


class _Separating:
    """Nodes over new value numbers: inputs count down from -1, values of nodes up from 0."""

    def __init__(self, graph: MaterializedGraph) -> None:
        self.graph = graph
        self.made_of: dict[int, MaterializedNode | None] = {}  # what stands for a number, and how
        self.number: dict[int, int] = {}
        self.places: list[int] = []
        self.nodes: list[MaterializedNode] = []
        self.avals: list[Any] = []
        for i, key in enumerate(graph.inputs):
            if key.serial >= SHARED_SERIAL:
                self.made_of[i] = None
            else:
                self.number[i] = self._input(i)

    def take(self, node: MaterializedNode) -> None:
        """Copy a node; a number that is converted and broadcast waits for its uses."""
        if type(node.operation) in _PREPARING and self._depth(node.inputs[0]) < len(_PREPARING):
            self.made_of[node.outputs[0]] = node
            return
        inputs = tuple([self._use(i) for i in node.inputs])
        self._append(node, inputs)

    def _depth(self, value: int) -> int:
        """Return how many nodes prepare a number; the maximum if the value is not a number."""
        depth = 0
        while depth < len(_PREPARING):
            if value not in self.made_of:
                return len(_PREPARING)
            node = self.made_of[value]
            if node is None:
                return depth
            depth, value = depth + 1, node.inputs[0]
        return depth

    def _append(self, node: MaterializedNode, inputs: tuple[int, ...]) -> None:
        base = len(self.avals)
        for offset, output in enumerate(node.outputs):
            self.number[output] = base + offset
            self.avals.append(self.graph.avals[output])
        outputs = tuple(range(base, len(self.avals)))
        self.nodes.append(MaterializedNode(node.operation, inputs, outputs, node.role, node.source))

    def _use(self, value: int) -> int:
        if value not in self.made_of:
            return self.number[value]
        node = self.made_of[value]
        if node is None:
            return self._input(value)
        self._append(node, (self._use(node.inputs[0]),))
        return len(self.avals) - 1

    def _input(self, value: int) -> int:
        self.places.append(value)
        return -len(self.places)

    def finish(self) -> tuple[MaterializedGraph, tuple[int, ...]]:
        """Renumber the graph in the usual order."""
        outputs = [self._use(i) for i in self.graph.outputs]
        count = len(self.places)

        def final(i: int) -> int:
            return -1 - i if i < 0 else count + i

        nodes = [_renumbered(node, final) for node in self.nodes]
        given = self.graph
        inputs = [given.inputs[i] for i in self.places]
        avals: Sequence[Any] = [*[given.avals[i] for i in self.places], *self.avals]
        whole = MaterializedGraph(inputs, nodes, [final(i) for i in outputs], avals)
        return whole, tuple(self.places)


def _renumbered(node: MaterializedNode, final: Any) -> MaterializedNode:
    inputs = tuple([final(i) for i in node.inputs])
    return node._replace(inputs=inputs, outputs=tuple([final(i) for i in node.outputs]))

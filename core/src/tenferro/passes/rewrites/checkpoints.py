"""Checkpoints that compute nothing again are replaced by the equations of their bodies.

Values of the first evaluation join the equations around them; kept outputs that no derivative reads
vanish. A checkpoint that computes values again stays: merged with the first evaluation, these
values would be stored all the time. Read next: ``loops.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.computegraph import PRIMARY, MaterializedGraph, MaterializedNode, Operation, infer
from tenferro.passes._rewriter import needed

_KEY = "std::checkpoint"

Slots = tuple[int, ...]


def without_checkpoints(graph: MaterializedGraph) -> MaterializedGraph:
    """Return the graph with the bodies of checkpoints inserted, except for recomputations."""
    while any([_is_open(node.operation) for node in graph.nodes]):
        graph = _inserted(graph)
    return graph


def _is_open(operation: Any) -> bool:
    return getattr(operation, "key", "") == _KEY and not operation.recompute


def _inserted(graph: MaterializedGraph) -> MaterializedGraph:
    """Insert bodies at one depth of nesting."""
    avals = list(graph.avals[: len(graph.inputs)])
    number = {i: i for i in range(len(graph.inputs))}
    nodes: list[MaterializedNode] = []
    first: dict[tuple[object, ...], tuple[int, ...]] = {}  # outputs of equal equations

    def append(node: MaterializedNode, operation: Operation, inputs: Sequence[int]) -> Slots:
        given = tuple(sorted(inputs)) if operation.commutative else tuple(inputs)
        entry = (operation, *given)
        if entry in first:
            return first[entry]
        found = infer(operation, tuple([avals[i] for i in inputs]))
        outputs = first[entry] = tuple(range(len(avals), len(avals) + len(found)))
        avals.extend(found)
        role = node.role if operation is node.operation else PRIMARY
        nodes.append(MaterializedNode(operation, tuple(inputs), outputs, role, node.source))
        return outputs

    for node in graph.nodes:
        inputs = tuple([number[i] for i in node.inputs])
        operation: Any = node.operation
        if _is_open(operation):
            flat = operation.body.flat
            inside = dict(enumerate(inputs))
            for row in flat.nodes:
                given = tuple([inside[i] for i in row.inputs])
                inside.update(zip(row.outputs, append(node, row.operation, given), strict=True))
            number.update(zip(node.outputs, [inside[i] for i in flat.outputs], strict=True))
        else:
            number.update(zip(node.outputs, append(node, operation, inputs), strict=True))
    return needed(graph, nodes, [number[i] for i in graph.outputs], avals)

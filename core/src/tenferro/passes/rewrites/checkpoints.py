"""Checkpoints that compute nothing again are replaced by the equations of their bodies.

Values of the first evaluation join the equations around them; kept outputs that no derivative reads
vanish. A checkpoint that computes values again stays: merged with the first evaluation, these
values would be stored all the time. Read next: ``loops.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.computegraph import (
    PRIMARY,
    Fragment,
    MaterializedGraph,
    MaterializedNode,
    Operation,
    infer,
)
from tenferro.passes._rewriter import needed

_KEY = "std::checkpoint"

Slots = tuple[int, ...]


def without_checkpoints(graph: MaterializedGraph) -> MaterializedGraph:
    """Return the graph with the bodies of checkpoints inserted, except for recomputations.

    A recomputation is inserted, too, if it is the only one and no equation of the graph equals one
    of its body: in the backward body of a loop, where nothing is left of the first evaluation.
    """
    while any([_is_open(node.operation) for node in graph.nodes]):
        graph, _ = _inserted(graph, _is_open)
    again = [node.operation for node in graph.nodes if _is_checkpoint(node.operation)]
    if len(again) != 1 or _passes_on(again[0]):
        return graph
    found, merged = _inserted(graph, _is_checkpoint)
    return graph if merged else without_checkpoints(found)


def _is_checkpoint(operation: Any) -> bool:
    return getattr(operation, "key", "") == _KEY


def _is_open(operation: Any) -> bool:
    return _is_checkpoint(operation) and not operation.recompute


def _passes_on(operation: Any) -> bool:
    """Return True if a result is an input, as those of ``barrier``, whose identity matters."""
    body: Fragment = operation.body
    return min(body.flat.outputs) < len(body.input_avals)


def _inserted(
    graph: MaterializedGraph, is_chosen: Callable[[Operation], bool]
) -> tuple[MaterializedGraph, int]:
    """Insert bodies at one depth of nesting; also return how many equations were merged."""
    avals = list(graph.avals[: len(graph.inputs)])
    number = {i: i for i in range(len(graph.inputs))}
    nodes: list[MaterializedNode] = []
    first: dict[tuple[object, ...], tuple[int, ...]] = {}  # outputs of equal equations
    merged = 0

    def append(node: MaterializedNode, operation: Operation, inputs: Sequence[int]) -> Slots:
        nonlocal merged
        given = tuple(sorted(inputs)) if operation.commutative else tuple(inputs)
        entry = (operation, *given)
        if entry in first:
            merged += not operation.literal
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
        if is_chosen(operation):
            flat = operation.body.flat
            inside = dict(enumerate(inputs))
            for row in flat.nodes:
                given = tuple([inside[i] for i in row.inputs])
                inside.update(zip(row.outputs, append(node, row.operation, given), strict=True))
            number.update(zip(node.outputs, [inside[i] for i in flat.outputs], strict=True))
        else:
            number.update(zip(node.outputs, append(node, operation, inputs), strict=True))
    found = needed(graph, nodes, [number[i] for i in graph.outputs], avals)
    return found, merged

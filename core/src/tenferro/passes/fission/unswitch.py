"""One of two loops, chosen before the first step: whether some numbers are finite in all steps.

Where a select of a step asks ``is_finite`` of an operand of the loop, all answers are known before
the first step. If every one is True, a loop without the select, and without the values that its
other side alone needs, gives the same bits (loop unswitching, Allen and Cocke 1971). Otherwise the
loop runs as it is. Read next: ``split.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro.computegraph import (
    Fragment,
    MaterializedGraph,
    ValueKey,
    derive,
    fragment_of_graph,
    new_leaf,
)
from tenferro.passes._rewriter import needed
from tenferro.primitives import Handle, convert, logical_and, reduce_and
from tenferro.primitives.comparison import Select
from tenferro.primitives.control import Scan, Switch
from tenferro.primitives.rounding import IsFinite
from tenferro.primitives.structural import BroadcastInDim


def unswitched(loop: Scan, operands: Sequence[ValueKey]) -> Sequence[ValueKey] | None:
    """Return the results of the loop that is chosen; ``None`` if no step has such a select."""
    tests = {i for i, key in enumerate(operands) if _is_test(key)}
    body, used = _without_selects(loop.body.flat, tests) if tests else (loop.body.flat, set())
    if not used:
        return None
    without = loop.replaced(body=fragment_of_graph(body))
    branches = tuple([_alone(one, operands) for one in (loop, without)])
    is_finite = _all_hold([Handle(operands[i]) for i in sorted(used)])
    return derive(Switch(branches), [convert(is_finite, "i32").key, *operands])


def _is_test(key: ValueKey) -> bool:
    """Return True for a value that tells which numbers are finite."""
    return key.definition is not None and type(key.definition[0]) is IsFinite


def _without_selects(
    graph: MaterializedGraph, tests: set[int]
) -> tuple[MaterializedGraph, set[int]]:
    """Return the body for the case that these inputs are True, and those that selects read."""
    origin = {i: i for i in tests}  # of a predicate: the input that it is, or is broadcast from
    used = set()
    same = list(range(len(graph.avals)))
    nodes = []
    for node in graph.nodes:
        first = node.inputs[0] if node.inputs else -1
        if type(node.operation) is Select and first in origin:
            used.add(origin[first])
            same[node.outputs[0]] = same[node.inputs[1]]
            continue
        if type(node.operation) is BroadcastInDim and first in origin:
            origin[node.outputs[0]] = origin[first]
        nodes.append(node._replace(inputs=tuple([same[i] for i in node.inputs])))
    outputs = [same[i] for i in graph.outputs]
    return needed(graph, nodes, outputs, graph.avals), used


def _alone(loop: Scan, operands: Sequence[ValueKey]) -> Fragment:
    """Return a graph that takes all operands and runs the loop on those that its steps read."""
    given = [new_leaf(f"x{i}", key.aval) for i, key in enumerate(operands)]
    inside = [new_leaf(f"x{i}", aval) for i, aval in enumerate(loop.body.input_avals)]
    graph = loop.body.flat
    read = {*graph.outputs}.union(*[node.inputs for node in graph.nodes])
    kept = [i for i in range(len(given)) if i in read or loop.consts <= i < loop.rows]
    smaller = loop.replaced(
        body=Fragment.of([inside[i] for i in kept], loop.body.apply(inside)),
        consts=len([i for i in kept if i < loop.consts]),
        is_linear=(),
    )
    return Fragment.of(given, derive(smaller, [given[i] for i in kept]))


def _all_hold(tests: Sequence[Handle]) -> Handle:
    """Return whether all elements of some arrays of bools hold."""
    found = [reduce_and(test, tuple(range(test.aval.ndim))) for test in tests]
    whole = found[0]
    for one in found[1:]:
        whole = logical_and(whole, one)
    return whole

"""Captured numbers as constants of the program, for backends that compile programs whole.

A compiler that knows a number folds it, and keeps it in the body of a loop; as an operand it is
read from memory at every step. A program then belongs to its numbers: another number is another
program. Backends that interpret programs share one program among all numbers instead.
Read next: ``jit.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign
from typing import Any

from tenferro.computegraph import PRIMARY, MaterializedGraph, MaterializedNode
from tenferro.primitives import InvalidParameterError
from tenferro.primitives.constants import Constant

_NUMBERS = (bool, int, float, complex)


def with_constants(
    graph: MaterializedGraph, captured: Sequence[Any]
) -> tuple[MaterializedGraph, Sequence[Any]]:
    """Return the graph with its captured numbers as constants, and what is captured still.

    ``captured`` are the values of the last inputs of the graph.
    """
    first = len(graph.inputs) - len(captured)
    constants = {}
    for i, value in enumerate(captured, first):
        constant = _constant(value, graph.avals[i])
        if constant is not None:
            constants[i] = constant
    if not constants:
        return graph, captured
    kept = [i for i in range(len(graph.inputs)) if i not in constants]
    number = {i: k for k, i in enumerate((*kept, *constants))}
    order = [*kept, *constants, *range(len(graph.inputs), len(graph.avals))]
    nodes = [
        MaterializedNode(constant, (), (number[i],), PRIMARY, None)
        for i, constant in constants.items()
    ]
    for node in graph.nodes:
        inputs = tuple([number.get(i, i) for i in node.inputs])
        nodes.append(node._replace(inputs=inputs))
    outputs = [number.get(i, i) for i in graph.outputs]
    found = MaterializedGraph(
        [graph.inputs[i] for i in kept], nodes, outputs, [graph.avals[i] for i in order]
    )
    return found, [captured[i - first] for i in kept if i >= first]


def _constant(value: Any, aval: Any) -> Constant | None:
    """Return a number as a constant; ``None`` for arrays, and for -0.0, which equals 0.0."""
    if aval.shape or not isinstance(value, _NUMBERS):
        return None
    parts = (value.real, value.imag) if isinstance(value, complex) else (value,)
    if any([x == 0 and copysign(1.0, x) < 0 for x in parts]):
        return None
    try:
        return Constant(value, aval.dtype)
    except InvalidParameterError:
        return None

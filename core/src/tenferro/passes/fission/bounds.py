"""Bounds of the values of a graph, as far as its equations tell them.

An interval holds all values of an array that are not nan; ``(-inf, inf)`` says nothing. Of complex
numbers it bounds the modulus, and is symmetric. Rounding is left out: whoever reads bounds leaves
room for it. Read next: ``chains.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf, isnan, pi
from typing import Any

from tenferro.computegraph import MaterializedGraph, MaterializedNode

Interval = tuple[float, float]
ANY: Interval = (-inf, inf)
_ONE: Interval = (-1.0, 1.0)
#: of real functions, whatever their operands are
_RANGES: dict[str, Interval] = {
    "std::abs": (0.0, inf),
    "std::asin": (-2.0, 2.0),
    "std::atan": (-2.0, 2.0),
    "std::atan2": (-pi, pi),
    "std::cos": _ONE,
    "std::erf": _ONE,
    "std::erfc": (0.0, 2.0),
    "std::exp": (0.0, inf),
    "std::logistic": (0.0, 1.0),
    "std::sign": _ONE,
    "std::sin": _ONE,
    "std::square": (0.0, inf),
    "std::tanh": _ONE,
}
#: the values of a result are values of the operands
_MOVES = frozenset(
    ("std::broadcast_in_dim", "std::concatenate", "std::maximum", "std::minimum",
     "std::pad", "std::reshape", "std::reverse", "std::slice", "std::transpose")
)  # fmt: skip


def intervals(graph: MaterializedGraph, given: Sequence[Interval] = ()) -> list[Interval]:
    """Return an interval for each value of a graph; ``given`` are those of its inputs."""
    found = [*given] if given else [ANY] * len(graph.inputs)
    for node in graph.nodes:
        found += _of_equation(node, [found[i] for i in node.inputs], graph)
    return found


class Bounds:
    """Intervals of the values of a graph, computed as far as they are asked for."""

    def __init__(self, graph: MaterializedGraph) -> None:
        self._graph = graph
        self._found = [ANY] * len(graph.inputs)
        self._done = 0  # equations

    def before(self, place: int) -> Sequence[Interval]:
        """Return the intervals of all values that the equations before a place make, at least."""
        for node in self._graph.nodes[self._done : place]:
            self._found += _of_equation(node, [self._found[i] for i in node.inputs], self._graph)
        self._done = max(self._done, place)
        return self._found


def products_of_primals(
    graph: MaterializedGraph, loop: Any, inputs: Sequence[int]
) -> set[frozenset[int | None]]:
    """Return the pairs of inputs of a body whose product a loop that stacks rows for it computes.

    ``inputs`` are the operands of the loop, by their numbers in ``graph``.
    """
    places: dict[tuple[bool, int], list[int]] = {}  # (is a row, operand) → inputs of the body
    for place, i in enumerate(inputs):
        places.setdefault((place >= loop.rows, i), []).append(place)
    rows = {*inputs[loop.rows :]}
    found: set[frozenset[int | None]] = set()
    for node in graph.nodes:
        other: Any = node.operation
        if getattr(other, "key", "") != "std::scan" or rows.isdisjoint(node.outputs):
            continue
        same = _same_values(node, other, places)
        for inner in other.body.flat.nodes:
            if getattr(inner.operation, "key", "") == "std::mul":
                x, y = inner.inputs
                found.update([frozenset((a, b)) for a in same.get(x, ()) for b in same.get(y, ())])
    return found


def _same_values(
    node: MaterializedNode, loop: Any, places: Mapping[tuple[bool, int], list[int]]
) -> dict[int, list[int]]:
    """Return the values of the body of a loop that are inputs of another body, and which.

    ``places`` are the operands of the other loop, which takes as many steps.
    """
    slots = loop.body.flat.outputs
    same: dict[int, list[int]] = {}
    for slot, i in enumerate(node.inputs):
        if not loop.consts <= slot < loop.rows:
            same[slot] = [*places.get((slot >= loop.rows, i), ())]
    for i, k in zip(node.outputs, loop.outputs, strict=True):
        if k >= loop.carried:
            same.setdefault(slots[k], []).extend(places.get((True, i), ()))
    return same


def largest(interval: Interval) -> float:
    """Return the largest modulus of an interval."""
    return max(-interval[0], interval[1])


def inverted(interval: Interval) -> Interval:
    """Return the interval of 1/x."""
    low, high = interval
    return (1.0 / high, 1.0 / low) if low > 0.0 or high < 0.0 else ANY


def _of_equation(
    node: MaterializedNode, given: list[Interval], graph: MaterializedGraph
) -> list[Interval]:
    """Return the intervals of the results of an equation."""
    operation: Any = node.operation
    key = getattr(operation, "key", "")
    if key == "std::scan":
        return _of_loop(operation, given)
    if len(node.outputs) > 1:
        return [ANY] * len(node.outputs)
    low, high = _of_one(key, operation, node.inputs, given, graph)
    if isnan(low) or isnan(high):
        return [ANY]
    dtype = graph.avals[node.outputs[0]].dtype
    if dtype.is_complex:
        high = max(-low, high)
        low = -high
    return [(low, high)]


def _of_loop(loop: Any, given: list[Interval]) -> list[Interval]:
    """Return the intervals of the results of a loop; its carries are unknown."""
    inside = intervals(
        loop.body.flat, [*given[: loop.consts], *[ANY] * loop.carried, *given[loop.rows :]]
    )
    slots = loop.body.flat.outputs
    return [ANY if i < loop.carried else inside[slots[i]] for i in loop.outputs]


def _of_one(
    key: str, operation: Any, inputs: Sequence[int], given: list[Interval], graph: MaterializedGraph
) -> Interval:
    """Return the interval of an equation of one result."""
    if key == "std::constant":
        size = abs(operation.value)
        return (-size, size) if operation.dtype.is_complex else (operation.value, operation.value)
    if key in _MOVES:
        return _hull(given)
    if key == "std::select":
        return _hull(given[1:])
    return _of_numbers(key, inputs, given, graph) if inputs else ANY


def _of_numbers(
    key: str, inputs: Sequence[int], given: list[Interval], graph: MaterializedGraph
) -> Interval:
    """Return the interval of an equation that computes with numbers."""
    dtype = graph.avals[inputs[0]].dtype
    if not dtype.is_inexact:  # integers may wrap around
        return (0.0, 1.0) if key == "std::convert" and dtype.is_bool else ANY
    if key == "std::mul" and inputs[0] == inputs[1] and not dtype.is_complex:
        return _squared(given[0])
    if key in _ARITHMETIC:
        return _ARITHMETIC[key](*given)
    if any([graph.avals[i].dtype.is_complex for i in inputs]):
        return ANY
    return _of_real(key, given)


def _of_real(key: str, given: list[Interval]) -> Interval:
    """Return the interval of a function of real numbers."""
    if key == "std::convert":
        return given[0]
    if key == "std::square":
        return _squared(given[0])
    if key == "std::abs":
        return 0.0, largest(given[0])
    return _RANGES.get(key, ANY)


def _squared(x: Interval) -> Interval:
    size = largest(x)
    return 0.0, size * size


def _added(x: Interval, y: Interval) -> Interval:
    return x[0] + y[0], x[1] + y[1]


def _subtracted(x: Interval, y: Interval) -> Interval:
    return x[0] - y[1], x[1] - y[0]


def _multiplied(x: Interval, y: Interval) -> Interval:
    corners = [a * b if a and b else 0.0 for a in x for b in y]
    return min(corners), max(corners)


def _divided(x: Interval, y: Interval) -> Interval:
    below = inverted(y)
    return ANY if below == ANY else _multiplied(x, below)


_ARITHMETIC: dict[str, Callable[..., Interval]] = {
    "std::add": _added,
    "std::neg": lambda x: (-x[1], -x[0]),
    "std::sub": _subtracted,
    "std::mul": _multiplied,
    "std::div": _divided,
}


def _hull(given: Sequence[Interval]) -> Interval:
    return min([x[0] for x in given]), max([x[1] for x in given])

"""The form of a graph from which its program is made: equal for graphs that compute alike.

The order of the operands of a commutative operation, and of values that are computed because they
still have a reference, follows the age of values, and so what else is alive. Here it follows the
structure: a value is known by what it is made of and by what is made of it (as in the colour
refinement of Weisfeiler and Lehman, 1968); what is alike even then keeps its order. Shared scalars
are split before (``evaluation/shared_scalars.py``). Forms are remembered by the structure of the
graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from zlib import crc32

from tenferro._runtime import CollectorPaused
from tenferro._runtime.records import NamedTuple
from tenferro.arrays.evaluation.shared_scalars import split_shared_scalars
from tenferro.computegraph import (
    MaterializedGraph,
    Operation,
    ProgramCache,
    Structure,
    operation_text,
)
from tenferro.computegraph._keys import SHARED_SERIAL
from tenferro.computegraph._materialize import MaterializedNode

MAX_EQUATIONS_TO_SPLIT_AT_ONCE = 256  # equations
_BYTES_PER_ITEM = 40
_FORMS = ProgramCache(max_entries=2048, max_bytes=16 * 2**20)
_SEEN = ProgramCache(max_entries=256, max_bytes=16 * 2**20)


class Form(NamedTuple):
    """The form of a graph; which input of the graph each input is, and each result."""

    structure: Structure
    avals: tuple[Any, ...]  # of its inputs
    places: tuple[int, ...]
    results: tuple[int, ...]


def form_of(graph: MaterializedGraph) -> Form:
    """Return the form of a graph, without the graph itself.

    A large graph keeps equal numbers together at first, since it has fewer inputs then, until
    another comes that differs from it in coincidences alone.
    """
    numbers = tuple([i for i, key in enumerate(graph.inputs) if key.serial >= SHARED_SERIAL])
    size = _BYTES_PER_ITEM * (len(graph.avals) + len(graph))

    def make() -> Form:
        form = formed(graph, True)[1]
        if len(graph) <= MAX_EQUATIONS_TO_SPLIT_AT_ONCE or not numbers:
            return form
        first = _SEEN.get_or_make(form.structure, lambda: graph.structure, lambda _: size)
        return formed(graph, False)[1] if first is graph.structure else form

    name = graph.structure, graph.avals[: len(graph.inputs)], numbers
    return _FORMS.get_or_make(name, make, lambda _: size)


def graph_of(graph: MaterializedGraph, form: Form) -> MaterializedGraph:
    """Return the graph that has this form, one of the two that a graph can have."""
    for separated in (True, False):
        found, made = formed(graph, separated)
        if made.structure == form.structure:
            return found
    raise AssertionError("the form is of another graph")


def formed(graph: MaterializedGraph, separated: bool) -> tuple[MaterializedGraph, Form]:
    """Return a graph in its form, with each use of a number separated or not."""
    with CollectorPaused():
        places = tuple(range(len(graph.inputs)))
        if separated:
            graph, places = split_shared_scalars(graph)
        ordered, inputs, results = in_order(graph)
        avals = ordered.avals[: len(inputs)]
        return ordered, Form(
            ordered.structure, avals, tuple([places[i] for i in inputs]), tuple(results)
        )


def in_order(graph: MaterializedGraph) -> tuple[MaterializedGraph, list[int], list[int]]:
    """Return the graph in canonical order, the original index of each input, and each result's
    place.
    """
    colors = _colors(graph)
    makers = {output: node for node in graph.nodes for output in node.outputs}
    ends = sorted(range(len(graph.outputs)), key=lambda i: colors[graph.outputs[i]])
    inputs, nodes = _walk([graph.outputs[i] for i in ends], makers, colors)
    number = {value: i for i, value in enumerate(inputs)}
    avals = [graph.avals[i] for i in inputs]
    made = []
    for node in nodes:
        for output in node.outputs:
            number[output] = len(avals)
            avals.append(graph.avals[output])
        given = _in_order(node, colors)
        new = tuple([number[i] for i in given]), tuple([number[i] for i in node.outputs])
        made.append(MaterializedNode(node.operation, *new, node.role, node.source))
    keys = [graph.inputs[i] for i in inputs]
    whole = MaterializedGraph(keys, made, [number[graph.outputs[i]] for i in ends], avals)
    return whole, inputs, sorted(range(len(ends)), key=ends.__getitem__)


def _in_order(node: MaterializedNode, colors: Sequence[int]) -> Sequence[int]:
    """Return the inputs of a node; sort them by colour if the operation is commutative."""
    if not node.operation.commutative:
        return node.inputs
    return sorted(node.inputs, key=colors.__getitem__)


def _colors(graph: MaterializedGraph) -> list[int]:
    """Hash, for each value, the computation that makes it and the computations that use it."""
    below = [hash((_color(key.aval), key.serial >= SHARED_SERIAL)) for key in graph.inputs]
    below += [0] * (len(graph.avals) - len(below))
    for node in graph.nodes:
        given = [below[i] for i in node.inputs]
        made = hash(
            (_color(node.operation), *(sorted(given) if node.operation.commutative else given))
        )
        for slot, output in enumerate(node.outputs):
            below[output] = made + slot
    uses: list[list[int]] = [[] for _ in below]
    for i in graph.outputs:
        uses[i].append(0)
    for node in reversed(graph.nodes):
        above = hash(
            (below[node.outputs[0]], *[hash(tuple(sorted(uses[i]))) for i in node.outputs])
        )
        ordered = not node.operation.commutative
        for position, i in enumerate(node.inputs):
            uses[i].append(hash((above, position if ordered else -1)))
    return [hash((made, *sorted(use))) for made, use in zip(below, uses, strict=True)]


@lru_cache(maxsize=4096)
def _color(part: Any) -> int:
    """Return a number for an operation or aval, the same in all processes of one program.

    Hashes of texts differ from process to process. What is alike in the text of an equation is
    alike here, which costs no more than a second form.
    """
    text = operation_text(part) if isinstance(part, Operation) else str(part)
    return crc32(text.encode())


def _walk(
    ends: Sequence[int], makers: dict[int, MaterializedNode], colors: Sequence[int]
) -> tuple[list[int], list[MaterializedNode]]:
    """Return inputs in the order of first use, and nodes after their operands, from the outputs
    down.
    """
    inputs: list[int] = []
    nodes: list[MaterializedNode] = []
    seen: set[int] = set()
    stack: list[Any] = [*reversed(ends)]
    while stack:
        item = stack.pop()
        if isinstance(item, MaterializedNode):
            nodes.append(item)
        elif item not in seen:
            maker = makers.get(item)
            if maker is None:
                seen.add(item)
                inputs.append(item)
                continue
            seen.update(maker.outputs)
            stack.append(maker)
            stack += reversed(_in_order(maker, colors))
    return inputs, nodes

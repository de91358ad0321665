"""Contents of a graph's picture: boxes with their text, edges with their kind.

A box is an input, an equation, or the return. An edge carries a value, linear flow (into an active
operand of a linear or transposed equation) or a residual (a value that such an equation only
reads). Knows nothing of where things are drawn. Read next: ``_layout.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import Linearized, MaterializedGraph
from tenferro.computegraph._materialize import MaterializedNode
from tenferro.computegraph._text import clip, equation_text, operation_text
from tenferro.primitives._source import source_text

PARTS = ("primal", "linear", "transposed")
_MAX_CHARACTERS_PER_LINE = 36  # characters of a line in a box


class Box(NamedTuple):
    """One box; ``note`` is the whole equation and the user's line, for a tooltip."""

    part: str  # a word of PARTS, "input" or "output"
    lines: tuple[str, ...]
    note: str
    literal: bool = False


class Edge(NamedTuple):
    """An arrow between two boxes; ``kind`` is "value", "flow" or "residual"."""

    start: int
    end: int
    kind: str


class Picture(NamedTuple):
    """Boxes in topological order, edges, and how many equations each part has."""

    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    counts: dict[str, int]


def part_of(node: MaterializedNode) -> str:
    """Return the part of the graph that an equation belongs to."""
    role = node.role
    if not isinstance(role, Linearized):
        return "primal"
    return "transposed" if role.transposed else "linear"


def picture(
    graph: MaterializedGraph, positions: Sequence[int], labels: Mapping[int, str]
) -> Picture:
    """Return the picture of the equations at these positions; other values are inputs.

    ``labels`` names tangents and cotangents by the number of their value, as ``dx`` or ``ct_x``.
    All inputs of the graph are shown where all equations are.
    """
    nodes = [graph.nodes[i] for i in positions]
    shown = set(range(len(graph.inputs))) if len(nodes) == len(graph.nodes) else set()
    boxes, place = _inputs(graph, nodes, shown, labels)
    edges: dict[Edge, None] = {}
    counts = dict.fromkeys(PARTS, 0)
    for node in nodes:
        number = len(boxes)
        boxes.append(_equation(graph, node, labels))
        counts[part_of(node)] += 1
        kinds = _kinds(node)
        for value, kind in zip(node.inputs, kinds, strict=True):
            edges[Edge(place[value], number, kind)] = None
        place.update(dict.fromkeys(node.outputs, number))
    returned = [value for value in graph.outputs if value in place]
    if returned:
        text = "return " + ", ".join(f"%{value}" for value in returned)
        edges.update(dict.fromkeys(Edge(place[v], len(boxes), "value") for v in returned))
        boxes.append(Box("output", (clip(text, _MAX_CHARACTERS_PER_LINE),), text))
    return Picture(tuple(boxes), tuple(edges), counts)


def _inputs(
    graph: MaterializedGraph,
    nodes: Sequence[MaterializedNode],
    shown: Iterable[int],
    labels: Mapping[int, str],
) -> tuple[list[Box], dict[int, int]]:
    """Return boxes for the values that the nodes do not compute, and the place of each value."""
    made = {value for node in nodes for value in node.outputs}
    read = {value for node in nodes for value in node.inputs} - made
    boxes: list[Box] = []
    place: dict[int, int] = {}
    names = {**labels, **dict(enumerate(graph.input_names))}
    for value in sorted(read.union(shown)):
        place[value] = len(boxes)
        name = f"%{value}  {names[value]}" if value in names else f"%{value}"
        aval = graph.avals[value]
        note = f"{name}: {aval}" if aval is not None else name
        boxes.append(Box("input", (clip(name, _MAX_CHARACTERS_PER_LINE), *_known([aval])), note))
    return boxes, place


def _equation(graph: MaterializedGraph, node: MaterializedNode, labels: Mapping[int, str]) -> Box:
    avals = [graph.avals[i] for i in node.outputs]
    names = [f"%{i}" for i in node.outputs]
    operands = [f"*%{i}" if a else f"%{i}" for i, a in zip(node.inputs, _mask(node), strict=True)]
    name, parameters = str(node.operation.name), node.operation.parameters
    literal = node.operation.literal and not node.inputs
    if literal and "value" in parameters:  # shape and dtype are those of the aval
        operands, parameters = [str(parameters["value"])], {}
    head = " ".join([", ".join(names), "=", name, *operands])
    inside = operation_text(node.operation)[len(name) :].strip("[]") if parameters else ""
    lines = (clip(head, _MAX_CHARACTERS_PER_LINE), *([_begin(inside)] if inside else []))
    whole = equation_text(names, node.operation, [f"%{i}" for i in node.inputs], avals, node.role)
    line = source_text(node.source)
    label = ", ".join([labels[i] for i in node.outputs if i in labels])
    note = " ".join([*whole.split(), label]).strip() + (f"\n{line}" if line else "")
    return Box(part_of(node), (*lines, *_known(avals, label)), note, literal)


def _begin(text: str) -> str:
    return (
        text
        if len(text) <= _MAX_CHARACTERS_PER_LINE
        else f"{text[: _MAX_CHARACTERS_PER_LINE - 1]}…"
    )


def _known(avals: Sequence[object], label: str = "") -> list[str]:
    """Return the line of a box that says what is known of its values: `ct_x: f64[3]`."""
    types = ", ".join(str(aval) for aval in avals if aval is not None)
    text = ": ".join([part for part in (label, types) if part])
    return [clip(text, _MAX_CHARACTERS_PER_LINE)] if text else []


def _mask(node: MaterializedNode) -> Sequence[bool]:
    """Return which operands carry linear flow."""
    role = node.role
    return role.active_mask if isinstance(role, Linearized) else (False,) * len(node.inputs)


def _kinds(node: MaterializedNode) -> list[str]:
    if not isinstance(node.role, Linearized):
        return ["value"] * len(node.inputs)
    return ["flow" if active else "residual" for active in node.role.active_mask]

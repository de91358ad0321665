"""``sums``: terms of a sum that are zero where others are not become one term.

The derivative of what reads parts of an array is a sum of its parts, each padded by zeros to the
size of the whole. Parts that do not overlap are joined instead: those of ``roll`` are a ``roll``
again, and n elements that were read one by one are n elements, not n arrays. The other terms are
added in another order, so results agree to rounding, where nothing overflows; what was added to a
zero was 0.0 if it was -0.0, and may stay so. Nothing is done to float16 and bfloat16.
Read next: ``../_sums.py``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import MaterializedGraph, Operation
from tenferro.computegraph._materialize import MaterializedNode
from tenferro.computegraph._roles import PRIMARY, Linearized
from tenferro.passes._facts import is_narrow
from tenferro.passes._sums import NOTHING, Rewritten, Term, terms_of_sums
from tenferro.primitives._aval import Shape
from tenferro.primitives.arithmetic import Neg
from tenferro.primitives.constants import Constant
from tenferro.primitives.structural import Concatenate, Pad

SUMS = "sums"


def with_joined_paddings(
    graph: MaterializedGraph, can: Callable[[type], bool]
) -> tuple[MaterializedGraph, int]:
    """Join paddings; also return how many were joined.

    If there are any, the values of the result are numbered with gaps.
    """
    rows = _rows_of(graph) if can(Concatenate) and can(Neg) else {}
    if not rows:
        return graph, 0
    joined = {row.terms[i].position for row in rows.values() for i in row.box.places()}
    first = min(joined)
    new = Rewritten(graph, first)
    for position, node in enumerate(graph.nodes[first:], first):
        if position in rows:
            new.number[node[2][0]] = _written(new, rows[position], node)
        elif position in joined:
            new.number[node[2][0]] = NOTHING
        else:
            new.copy(node)
    return new.finished({graph.nodes[i][1][1] for i in joined}), len(joined)


class JoinedParts(NamedTuple):
    """A box of several parts, and the terms among which its parts have their places."""

    box: Box
    terms: Sequence[Term]


def _rows_of(graph: MaterializedGraph) -> dict[int, JoinedParts]:
    """Return the parts to join, by the place of the last of their paddings."""
    pads = [i for i, node in enumerate(graph.nodes) if type(node[0]) is Pad]
    zeros = {node[2][0] for node in graph.nodes if type(node[0]) is Constant and not node[0].value}
    found = {}
    patterns: dict[Any, Sequence[Box]] = {}  # sums repeat where programs have loops
    for terms in terms_of_sums(graph, lambda node: _is_part(graph, node, zeros), pads[0]):
        if len(terms) < 2:
            continue
        made_by = [graph.nodes[term.position] for term in terms]
        pattern: tuple[Any, ...] = tuple(
            [
                (node[0], graph.avals[node[1][0]], term.negative)
                for node, term in zip(made_by, terms, strict=True)
            ]
        )
        boxes = patterns.get(pattern)
        if boxes is None:
            parts = [Box.of(place, *part) for place, part in enumerate(pattern)]
            boxes = patterns[pattern] = [box for box in _joined(parts) if box.parts]
        for box in boxes:
            found[terms[box.place].position] = JoinedParts(box, terms)
    return found


def _is_part(graph: MaterializedGraph, node: MaterializedNode, zeros: set[int]) -> bool:
    """Return True if an equation pads an array with zeros."""
    op = node[0]
    if type(op) is not Pad or any(op.interior) or node[1][1] not in zeros:
        return False
    return min((*op.low, *op.high), default=0) >= 0 and not is_narrow(graph.avals[node[2][0]])


class Box:
    """A part of the whole, from ``low`` to ``end``: one array, or parts in a row along an axis.

    The row stands where the last of its paddings stood, and has the sign of that one. ``place`` is
    that of its padding among the terms of the sum, which are in the order of the graph.
    """

    __slots__ = ("axis", "end", "low", "negative", "operations", "parts", "place")

    def __init__(self, low: Shape, end: Shape, place: int, negative: bool) -> None:
        self.low, self.end = low, end
        self.place, self.negative = place, negative
        self.axis = 0
        self.parts: list[Box] = []
        self.operations: dict[Any, Operation] = {}  # made for an earlier sum of this pattern

    @staticmethod
    def of(place: int, op: Pad, aval: Any, negative: bool) -> Box:
        """Return the box that a padding surrounds."""
        end = tuple([low + n for low, n in zip(op.low, aval.shape, strict=True)])
        return Box(op.low, end, place, negative)

    @staticmethod
    def row(parts: list[Box], axis: int) -> Box:
        """Join parts along an axis, with gaps or without."""
        last = max(parts, key=lambda part: part.place)
        end = list(last.end)
        end[axis] = parts[-1].end[axis]
        box = Box(parts[0].low, tuple(end), last.place, last.negative)
        box.parts, box.axis = parts, axis
        return box

    def places(self) -> list[int]:
        """Return the places of its paddings."""
        return [i for part in self.parts for i in part.places()] or [self.place]


def _joined(boxes: Sequence[Box]) -> Sequence[Box]:
    """Join, axis by axis, disjoint boxes that differ along one axis only into rows."""
    for axis in range(len(boxes[0].low)):
        beside: dict[Any, list[Box]] = {}  # by their place along the other axes
        for box in boxes:
            low, end = list(box.low), list(box.end)
            low[axis] = end[axis] = 0
            beside.setdefault((*low, *end), []).append(box)
        boxes = [row for group in beside.values() for row in _rows(group, axis)]
    return boxes


def _rows(boxes: list[Box], axis: int) -> list[Box]:
    """Join as few rows as possible; each box follows the one that ends nearest before it."""
    boxes.sort(key=lambda box: (box.low[axis], box.end[axis]))
    ends: list[int] = []  # increasing
    rows: list[list[Box]] = []
    for box in boxes:
        place = bisect_right(ends, box.low[axis]) - 1
        row = rows.pop(place) if place >= 0 else []
        if row:
            del ends[place]
        row.append(box)
        place = bisect_right(ends, box.end[axis])
        ends.insert(place, box.end[axis])
        rows.insert(place, row)
    return [Box.row(row, axis) if len(row) > 1 else row[0] for row in rows]


def _written(new: Rewritten, row: JoinedParts, last: MaterializedNode) -> int:
    """Write a row, padded to the whole, instead of the last of its paddings."""
    box = row.box
    found = _in_a_row(new, box, row.terms, last)
    shape = new.avals[last[2][0]].shape
    high = tuple([n - end for n, end in zip(shape, box.end, strict=True)])
    if not any(box.low) and not any(high):
        return found
    around = box.operations.get(high) or Pad(box.low, high, (0,) * len(high))
    box.operations[high] = around
    return new.emit(around, (found, new.number[last[1][1]]), last, last[3])


def _in_a_row(new: Rewritten, box: Box, terms: Sequence[Term], last: MaterializedNode) -> int:
    """Write a box: its array, or its parts and the zeros between them, concatenated."""
    if not box.parts:
        return new.number[new.graph.nodes[terms[box.place].position][1][0]]
    operands, active = [], []
    place = box.low[box.axis]
    for part in box.parts:
        found = _in_a_row(new, part, terms, last)
        if part.low[box.axis] > place:
            aval = new.avals[found]
            gap = list(aval.shape)
            gap[box.axis] = part.low[box.axis] - place
            operands.append(new.emit(Constant(0, aval.dtype, tuple(gap)), (), last, PRIMARY))
            active.append(False)
        if part.negative is not box.negative:
            found = new.emit(Neg(), (found,), last, PRIMARY)
        operands.append(found)
        active.append(True)
        place = part.end[box.axis]
    role = last[3]
    if isinstance(role, Linearized):
        role = Linearized(tuple(active), role.transposed)
    joined = box.operations.get(None) or Concatenate(box.axis)
    box.operations[None] = joined
    return new.emit(joined, operands, last, role)

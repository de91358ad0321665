"""Loops whose reverse sweep computes steps again: the stacks of a loop become those of segments.

A loop that stacks rows for other loops of its length is cut, together with these, into k segments
of m steps and a last part of r steps, n = k m + r. The first loop stacks its carries where segments
begin, and the rows of the last part; a loop that reads rows runs a segment again before it reads
them. With D bytes of rows and c bytes of carries per step that needs k c + max(m, r) D bytes, and
runs n - r steps again. The segments are loops of the body of the new loop; where they do not fit,
they are cut in turn, so that L levels reach

    N(b, L) = max over k of  k N(b - k c, L - 1) + N(b - k c, 0),   N(b, 0) = ⌊b / D⌋

steps with b bytes (L = 1: Chen et al. 2016, arXiv:1604.06174; with L levels every step runs at most
L times more, as in A. Griewank and A. Walther, ACM Trans. Math. Softw. 26 (2000) 19).
Read next: ``values.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isqrt
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import (
    PRIMARY,
    Fragment,
    MaterializedGraph,
    MaterializedNode,
    ValueKey,
    infer,
    new_leaf,
)
from tenferro.passes._disjoint_sets import DisjointSets
from tenferro.passes._loop_joins import MutableEquation, drop_unread
from tenferro.passes._rewriter import needed
from tenferro.passes.budget.profile import bytes_of
from tenferro.primitives import Handle, concatenate, reshape
from tenferro.primitives._aval import Aval
from tenferro.primitives._primitive import bind_all
from tenferro.primitives.control import Scan
from tenferro.primitives.control.unrolled import rows_between

_MOST_LEVELS = 8
_LEAST_STEPS = 3  # a loop that is shorter is not cut


class Partition(NamedTuple):
    """k segments of m steps, and r steps that are not run again, or none."""

    segments: int
    steps: int
    rest: int


def capacity(budget: int, row: int, carry: int, levels: int) -> int:
    """Return how many steps fit into a number of bytes, with so many levels of segments."""
    if budget < row:
        return 0
    rest = budget // row
    if not levels:
        return rest
    segments = budget // ((levels + 1) * max(1, carry))
    left = budget - segments * carry
    return max(rest, segments * capacity(left, row, carry, levels - 1) + left // row)


def partition(length: int, row: int, carry: int, budget: int) -> Partition | None:
    """Return the partition that repeats the fewest steps and fits; ``None`` if none does."""
    for levels in range(1, _MOST_LEVELS + 1):
        if capacity(budget, row, carry, levels) < length:
            continue
        most = budget // ((levels + 1) * max(1, carry))
        for segments in range(1, max(1, most) + 1):
            left = budget - segments * carry
            steps, rest = capacity(left, row, carry, levels - 1), left // row
            if rest and segments * steps + rest >= length:
                return _split(length, segments, -((min(rest, length - 1) - length) // segments))
    return None


def even_partition(length: int, row: int, carry: int, budget: int) -> Partition | None:
    """Return a partition without a rest that fits: rows that are read need not be joined."""
    for levels in range(_MOST_LEVELS):
        for segments in range(2, isqrt(length) * 2 + 1):
            if length % segments == 0:
                left = budget - segments * carry
                if capacity(left, row, carry, levels) >= length // segments:
                    return Partition(segments, length // segments, 0)
    return None


def smallest(length: int, row: int, carry: int) -> Partition:
    """Return a partition that needs little memory, where no other fits."""
    levels = 3
    segments = max(1, round((length * row / max(1, carry)) ** (1 / (levels + 1))))
    return _split(length, segments, max(1, length // (segments + 1)))


def _split(length: int, segments: int, steps: int) -> Partition:
    count = min(segments, (length - 1) // steps)
    return Partition(count, steps, length - count * steps)


# ---- which loops ---------------------------------------------------------------------------------


class Group:
    """Loops of one length that read each other's rows, and nothing else reads these."""

    def __init__(self, graph: MaterializedGraph, positions: Sequence[int]) -> None:
        self.graph = graph
        self.positions = list(positions)
        self.length: int = graph.nodes[positions[0]].operation.length  # type: ignore[attr-defined]
        self.maker: dict[int, int] = {}  # a stack that need not be there → position of its loop

    def stacks(self) -> list[int]:
        """Return the values that need not be there."""
        return list(self.maker)

    def row_bytes(self) -> int:
        """Return the bytes of the rows of one step."""
        return sum([bytes_of(self.graph.avals[i]) for i in self.maker]) // self.length

    def carry_bytes(self) -> int:
        """Return the bytes of what a segment starts from."""
        total = 0
        for position in {*self.maker.values()}:
            loop, _ = self.repeated(position)
            total += sum(map(bytes_of, loop.body.input_avals[loop.consts : loop.rows]))
        return total

    @property
    def has_other_rows(self) -> bool:
        """True if a loop stacks rows that others read, too."""
        for position in self.positions:
            node = self.graph.nodes[position]
            loop: Any = node.operation
            pairs = zip(node.outputs, loop.outputs, strict=True)
            if any([output >= loop.carried and i not in self.maker for i, output in pairs]):
                return True
        return False

    def repeated(self, position: int) -> tuple[Scan, tuple[int, ...]]:
        """Return the loop that computes the rows again, and which operands it reads."""
        node = self.graph.nodes[position]
        equation = MutableEquation(node)
        equation.inputs = tuple(range(len(node.inputs)))
        drop_unread(equation, {i for i in node.outputs if self.maker.get(i) == position})
        return equation.operation, equation.inputs


def groups(graph: MaterializedGraph) -> list[Group]:
    """Return the groups of loops that can be cut."""
    joined = DisjointSets()
    makers: dict[int, int] = {}
    for i, position, readers in _stacks_for_loops(graph):
        makers[i] = position
        for reader in readers:
            joined.join(reader, position)
    members: dict[int, list[int]] = {}
    for position in sorted(joined.members()):
        members.setdefault(joined.root(position), []).append(position)
    found = {root: Group(graph, positions) for root, positions in members.items()}
    for i, position in makers.items():
        found[joined.root(position)].maker[i] = position
    return list(found.values())


def _stacks_for_loops(graph: MaterializedGraph) -> Iterator[tuple[int, int, list[int]]]:
    """Yield the stacks that only loops of their length read, by rows: with maker and readers."""
    reads: dict[int, list[tuple[int, int]]] = {}  # value → (position, place among the operands)
    for position, node in enumerate(graph.nodes):
        for place, i in enumerate(node.inputs):
            reads.setdefault(i, []).append((position, place))
    results = set(graph.outputs)
    for position, node in enumerate(graph.nodes):
        loop: Any = node.operation
        if type(loop) is not Scan or loop.length < _LEAST_STEPS or loop.offload is not None:
            continue
        for i, output in zip(node.outputs, loop.outputs, strict=True):
            found = reads.get(i, ())
            if output < loop.carried or output in loop.offloaded or i in results or not found:
                continue
            if all([_reads_rows(graph.nodes[at].operation, place, loop) for at, place in found]):
                yield i, position, [at for at, _ in found]


def _reads_rows(operation: Any, place: int, loop: Scan) -> bool:
    return type(operation) is Scan and place >= operation.rows and operation.length == loop.length


# ---- cutting -------------------------------------------------------------------------------------


def segmented(group: Group, parts: Partition) -> MaterializedGraph:
    """Return the graph with the loops of a group cut into segments."""
    return _Cut(group, parts).graph()


class _Rows(NamedTuple):
    """The operand of a loop that is read by rows: those of the segments, and those of the rest."""

    parts: Handle | None  # [segments, steps, …]; None: a segment is run again to have them
    rest: Handle


class _Equations:
    """The equations of a new graph in their order, with the avals of all its values."""

    def __init__(self, avals: Sequence[Aval]) -> None:
        self.avals = list(avals)
        self.nodes: list[MaterializedNode] = []
        self.written: dict[ValueKey, int] = {}  # values of new equations that others read later

    def append(
        self, operation: Any, inputs: tuple[int, ...], avals: Sequence[Aval], role: Any, source: Any
    ) -> tuple[int, ...]:
        """Append an equation whose results have these avals; return their numbers."""
        outputs = tuple(range(len(self.avals), len(self.avals) + len(avals)))
        self.avals.extend(avals)
        self.nodes.append(MaterializedNode(operation, inputs, outputs, role, source))
        return outputs

    def extend(self, keys: Sequence[ValueKey], source: Any) -> list[int]:
        """Append the equations that make recorded values of written ones; return their numbers."""
        part = Fragment.of(known := list(self.written), keys)
        values = [self.written[key] for key in known]
        for operation, places in part.equations:
            inputs = tuple([values[i] for i in places])
            avals = infer(operation, tuple([self.avals[i] for i in inputs]))
            values.extend(self.append(operation, inputs, avals, PRIMARY, source))
        found = [values[i] for i in part.outputs]
        self.written.update(zip(keys, found, strict=True))
        return found


class _Cut:
    """One rewriting of a group: what has been written so far."""

    def __init__(self, group: Group, parts: Partition) -> None:
        self.group = group
        self.parts = parts
        self.starts: dict[int, list[Handle]] = {}  # position → carries where segments begin
        self.rests: dict[int, Handle] = {}  # a stack that is not there → its last rows
        self.loops = {p: group.repeated(p) for p in {*group.maker.values()}}
        self.leaves: dict[int, Handle] = {}  # what equations of the graph give to new ones

    def graph(self) -> MaterializedGraph:
        """Return the graph, with new equations in the places of the loops."""
        old = self.group.graph
        equations = _Equations(old.avals[: len(old.inputs)])
        number = {i: i for i in range(len(old.inputs))}
        positions = set(self.group.positions)
        for position, node in enumerate(old.nodes):
            if position in positions:
                number.update(self._replace(position, number, equations))
                continue
            inputs = tuple([number[i] for i in node.inputs])
            avals = [old.avals[i] for i in node.outputs]
            outputs = equations.append(node.operation, inputs, avals, node.role, node.source)
            number.update(zip(node.outputs, outputs, strict=True))
        return needed(old, equations.nodes, [number[i] for i in old.outputs], equations.avals)

    def _replace(
        self, position: int, number: Mapping[int, int], equations: _Equations
    ) -> dict[int, int]:
        """Write the equations that replace a loop; return the new number of each of its results.

        ``number`` has the new numbers of the values before the loop.
        """
        node = self.group.graph.nodes[position]
        results = self._loop(position)
        extra = [*self.starts.get(position, ())]
        extra += [self.rests[i] for i in node.outputs if i in self.rests]
        keys = [x.key for x in (*results.values(), *extra)]
        equations.written.update({x.key: number[i] for i, x in self.leaves.items()})
        found = equations.extend(keys, node.source)
        return dict(zip(results, found, strict=False))

    def leaf(self, i: int) -> Handle:
        """Return a value of the graph as an operand of new equations."""
        if i not in self.leaves:
            self.leaves[i] = Handle(new_leaf(f"x{i}", self.group.graph.avals[i]))
        return self.leaves[i]

    def _loop(self, position: int) -> dict[int, Handle]:
        """Write one loop as two; return its results that are there, by their values."""
        node = self.group.graph.nodes[position]
        loop: Any = node.operation
        carry = [self.leaf(i) for i in node.inputs[loop.consts : loop.rows]]
        ends: dict[int, Handle] = {}
        if loop.reverse and self.parts.rest:
            carry, ends = self._rest(position, carry)
        carry, stacks = self._segments(position, carry)
        if self.parts.rest and not loop.reverse:
            carry, ends = self._rest(position, carry)
        results = {}
        for i, output in zip(node.outputs, loop.outputs, strict=True):
            if output < loop.carried:
                results[i] = carry[output]
            elif i not in self.group.maker:
                whole = reshape(stacks[i], (self._whole, *stacks[i].shape[2:]))
                results[i] = concatenate((whole, ends[i]), 0) if i in ends else whole
            elif i in ends:
                self.rests[i] = ends[i]
        return results

    @property
    def _whole(self) -> int:
        return self.parts.segments * self.parts.steps

    def _rest(
        self, position: int, carry: Sequence[Handle]
    ) -> tuple[list[Handle], dict[int, Handle]]:
        """Run the last part, which keeps its rows."""
        node = self.group.graph.nodes[position]
        loop: Any = node.operation
        rows = [
            self.rests[i]
            if i in self.rests
            else rows_between(self.leaf(i), self._whole, loop.length)
            for i in node.inputs[loop.rows :]
        ]
        consts = [self.leaf(i) for i in node.inputs[: loop.consts]]
        part, ys = _with_all_carries(node, loop.replaced(length=self.parts.rest))
        found = bind_all(part, *consts, *carry, *rows)
        return list(found[: loop.carried]), dict(zip(ys, found[loop.carried :], strict=True))

    def _segments(
        self, position: int, carry: Sequence[Handle]
    ) -> tuple[list[Handle], dict[int, Handle]]:
        """Run the segments: a loop whose body runs again what a segment reads, and the segment."""
        node = self.group.graph.nodes[position]
        loop: Any = node.operation
        body = _Body(self)
        start = [Handle(new_leaf("carry", x.aval)) for x in carry]
        rows = [body.rows(i) for i in node.inputs[loop.rows :]]
        consts = [body.const(i) for i in node.inputs[: loop.consts]]
        part, ys = _with_all_carries(
            node, loop.replaced(length=self.parts.steps), without=self.group.maker
        )
        found = bind_all(part, *consts, *start, *rows)
        first: list[Handle] = []
        if position in self.loops:
            again, places = self.loops[position]
            first = [start[places[i] - loop.consts] for i in range(again.consts, again.rows)]
        outputs = [*found[: loop.carried], *first, *found[loop.carried :]]
        leaves_of_body = [*body.consts.values(), *start, *[leaf for leaf, _ in body.row_leaves]]
        outer = Scan(
            Fragment.of([x.key for x in leaves_of_body], [x.key for x in outputs]),
            len(body.consts),
            len(start),
            self.parts.segments,
            tuple(range(len(outputs))),
            loop.reverse,
        )
        operands = [self.leaf(i) for i in body.consts]
        results = list(bind_all(outer, *operands, *carry, *[x for _, x in body.row_leaves]))
        behind = loop.carried + len(first)
        if position in self.loops:
            self.starts[position] = results[loop.carried : behind]
        return results[: loop.carried], dict(zip(ys, results[behind:], strict=True))


class _Body:
    """The body of a loop over segments: its inputs, and what it runs again."""

    def __init__(self, cut: _Cut) -> None:
        self.cut = cut
        self.consts: dict[int, Handle] = {}
        self.row_leaves: list[tuple[Handle, Handle]] = []  # the input, the operand of the loop
        self._rows: dict[int, Handle] = {}

    def const(self, i: int) -> Handle:
        """Return the input for an operand that is read whole."""
        if i not in self.consts:
            self.consts[i] = Handle(new_leaf("const", self.cut.group.graph.avals[i]))
        return self.consts[i]

    def rows(self, i: int) -> Handle:
        """Return the rows of one segment of a value: an input, or computed again."""
        if i not in self._rows:
            if i in self.cut.group.maker:
                self._run_again(self.cut.group.maker[i])
            else:
                cut = self.cut
                x = cut.leaf(i)
                shape = (cut.parts.segments, cut.parts.steps, *x.shape[1:])
                self._rows[i] = self._input(reshape(rows_between(x, 0, cut._whole), shape))
        return self._rows[i]

    def _input(self, stack: Handle) -> Handle:
        leaf = Handle(new_leaf("row", stack.aval.with_shape(stack.shape[1:])))
        self.row_leaves.append((leaf, stack))
        return leaf

    def _run_again(self, position: int) -> None:
        """Run a segment of another loop again, for its rows."""
        cut = self.cut
        node = cut.group.graph.nodes[position]
        loop, places = cut.loops[position]
        given = [node.inputs[i] for i in places]
        consts = [self.const(i) for i in given[: loop.consts]]
        carry = [self._input(x) for x in cut.starts[position]]
        rows = [self.rows(i) for i in given[loop.rows :]]
        found = bind_all(loop.replaced(length=cut.parts.steps), *consts, *carry, *rows)
        stacks = [i for i in node.outputs if i in cut.group.maker]
        self._rows.update(zip(stacks, found, strict=True))


def _with_all_carries(
    node: MaterializedNode, loop: Any, without: Any = ()
) -> tuple[Scan, list[int]]:
    """Return the loop with all carries as results, then rows; and the values of the rows."""
    pairs = zip(node.outputs, loop.outputs, strict=True)
    ys = {i: output for i, output in pairs if output >= loop.carried and i not in without}
    chosen = (*range(loop.carried), *ys.values())
    return loop.replaced(outputs=chosen, is_linear=()), list(ys)

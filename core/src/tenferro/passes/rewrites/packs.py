"""``packs``: what is done to each of several parts of an array is done once, to all of them.

A batch in four parts, heads in a Python loop, or an index that a user sums over by hand: slices
that divide an array become an array with one more axis, and each operation on the parts becomes one
operation by its batching rule. Parts that are joined again, or added to each other, stay together;
another reader takes its part. Sums are so taken in another order, and products are larger ones; all
else keeps every bit. Read next: ``../_packs.py``, which says what fits together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from tenferro.computegraph import (
    MaterializedGraph,
    MaterializedNode,
    ValueKey,
    derive,
    flatten,
)
from tenferro.passes._facts import is_narrow
from tenferro.passes._packs import Lane, Pack, Packs, is_own
from tenferro.passes._sums import terms_of_sums
from tenferro.primitives import Handle, concatenate, reduce_sum, reshape, transpose
from tenferro.primitives import slice as slice_of
from tenferro.primitives.arithmetic import Add, Neg, Sub
from tenferro.primitives.structural import Concatenate


def with_packs(graph: MaterializedGraph) -> tuple[MaterializedGraph, int]:
    """Do once what is done to each part of an array; also count the packs."""
    packs = Packs(graph)
    if not packs.lane_of:
        return graph, 0
    readers = _Readers(packs)
    packs.remove_small(readers.alone)
    count = len({at.pack for at in packs.lane_of.values() if not _is_seed(packs, at)})
    if not count:
        return graph, 0
    return _Writer(packs, _Readers(packs)).written(), count


def _is_seed(packs: Packs, at: Lane) -> bool:
    return packs.packs[at.pack].axis >= 0


class _Readers:
    """The readers of lanes: sums and concatenations of all lanes, and operations on one."""

    def __init__(self, packs: Packs) -> None:
        self.packs = packs
        self.graph = packs.graph
        self.sums: set[int] = set()  # terms that become the sum of all lanes
        self.nothing: set[int] = set()  # terms that are part of such a sum
        self.joined: dict[int, Lane] = {}  # place of a concatenation of all lanes
        self._find_sums()
        self._find_joined()
        self.alone = self._alone()

    def _find_sums(self) -> None:
        """Find the sums that have each lane of a pack among their terms."""
        lane_of, graph = self.packs.lane_of, self.graph
        is_lane = lambda node: node.outputs[0] in lane_of  # noqa: E731
        for terms in terms_of_sums(graph, is_lane, whole=lane_of):
            groups = defaultdict(list)
            for term in terms:
                at = lane_of[term.value]
                groups[at.pack, at.slot].append(term)
            for group in groups.values():
                pack = self.packs.packs[lane_of[group[0].value].pack]
                signs = {term.negative for term in group}
                if len(group) < pack.lanes or len(signs) > 1:
                    continue
                if pack.axis >= 0 or is_narrow(graph.avals[group[0].value]):
                    continue
                self.sums.add(group[-1].value)
                self.nothing.update([term.value for term in group[:-1]])

    def _find_joined(self) -> None:
        lane_of = self.packs.lane_of
        for position, node in enumerate(self.graph.nodes):
            if type(node.operation) is not Concatenate or node.outputs[0] in lane_of:
                continue
            found = [lane_of.get(i) for i in node.inputs]
            first = found[0]
            if first is None or len(found) != self.packs.packs[first.pack].lanes:
                continue
            if found == [first._replace(lane=lane) for lane in range(len(found))]:
                self.joined[position] = first

    def _alone(self) -> list[int]:
        """Return the values whose lane is read by itself."""
        lane_of = self.packs.lane_of
        read = set(self.graph.outputs)
        for position, node in enumerate(self.graph.nodes):
            if node.outputs[0] not in lane_of and position not in self.joined:
                read.update(node.inputs)
        return [i for i in read if i in lane_of and i not in self.sums and i not in self.nothing]


class _Writer:
    """The graph while it is written again: packs as single equations, where they are needed."""

    def __init__(self, packs: Packs, readers: _Readers) -> None:
        self.packs = packs
        self.readers = readers
        self.graph = packs.graph
        self._values: dict[int, ValueKey] = dict(enumerate(self.graph.inputs))
        self._stacks: dict[tuple[int, int], Handle] = {}
        self._maker = {
            value: position
            for position, node in enumerate(self.graph.nodes)
            for value in node.outputs
        }

    def written(self) -> MaterializedGraph:
        """Write all that the outputs need."""
        for unit in self._ordered():
            if isinstance(unit, Lane):
                self._write_pack(unit.pack)
            else:
                self._write(unit, self.graph.nodes[unit])
        known = set(self.graph.inputs)
        outputs = [self._value(i) for i in self.graph.outputs]
        return flatten(self.graph.inputs, outputs, lambda k: None if k in known else k.definition)

    # ---- order -----------------------------------------------------------------------------------

    def _ordered(self) -> list[int | Lane]:
        """Return equations, by their places, and packs, each behind what it reads."""
        order: list[int | Lane] = []
        done: set[int | Lane] = set()
        stack = [(unit, False) for unit in map(self._unit, self.graph.outputs[::-1])]
        while stack:
            unit, is_ready = stack.pop()
            if unit is None or unit in done:
                continue
            if is_ready:
                done.add(unit)
                order.append(unit)
                continue
            stack.append((unit, True))
            stack += [(self._unit(i), False) for i in reversed(self._reads(unit))]
        return order

    def _unit(self, value: int) -> int | Lane | None:
        """Return what makes a value; None for an input."""
        at = self.packs.lane_of.get(value)
        return self._maker.get(value) if at is None else Lane(at.pack, 0, 0)

    def _reads(self, unit: int | Lane) -> Sequence[int]:
        if not isinstance(unit, Lane):
            return self.graph.nodes[unit].inputs
        nodes, pack = self.graph.nodes, self.packs.packs[unit.pack]
        return [i for position in pack.positions.values() for i in nodes[position].inputs]

    # ---- equations -------------------------------------------------------------------------------

    def _write(self, position: int, node: MaterializedNode) -> None:
        joined = self.readers.joined.get(position)
        if joined is not None:
            self._values[node.outputs[0]] = self._joined(joined, node).key
            return
        given = [None if i in self.readers.nothing else self._value(i) for i in node.inputs]
        made = self._made(node, given)
        for key, value in zip(made, node.outputs, strict=True):
            if key is None:
                self.readers.nothing.add(value)
                continue
            key.source = key.source or node.source
            self._values[value] = key

    def _made(
        self, node: MaterializedNode, given: Sequence[ValueKey | None]
    ) -> Sequence[ValueKey | None]:
        """Apply an operation; of an addition, terms may be gone."""
        kept = [key for key in given if key is not None]
        if len(kept) == len(given):
            return derive(node.operation, kept, node.role)
        if not kept:
            return [None]
        if type(node.operation) is Sub and given[0] is None:
            return derive(Neg(), kept, node.role)
        assert type(node.operation) in (Add, Sub)
        return kept

    def _value(self, value: int) -> ValueKey:
        """Return the key of a value; that of a lane is a sum of all lanes, or a part of these."""
        found = self._values.get(value)
        if found is None:
            found = self._values[value] = self._taken(value, self.packs.lane_of[value])
        return found

    def _taken(self, value: int, at: Lane) -> ValueKey:
        if _is_seed(self.packs, at):
            slice_itself = self.graph.nodes[self._maker[value]]
            operands = [self._value(i) for i in slice_itself.inputs]
            return derive(slice_itself.operation, operands, slice_itself.role)[0]
        stack = self._stacks[at.pack, at.slot]
        part = reduce_sum(stack, (0,)) if value in self.readers.sums else _row(stack, at.lane)
        return part.key

    # ---- packs -----------------------------------------------------------------------------------

    def _write_pack(self, number: int) -> None:
        pack = self.packs.packs[number]
        node = self.graph.nodes[pack.positions[0]]
        if pack.axis >= 0:
            self._stacks[number, 0] = self._divided(pack, node)
            return
        operation: Any = pack.operation
        on = tuple([isinstance(at, Lane) or is_own(at) for at in pack.operands])
        given = [self._operand(at) for at in pack.operands]
        found = operation.batch(pack.lanes, on, *given)
        results = found if isinstance(found, (tuple, list)) else (found,)
        for slot, result in enumerate(results):
            result.key.source = result.key.source or node.source
            self._stacks[number, slot] = result

    def _operand(self, at: Lane | list[int]) -> Handle:
        if isinstance(at, Lane):
            return self._stacks[at.pack, at.slot]
        if not is_own(at):
            return Handle(self._value(at[0]))
        rows = [Handle(self._value(i)) for i in at]
        return concatenate([reshape(row, (1, *row.shape)) for row in rows], 0)

    def _divided(self, pack: Pack, node: MaterializedNode) -> Handle:
        """Divide a stretch of an axis into lanes, which become the first axis."""
        first: Any = node.operation
        last: Any = self.graph.nodes[pack.positions[pack.lanes - 1]].operation
        x = slice_of(Handle(self._value(node.inputs[0])), first.start, last.limit)
        axis, shape = pack.axis, self.graph.avals[node.outputs[0]].shape
        parts = reshape(x, (*shape[:axis], pack.lanes, *shape[axis:]))
        rest = [a for a in range(parts.ndim) if a != axis]
        return transpose(parts, (axis, *rest))

    def _joined(self, at: Lane, node: MaterializedNode) -> Handle:
        """Join the lanes along an axis."""
        stack = self._stacks[at.pack, at.slot]
        operation: Any = node.operation
        axis = operation.dimension
        order = [*range(1, axis + 1), 0, *range(axis + 1, stack.ndim)]
        return reshape(transpose(stack, order), self.graph.avals[node.outputs[0]].shape)


def _row(stack: Handle, lane: int) -> Handle:
    """Return one lane of a stack."""
    rest = stack.shape[1:]
    part = slice_of(stack, (lane, *[0] * len(rest)), (lane + 1, *rest))
    return reshape(part, rest)

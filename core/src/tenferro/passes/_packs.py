"""Packs: the same operation on each of several parts of an array, side by side.

The first packs are slices that divide a stretch of an axis into equal parts, its *lanes*. Where
the same operation reads each lane, and the other operands are equal or lie in packs themselves, the
results are a pack (superword-level parallelism; Larsen, Amarasinghe 2000). No lane depends on
another one of its pack: both come from slices of one array, which do not read each other.
Read next: ``rewrites/packs.py``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import MaterializedGraph, MaterializedNode, Operation
from tenferro.passes._costs import family, nbytes
from tenferro.passes._disjoint_sets import DisjointSets
from tenferro.primitives.arithmetic import Add, Mul
from tenferro.primitives.structural import BroadcastInDim, Reshape, Slice, Transpose

_MIN_LANES = 2
#: Bytes of the values that are copied into a stack because each lane reads its own.
_MAX_BYTES_COPIED = 1 << 14
#: Bytes of a value of all lanes: a user who divides more than that means to save memory.
_MAX_BYTES_OF_ALL_LANES = 1 << 26
#: Packs that save fewer equations than this for each one they add are not worth their slices.
_MIN_SAVED_PER_ADDED = 2
#: Families whose operations cost as much for several arrays as one by one, or have effects.
_EXCLUDED = frozenset("callback control linalg random random_gamma sharding".split())
_STANDARD = "std::"
_VIEWS = (BroadcastInDim, Reshape, Slice, Transpose)  # operations that cost nothing either way
_COMMUTATIVE = (Add, Mul)


class Lane(NamedTuple):
    """The place of a value: a pack, an output of its operation, and the number of the lane."""

    pack: int
    slot: int
    lane: int


class Pack:
    """Equations with one operation, by lane.

    ``operands`` has for each input a lane of another pack, or the value of each lane. A pack of
    slices has none; its ``axis`` is the one that they divide.
    """

    __slots__ = ("axis", "lanes", "operands", "operation", "positions")

    def __init__(self, operation: Operation, lanes: int, axis: int = -1) -> None:
        self.operation = operation
        self.lanes = lanes
        self.axis = axis
        self.positions: dict[int, int] = {}  # by lane, the place of its equation
        self.operands: list[Lane | list[int]] = []

    @property
    def is_whole(self) -> bool:
        """Return True if each lane has its equation."""
        return len(self.positions) == self.lanes


class Packs:
    """The packs of a graph, and the lane of each value that is in one."""

    def __init__(self, graph: MaterializedGraph) -> None:
        self.graph = graph
        self.packs: list[Pack] = []
        self.lane_of: dict[int, Lane] = {}
        self._early = set(range(len(graph.inputs)))  # small values that no pack is needed for
        self._table: dict[Any, int] = {}
        self._again: dict[Any, int] = defaultdict(int)
        for seeds in seeds_of(graph):
            self._add_seeds(seeds)
        if not self.packs:
            return
        for position, node in enumerate(graph.nodes):
            self._take(position, node)
        self._remove_partial()

    def _add_seeds(self, seeds: Seeds) -> None:
        nodes = self.graph.nodes
        pack = Pack(nodes[seeds.positions[0]].operation, len(seeds.positions), seeds.axis)
        for lane, position in enumerate(seeds.positions):
            pack.positions[lane] = position
            self.lane_of[nodes[position].outputs[0]] = Lane(len(self.packs), 0, lane)
        self.packs.append(pack)

    def _take(self, position: int, node: MaterializedNode) -> None:
        """Put an equation into the pack of its operation and operands, if it reads one lane."""
        inputs = node.inputs
        if self.lane_of.keys().isdisjoint(inputs):
            if self._early.issuperset(inputs) and self._is_small(node):
                self._early.update(node.outputs)
            return
        if node.outputs[0] in self.lane_of:
            return
        found = [self.lane_of.get(i) for i in inputs]
        lanes = {(at.lane, self.packs[at.pack].lanes) for at in found if at is not None}
        if len(lanes) == 1 and self._may_be_packed(node):
            if type(node.operation) in _COMMUTATIVE and found[0] is None:
                inputs, found = inputs[::-1], found[::-1]
            self._put(position, inputs, found, *lanes.pop())

    def _put(
        self,
        position: int,
        inputs: Sequence[int],
        found: Sequence[Lane | None],
        lane: int,
        count: int,
    ) -> None:
        """Put an equation into its pack, as one of ``count`` lanes."""
        node = self.graph.nodes[position]
        reads = [self._read(i, there) for i, there in zip(inputs, found, strict=True)]
        signature = node.operation, count, *reads
        again = self._again[signature, lane]
        self._again[signature, lane] += 1
        number = self._table.setdefault((signature, again), len(self.packs))
        if number == len(self.packs):
            self.packs.append(Pack(node.operation, count))
            self.packs[-1].operands = [[-1] * count if at is None else at for at in found]
        pack = self.packs[number]
        pack.positions[lane] = position
        for operand, i in zip(pack.operands, inputs, strict=True):
            if isinstance(operand, list):
                operand[lane] = i
        for slot, value in enumerate(node.outputs):
            self.lane_of[value] = Lane(number, slot, lane)

    def _read(self, value: int, lane: Lane | None) -> object:
        """Return what the operands of all lanes must have in common."""
        if lane is not None:
            return lane[:2]
        aval = self.graph.avals[value]
        return aval if value in self._early and self._is_copied(aval) else value

    def _is_small(self, node: MaterializedNode) -> bool:
        return all([self._is_copied(self.graph.avals[i]) for i in node.outputs])

    def _is_copied(self, aval: Any) -> bool:
        return nbytes(aval) <= _MAX_BYTES_COPIED

    def _may_be_packed(self, node: MaterializedNode) -> bool:
        operation: Any = node.operation
        if getattr(operation, "batch", None) is None or operation.volatile:
            return False
        return operation.key.startswith(_STANDARD) and family(operation) not in _EXCLUDED

    def _remove_partial(self) -> None:
        """Remove packs without some of their lanes, those that are large, and their readers."""
        avals, nodes = self.graph.avals, self.graph.nodes
        kept: set[int] = set()
        for number, pack in enumerate(self.packs):
            if not pack.is_whole:
                continue
            results = nodes[pack.positions[0]].outputs
            largest = max([nbytes(avals[i]) for i in results]) * pack.lanes
            reads = {at.pack for at in pack.operands if isinstance(at, Lane)}
            if largest <= _MAX_BYTES_OF_ALL_LANES and reads <= kept:
                kept.add(number)
        self.keep(kept)

    def keep(self, kept: set[int]) -> None:
        """Forget all other packs."""
        self.lane_of = {i: at for i, at in self.lane_of.items() if at.pack in kept}

    # ---- what is worth its slices ----------------------------------------------------------------

    def remove_small(self, read_alone: Sequence[int]) -> None:
        """Remove packs that save too few equations.

        Packs that read each other are judged together. ``read_alone`` are values whose lane is read
        by itself, which costs a slice.
        """
        together = DisjointSets()
        gain = {at.pack: self._gain(self.packs[at.pack]) for at in self.lane_of.values()}
        for number in gain:
            for at in self.packs[number].operands:
                if isinstance(at, Lane):
                    together.join(number, at.pack)
        for value in read_alone:
            number = self.lane_of[value].pack
            if self.packs[number].axis < 0:  # a slice that was there already costs nothing
                gain[number] -= _MIN_SAVED_PER_ADDED
        total: dict[int, int] = defaultdict(int)
        for number in gain:
            total[together.root(number)] += gain[number]
        self.keep({number for number in gain if total[together.root(number)] > 0})

    @staticmethod
    def _gain(pack: Pack) -> int:
        """Return how many equations a pack saves, without those that bring operands together."""
        own = [at for at in pack.operands if not isinstance(at, Lane) and is_own(at)]
        saved = 0 if isinstance(pack.operation, _VIEWS) else pack.lanes - 1
        return saved - _MIN_SAVED_PER_ADDED * pack.lanes * len(own)


def is_own(values: Sequence[int]) -> bool:
    """Return True if the lanes read different values."""
    return any([value != values[0] for value in values])


# ---- slices that divide an array -----------------------------------------------------------------


class Seeds(NamedTuple):
    """The places of slices that divide a stretch of an axis into equal parts, in order."""

    axis: int
    positions: tuple[int, ...]


def seeds_of(graph: MaterializedGraph) -> Iterator[Seeds]:
    """Yield the slices of each array that lie side by side."""
    slices: dict[int, list[int]] = {}
    for position, node in enumerate(graph.nodes):
        if type(node.operation) is Slice and set(node.operation.strides) <= {1}:
            slices.setdefault(node.inputs[0], []).append(position)
    for positions in slices.values():
        if len(positions) >= _MIN_LANES:
            yield from _divisions(graph, positions)


def _divisions(graph: MaterializedGraph, positions: Sequence[int]) -> Iterator[Seeds]:
    """Yield the divisions among slices of one array, each slice once."""
    taken: set[int] = set()
    for axis in range(len(_slice(graph, positions[0]).start)):
        alike: dict[Any, dict[int, int]] = {}
        for position in positions:
            op = _slice(graph, position)
            size = op.limit[axis] - op.start[axis]
            others = [*zip(op.start, op.limit, strict=True)]
            del others[axis]
            if position not in taken and size:
                alike.setdefault((size, *others), {}).setdefault(op.start[axis], position)
        for (size, *_), places in alike.items():
            for row in _rows(sorted(places), size):
                seeds = tuple([places[start] for start in row])
                taken.update(seeds)
                yield Seeds(axis, seeds)


def _slice(graph: MaterializedGraph, position: int) -> Any:
    return graph.nodes[position].operation


def _rows(starts: Sequence[int], size: int) -> list[list[int]]:
    """Return stretches of starts at distances of ``size``.

    >>> _rows([0, 1, 2, 3, 4, 9], 2)
    [[0, 2, 4], [1, 3]]
    """
    rows: list[list[int]] = []
    ending: dict[int, list[int]] = {}  # by the start that would continue it
    for start in starts:
        row = ending.pop(start, None)
        if row is None:
            row = []
            rows.append(row)
        row.append(start)
        ending[start + size] = row
    return [row for row in rows if len(row) >= _MIN_LANES]

"""Finding regions: elementwise steps on large arrays of one shape that can run tile by tile.

A step joins the region that made one of its operands, or that reads one of them, unless something
between the two must run outside. Reductions of what a region makes end in it; pads and
concatenations that it reads begin in it. A region then stands at the place of its last step. What
reaches what is known as sets of regions, bits of an integer; after `_EPOCH` regions all are closed
and counting starts again, so that the sets stay small.
Read next: `_tiles.py`, which runs a region.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from heapq import heapify, heappop, heappush
from math import prod
from typing import Any

import numpy as np

from tenferro.primitives import Aval
from tenferro_numpy._expression import Expression
from tenferro_numpy._memory import free_operands
from tenferro_numpy._recompute import recompute
from tenferro_numpy._steps import Step
from tenferro_numpy._tiles import Fold, Move, Region, Tiling, Write, can_fold

__all__ = ["fuse", "least_elements"]

_EPOCH = 128
_PART = 4  # of a tile: smaller arrays fit the cache anyway
_NEAR = 128  # steps: joining what is further apart would keep values alive for long


def least_elements(tiling: Tiling) -> int:
    """The size from which arrays are worth a region."""
    return max(tiling.elements // _PART, 1)


def fuse(
    steps: Sequence[Step],
    avals: Sequence[Aval],
    outputs: Set[int],
    tiling: Tiling,
    literals: Collection[int] = (),
) -> list[Step]:
    """The steps in a valid order, with regions of a good part of a tile or more as single steps."""
    finder = _Finder(avals, tiling.elements, least_elements(tiling), literals)
    for position, step in enumerate(steps):
        finder.place(step, position)
    groups = [g for g in finder.groups if g.is_worth_it(tiling, avals)]
    if not groups:
        return list(steps)
    group_of = {id(step): g for g in groups for _, step in (*g.members, *g.folds)}
    recompute(groups, steps, avals, outputs)
    for _ in range(2):  # what only a step that is dropped now reads is dropped next
        exports = _exports(steps, groups, group_of, outputs)
        for g in groups:
            g.drop_unread(exports[id(g)])
    made = {id(g): _step_of(g, avals, exports[id(g)], tiling) for g in groups if g.members}
    placed: dict[int, tuple[int, Step]] = {}
    for position, step in enumerate(steps):
        group = group_of.get(id(step))
        new = step if group is None else made.get(id(group))
        if new is not None:
            placed[id(new)] = position, new  # the last one counts
    ordered = _ordered(placed.values())
    _reuse(ordered, avals, outputs)
    return ordered


class _Group:
    """A region while it grows."""

    __slots__ = ("bit", "folds", "last", "members", "reach", "shape")

    def __init__(self, bit: int, shape: tuple[int, ...]) -> None:
        self.bit = bit
        self.shape = shape
        self.members: list[tuple[int, Step]] = []
        self.folds: list[tuple[int, Step]] = []
        self.reach = 0  # bits of the regions that must run before
        self.last = 0

    def drop_unread(self, exports: Set[int]) -> None:
        """Forget steps whose results are neither exported nor read here."""
        read = {slot for _, step in self.folds for slot in step.operands} | exports
        kept = []
        for position, step in sorted(self.members, key=lambda pair: -pair[0]):
            if step.targets[0] in read:
                kept.append((position, step))
                read.update(step.operands)
        self.members = kept

    def is_worth_it(self, tiling: Tiling, avals: Sequence[Aval]) -> bool:
        """Whether something is saved: a pass over memory, or time on another processor."""
        if all(step.expression.pieces is not None for _, step in self.members):
            return False
        if len(self.members) + len(self.folds) > 1:
            return True
        large = prod(self.shape) > tiling.elements
        return tiling.threads > 1 and large and bool(self.members)


class _Finder:
    def __init__(
        self, avals: Sequence[Aval], elements: int, smallest: int, literals: Collection[int]
    ) -> None:
        self.avals = avals
        self.literals = literals  # read everywhere: that two steps read one says nothing
        self.elements = elements
        self.smallest = smallest
        self.groups: list[_Group] = []
        self.forget()

    def forget(self) -> None:
        """Close all regions."""
        self.open: list[_Group] = []
        self.maker: dict[int, _Group] = {}  # slot → the region that makes it
        self.reader: dict[int, _Group] = {}  # slot → the last region that reads it
        self.before: dict[int, int] = {}  # slot → bits of the regions behind it

    def place(self, step: Step, position: int) -> None:
        """Put a step into a region, or note what it waits for."""
        expression = step.expression
        if expression.fold is not None and self.end_in_region(step, position):
            return
        aval = self.avals[step.targets[0]]
        if aval.size < self.smallest:
            self.wait(step)
        elif expression.pieces is not None:  # reads beyond a tile what must be made elsewhere
            self.enter(self.new_group(step, aval.shape), step, position)
        elif expression.into:
            group = self.group_for(step, aval.shape, position)
            self.enter(group, step, position)
            for slot in step.operands:
                if self.avals[slot].shape == aval.shape and slot not in self.literals:
                    self.reader[slot] = group
        else:
            self.wait(step)

    def wait(self, step: Step) -> None:
        """Note the regions behind a step that is in none."""
        behind = 0
        for slot in step.operands:
            behind |= self.before.get(slot, 0)
        if behind:
            self.before.update(dict.fromkeys(step.targets, behind))

    def enter(self, group: _Group, step: Step, position: int) -> None:
        """Put a step into a region."""
        group.members.append((position, step))
        group.last = position
        self.maker[step.targets[0]] = group
        self.before[step.targets[0]] = group.bit

    def end_in_region(self, step: Step, position: int) -> bool:
        """Let a reduction end in the region that makes its operand."""
        (slot,) = step.operands
        group = self.maker.get(slot)
        fold = step.expression.fold
        if group is None or fold is None or not can_fold(fold[1], group.shape, self.elements):
            return False
        if position - group.last > _NEAR:
            return False
        group.folds.append((position, step))
        self.before[step.targets[0]] = group.bit
        return True

    def group_for(self, step: Step, shape: tuple[int, ...], position: int) -> _Group:
        """The region that a step joins; a new one if it can join none."""
        makers = self.candidates(self.maker, step, shape, position)
        readers = self.candidates(self.reader, step, shape, position)
        for group in (*makers, *readers):
            merged = [other for other in makers if other is not group and _apart(group, other)]
            behind = self.behind(step, {group.bit, *(other.bit for other in merged)})
            if behind & group.bit or any(behind & other.bit for other in merged):
                continue
            for other in merged:
                self.merge(group, other)
            self.reaches(group, behind)
            return group
        return self.new_group(step, shape)

    def new_group(self, step: Step, shape: tuple[int, ...]) -> _Group:
        """A region that a step begins."""
        if len(self.open) >= _EPOCH:
            self.forget()
        group = _Group(1 << len(self.open), shape)
        self.open.append(group)
        self.groups.append(group)
        self.reaches(group, self.behind(step, set()))
        return group

    def candidates(
        self, table: Mapping[int, _Group], step: Step, shape: tuple[int, ...], position: int
    ) -> list[_Group]:
        """The regions of this shape in a table of slots, the youngest first."""
        found = {id(g): g for slot in step.operands if (g := table.get(slot)) is not None}
        near = [g for g in found.values() if g.shape == shape and position - g.last <= _NEAR]
        return sorted(near, key=lambda g: -g.last)

    def behind(self, step: Step, joined: Set[int]) -> int:
        """The regions that must run before a step which joins some: those behind its operands."""
        bits = 0
        for slot in step.operands:
            before = self.before.get(slot, 0)
            if before in joined and slot in self.maker:
                continue  # made in the region itself
            bits |= self.closed(before)
        return bits

    def closed(self, bits: int) -> int:
        """These regions and all that they wait for."""
        rest, found = bits, bits
        while rest:
            low = rest & -rest
            rest ^= low
            found |= self.open[low.bit_length() - 1].reach
        return found

    def reaches(self, group: _Group, behind: int) -> None:
        """Note that a region waits for others, and so does whatever waits for it."""
        group.reach |= behind
        for other in self.open:
            if other.reach & group.bit:
                other.reach |= group.reach

    def merge(self, group: _Group, other: _Group) -> None:
        """Put the steps of another region into this one."""
        group.members += other.members
        group.folds += other.folds
        other.members, other.folds = [], []
        group.last = max(group.last, other.last)
        for table in (self.maker, self.reader):
            for slot, owner in table.items():
                if owner is other:
                    table[slot] = group
        for slot, bits in self.before.items():
            if bits & other.bit:
                self.before[slot] = bits & ~other.bit | group.bit
        for one in self.open:
            if one.reach & other.bit:
                one.reach |= group.bit
        self.reaches(group, other.reach)


def _apart(group: _Group, other: _Group) -> bool:
    """Whether two regions may become one: neither waits for the other."""
    return not (group.reach & other.bit or other.reach & group.bit)


def _exports(
    steps: Iterable[Step],
    groups: Sequence[_Group],
    group_of: Mapping[int, _Group],
    outputs: Set[int],
) -> dict[int, set[int]]:
    """For each region, by identity, what others read of it."""
    owner = {i: g for g in groups for _, s in g.members if group_of[id(s)] is g for i in s.targets}
    exports: dict[int, set[int]] = {id(g): set() for g in groups}

    def read(slots: Iterable[int], inside: Set[int] = frozenset()) -> None:
        for slot in (owner.keys() & slots) - inside:
            exports[id(owner[slot])].add(slot)

    read(outputs)
    read(slot for step in steps if id(step) not in group_of for slot in step.operands)
    for group in groups:
        inside = {step.targets[0] for _, step in group.members}
        read((slot for _, step in group.members for slot in step.operands), inside)
    return exports


def _step_of(group: _Group, avals: Sequence[Aval], exports: Set[int], tiling: Tiling) -> Step:
    """One step for a region: its operands, what others read of it, and its buffers."""
    everything = [step for _, step in sorted(group.members, key=lambda pair: pair[0])]
    members = [step for step in everything if step.expression.pieces is None]
    moved = [step for step in everything if step.expression.pieces is not None]
    folds = [step for _, step in sorted(group.folds, key=lambda pair: pair[0])]
    made = {step.targets[0] for step in everything}
    given = tuple(dict.fromkeys(i for s in members for i in s.operands if i not in made))
    kept = [step.targets[0] for step in everything if step.targets[0] in exports]
    buffers = _Buffers(avals, (*given, *kept), {step.operands[0] for step in folds})
    sources = tuple(dict.fromkeys(slot for step in moved for slot in step.operands))
    operands = (*given, *sources)
    moves = [buffers.move(step, len(given), sources, step.targets[0] in kept) for step in moved]
    writes = buffers.writes(members)
    region = Region(
        group.shape,
        len(given),
        writes,
        [_dtype(avals[slot]) for slot in kept],
        buffers.scratch,
        [_fold(step, buffers) for step in folds],
        tiling,
        moves,
    )
    text = ", ".join(f"{{{i}}}" for i in range(len(operands)))
    targets = (*kept, *(step.targets[0] for step in folds))
    positions = tuple(sorted(i for step in (*everything, *folds) for i in step.positions))
    return Step(Expression(f"{{p0}}({text})", (region,)), operands, targets, positions)


def _reuse(steps: Sequence[Step], avals: Sequence[Aval], outputs: Set[int]) -> None:
    """Let regions write into operands that nobody reads afterwards."""
    for step, free in zip(steps, free_operands(steps, avals, outputs), strict=True):
        region = step.expression.bound[0] if step.expression.bound else None
        if not isinstance(region, Region):
            continue
        taken: set[int] = set()
        for i, dtype in enumerate(region.arrays):
            moved = set(step.operands[region.operand_count :])
            for slot in free:
                if slot in moved:
                    continue  # other tiles still read it
                place = step.operands.index(slot)
                fits = avals[slot].shape == region.shape and _dtype(avals[slot]) == dtype
                if fits and place not in taken and _is_done(region, place, i):
                    region.reuse[i] = place
                    taken.add(place)
                    break


def _is_done(region: Region, operand: int, array: int) -> bool:
    """Whether a tile of an operand is not read after the array is written in its place."""
    written = any(move.out == region.operand_count + array for move in region.moves)
    for write in region.writes:
        if written and operand in write.operands:
            return False
        if write.out == region.operand_count + array:
            if operand in write.operands and not write.in_place:
                return False
            written = True
    return True


class _Buffers:
    """Places for what a region makes on the way, taken again after the last use."""

    def __init__(self, avals: Sequence[Aval], slots: Sequence[int], held: Set[int]) -> None:
        self.avals = avals
        self.place = {slot: i for i, slot in enumerate(slots)}
        self.held = held  # until the end of a tile, for its reductions
        self.first = len(slots)
        self.scratch: list[np.dtype[Any]] = []
        self.free: dict[np.dtype[Any], list[int]] = {}

    def move(self, step: Step, first: int, sources: Sequence[int], kept: bool) -> Move:
        """How a step that only moves is done; its buffer may be a view, so nobody else gets it."""
        target, pieces = step.targets[0], step.expression.pieces
        assert pieces is not None
        self.held = self.held | {target}
        operands = tuple([first + sources.index(slot) for slot in step.operands])
        return Move(pieces, operands, self.take(target), kept)

    def writes(self, members: Sequence[Step]) -> list[Write]:
        """What to do with each tile, in order."""
        last = {slot: step for step in members for slot in step.operands}
        done = []
        for step in members:
            dying = [
                slot
                for slot in dict.fromkeys(step.operands)
                if last[slot] is step and slot not in self.held and self.place[slot] >= self.first
            ]
            operands = tuple([self.place[slot] for slot in step.operands])
            target = step.targets[0]
            if step.expression.in_place:
                self.release(dying)
                out = self.take(target)
            else:
                out = self.take(target)
                self.release(dying)
            done.append(Write(step.expression.writer(), operands, out, step.expression.in_place))
        return done

    def release(self, slots: Iterable[int]) -> None:
        for slot in slots:
            self.free.setdefault(_dtype(self.avals[slot]), []).append(self.place[slot])

    def take(self, slot: int) -> int:
        if slot not in self.place:
            dtype = _dtype(self.avals[slot])
            free = self.free.get(dtype)
            if free:
                self.place[slot] = free.pop()
            else:
                self.place[slot] = self.first + len(self.scratch)
                self.scratch.append(dtype)
        return self.place[slot]


def _fold(step: Step, buffers: _Buffers) -> Fold:
    fold = step.expression.fold
    assert fold is not None
    function, axes, dtype = fold
    return Fold(function, buffers.place[step.operands[0]], axes, dtype)


def _dtype(aval: Aval) -> np.dtype[Any]:
    return np.dtype(aval.dtype.name)


def _ordered(placed: Iterable[tuple[int, Step]]) -> list[Step]:
    """The steps after what they need, those first that stood first."""
    nodes = list(placed)
    maker = {slot: i for i, (_, step) in enumerate(nodes) for slot in step.targets}
    waits = [0] * len(nodes)
    wakes: list[list[int]] = [[] for _ in nodes]
    for i, (_, step) in enumerate(nodes):
        for slot in set(step.operands):
            if slot in maker:
                wakes[maker[slot]].append(i)
                waits[i] += 1
    ready = [(nodes[i][0], i) for i, count in enumerate(waits) if not count]
    heapify(ready)
    ordered = []
    while ready:
        _, i = heappop(ready)
        ordered.append(nodes[i][1])
        for j in wakes[i]:
            waits[j] -= 1
            if not waits[j]:
                heappush(ready, (nodes[j][0], j))
    if len(ordered) != len(nodes):
        raise AssertionError("regions wait for each other")
    return ordered

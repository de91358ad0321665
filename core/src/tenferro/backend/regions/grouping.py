"""Grouping of steps that may run together: large elementwise ones of one shape.

A step joins the group that made one of its operands, or that reads one of them, unless something
between the two must run outside; groups that it connects become one. Reductions of what a group
makes end in it; pads and concatenations that it reads begin in it. Each group knows which groups
must run before it, as bits of an integer. After `_EPOCH` groups no group grows further and the bits
are used anew, so the integers stay small. Read next: ``rematerialize.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from math import prod
from typing import Generic

from tenferro.backend.regions.step import RegionPolicy, S
from tenferro.primitives._aval import Aval

__all__ = ["Finder", "Group"]

_EPOCH = 128  # groups
#: Joining steps at a larger distance would keep values alive for long.
_MAX_STEPS_BETWEEN_MEMBERS = 128


class Group(Generic[S]):
    """A region while it grows: steps with their positions, and the groups that must run before."""

    __slots__ = ("bit", "folds", "last", "members", "shape", "waits_for")

    def __init__(self, bit: int, shape: tuple[int, ...]) -> None:
        self.bit = bit  # of this group among those that may still grow
        self.shape = shape
        self.members: list[tuple[int, S]] = []
        self.folds: list[tuple[int, S]] = []
        self.waits_for = 0  # bits of the regions that must run before
        self.last = 0

    def drop_unread(self, exports: Set[int]) -> bool:
        """Forget steps whose results are neither exported nor read here; whether there are any."""
        read = {slot for _, step in self.folds for slot in step.operands} | exports
        kept = []
        for position, step in sorted(self.members, key=lambda pair: -pair[0]):
            if step.targets[0] in read:
                kept.append((position, step))
                read.update(step.operands)
        dropped = len(kept) < len(self.members)
        self.members = kept
        return dropped

    def is_worth_it(self, policy: RegionPolicy) -> bool:
        """Return True if the region saves reading memory again, or time on another processor."""
        if all(step.is_assembled for _, step in self.members):
            return False
        if len(self.members) + len(self.folds) > 1:
            return True
        # A single operation gains only from threads. It is a region with one thread, too: a region
        # writes its result in row-major order, and the order decides how later sums are rounded.
        return prod(self.shape) > policy.alone and bool(self.members)


class Finder(Generic[S]):
    """Collect the steps of a plan into groups, in one walk over them."""

    def __init__(
        self, avals: Sequence[Aval], policy: RegionPolicy, literals: Collection[int] = ()
    ) -> None:
        self.avals = avals
        self.literals = literals  # read everywhere: that two steps read one says nothing
        self.policy = policy
        self.groups: list[Group[S]] = []
        self.forget()

    def forget(self) -> None:
        """Close all regions."""
        self.open: list[Group[S]] = []
        self.maker: dict[int, Group[S]] = {}  # slot → the region that makes it
        self.reader: dict[int, Group[S]] = {}  # slot → the last region that reads it
        self.needed: dict[int, int] = {}  # slot → bits of the regions that must run first

    def place(self, step: S, position: int) -> None:
        """Put a step into a region, or note what it waits for."""
        axes = step.reduced_axes
        if axes is not None and self.end_in_region(step, axes, position):
            return
        aval = self.avals[step.targets[0]]
        if aval.size < self.policy.smallest or not (aval.shape or self.policy.numbers):
            self.wait(step)
        elif step.is_assembled:  # reads beyond a tile what must be made elsewhere
            self.enter(self.new_group(step, aval.shape), step, position)
        elif step.is_elementwise:
            group = self.group_for(step, aval.shape, position)
            self.enter(group, step, position)
            for slot in step.operands:
                if self.avals[slot].shape == aval.shape and slot not in self.literals:
                    self.reader[slot] = group
        else:
            self.wait(step)

    def wait(self, step: S) -> None:
        """Note which regions must run before the results of a step that is in none."""
        if self.needed.keys().isdisjoint(step.operands):
            return
        needed = 0
        for slot in step.operands:
            needed |= self.needed.get(slot, 0)
        if needed:
            self.needed.update(dict.fromkeys(step.targets, needed))

    def enter(self, group: Group[S], step: S, position: int) -> None:
        """Put a step into a region."""
        group.members.append((position, step))
        group.last = position
        self.maker[step.targets[0]] = group
        self.needed[step.targets[0]] = group.bit

    def end_in_region(self, step: S, axes: Sequence[int], position: int) -> bool:
        """Let a reduction end in the region that makes its operand."""
        (slot,) = step.operands
        group = self.maker.get(slot)
        if group is None or not self.policy.can_reduce(axes, group.shape):
            return False
        if position - group.last > _MAX_STEPS_BETWEEN_MEMBERS:
            return False
        group.folds.append((position, step))
        self.needed[step.targets[0]] = group.bit
        return True

    def group_for(self, step: S, shape: tuple[int, ...], position: int) -> Group[S]:
        """Return the region that a step joins; a new one if it can join none."""
        makers = self.candidates(self.maker, step, shape, position)
        readers = self.candidates(self.reader, step, shape, position)
        for group in (*makers, *readers):
            merged: list[Group[S]] = []
            for other in makers:
                if other is not group and all(_may_merge(one, other) for one in (group, *merged)):
                    merged.append(other)
            needed = self.needed_by(step, {group.bit, *(other.bit for other in merged)})
            if needed & group.bit or any(needed & other.bit for other in merged):
                continue
            for other in merged:
                self.merge(group, other)
            self.add_waits(group, needed)
            return group
        return self.new_group(step, shape)

    def new_group(self, step: S, shape: tuple[int, ...]) -> Group[S]:
        """Make a region that begins with a step."""
        if len(self.open) >= _EPOCH:
            self.forget()
        group: Group[S] = Group(1 << len(self.open), shape)
        self.open.append(group)
        self.groups.append(group)
        self.add_waits(group, self.needed_by(step, set()))
        return group

    def candidates(
        self, table: Mapping[int, Group[S]], step: S, shape: tuple[int, ...], position: int
    ) -> list[Group[S]]:
        """Return the regions of this shape in a table of slots, the newest first."""
        found = {id(g): g for slot in step.operands if (g := table.get(slot)) is not None}
        near = [
            g
            for g in found.values()
            if g.shape == shape and position - g.last <= _MAX_STEPS_BETWEEN_MEMBERS
        ]
        return sorted(near, key=lambda g: -g.last)

    def needed_by(self, step: S, joined: Set[int]) -> int:
        """Return bits of the regions that must run before a step that joins ``joined``."""
        bits = 0
        for slot in step.operands:
            bits_of_slot = self.needed.get(slot, 0)
            if bits_of_slot in joined and slot in self.maker:
                continue  # made in the region itself
            bits |= self.closed(bits_of_slot)
        return bits

    def closed(self, bits: int) -> int:
        """Return these regions and all that they wait for."""
        rest, found = bits, bits
        while rest:
            low = rest & -rest
            rest ^= low
            found |= self.open[low.bit_length() - 1].waits_for
        return found

    def add_waits(self, group: Group[S], needed: int) -> None:
        """Note that a region waits for others, and so does whatever waits for it."""
        group.waits_for |= needed
        for other in self.open:
            if other.waits_for & group.bit:
                other.waits_for |= group.waits_for

    def merge(self, group: Group[S], other: Group[S]) -> None:
        """Put the steps of another region into this one."""
        group.members += other.members
        group.folds += other.folds
        other.members, other.folds = [], []
        group.last = max(group.last, other.last)
        for table in (self.maker, self.reader):
            for slot, owner in table.items():
                if owner is other:
                    table[slot] = group
        for slot, bits in self.needed.items():
            if bits & other.bit:
                self.needed[slot] = bits & ~other.bit | group.bit
        for one in self.open:
            if one.waits_for & other.bit:
                one.waits_for |= group.bit
        self.add_waits(group, other.waits_for)


def _may_merge(group: Group[S], other: Group[S]) -> bool:
    """Return True if two regions may be merged: neither waits for the other."""
    return not (group.waits_for & other.bit or other.waits_for & group.bit)

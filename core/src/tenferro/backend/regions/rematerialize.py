"""Cheap values are computed again in the region that reads them, where that keeps fewer arrays.

What one region makes and another reads goes through memory and stays there until then: residuals of
a gradient for the whole of both sweeps. Sums, products and comparisons of what is there anyway cost
less when they are done twice. What a region exports is therefore the smallest set of arrays from
which cheap steps make all that others read: a minimum cut. Read next:
``exports.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cache
from typing import Generic

from tenferro.backend.regions.grouping import Group
from tenferro.backend.regions.step import RegionStep, S
from tenferro.computegraph import vertex_cut
from tenferro.primitives._aval import Aval

__all__ = ["recompute"]

#: What no step made: inputs and literals.
_FOREIGN = frozenset((-1,))


def recompute(
    groups: Sequence[Group[S]],
    steps: Sequence[S],
    avals: Sequence[Aval],
    outputs: Set[int],
    is_cheap: Callable[[S], bool],
) -> None:
    """Let regions make again what they would read from others: two regions or more."""
    group_of = {id(step): g for g in groups for _, step in g.members}
    readers: dict[int, list[S]] = {}
    for step in steps:
        for slot in step.operands:
            readers.setdefault(slot, []).append(step)
    ends = cache(lambda: _ends(steps, outputs))  # most regions hand nothing on that is cheap
    for group in groups:
        made = {step.targets[0]: (position, step) for position, step in group.members}
        _Exports(group, made, group_of, readers, ends, avals, outputs, is_cheap).save()


def _ends(steps: Sequence[RegionStep], outputs: Iterable[int]) -> Callable[[int], float]:
    """Return the position until which a slot's memory is alive anyway; inputs live forever."""
    roots = _roots_of(steps)
    last: dict[int, int] = {}
    for position, step in enumerate(steps):
        for slot in step.operands:
            for root in roots.get(slot, ()):
                last[root] = position
    for slot in outputs:
        last.update(dict.fromkeys(roots.get(slot, ()), len(steps)))
    return lambda slot: min(
        (last.get(root, -1) for root in roots.get(slot, ())), default=float("inf")
    )


def _roots_of(steps: Sequence[RegionStep]) -> dict[int, frozenset[int]]:
    """Return, for each slot that steps make, the slots whose memory it may use."""
    roots: dict[int, frozenset[int]] = {}
    for step in steps:
        if step.shares:
            found = [roots.get(i, _FOREIGN) for i in step.operands]
            roots.update(dict.fromkeys(step.targets, frozenset[int]().union(*found)))
        else:
            for slot in step.targets:
                roots[slot] = frozenset((slot,))
    return roots


class _Exports(Generic[S]):
    """Exports of one region to other steps."""

    def __init__(
        self,
        group: Group[S],
        made: Mapping[int, tuple[int, S]],
        group_of: Mapping[int, Group[S]],
        readers: Mapping[int, Sequence[S]],
        ends: Callable[[], Callable[[int], float]],
        avals: Sequence[Aval],
        outputs: Set[int],
        is_cheap: Callable[[S], bool],
    ) -> None:
        self.group = group
        self.made = made
        self.group_of = group_of
        self.readers = readers
        self.ends = ends
        self.avals = avals
        self.outputs = outputs
        self.is_cheap = is_cheap

    def save(self) -> None:
        """Let the others make again what follows from a smaller cut."""
        to = {slot: found for slot in self.made if (found := self.regions_that_read(slot))}
        if not to:
            return
        end = max(group.last for groups in to.values() for group in groups)
        cut = vertex_cut(to, lambda slot: self.sources(slot, end))
        if len(cut) >= len(to):
            return
        there: dict[int, set[int]] = {}  # what each region makes
        for slot, groups in to.items():
            if slot in cut:
                continue
            again = self.between(cut, slot)
            for group in groups:
                if id(group) not in there:
                    there[id(group)] = {step.targets[0] for _, step in group.members}
                new = [i for i in again if i not in there[id(group)]]
                group.members += [self.made[i] for i in new]
                there[id(group)].update(new)

    def sources(self, slot: int, end: int) -> Sequence[int] | None:
        """Return the operands to keep so that a value can be recomputed; None if it cannot be.

        Operands that are live anyway are left out.
        """
        if slot not in self.made or not self.is_cheap(self.made[slot][1]):
            return None
        operands = self.made[slot][1].operands
        large = [i for i in operands if self.avals[i].size == self.avals[slot].size]
        alive = self.ends()
        return [i for i in large if not (alive(i) >= end or self.is_kept(i))]

    def between(self, cut: Set[int], slot: int) -> list[int]:
        """Return the slots that are recomputed for one, down to the cut and to live values."""
        found: dict[int, None] = {}
        stack = [slot]
        while stack:
            slot = stack.pop()
            if slot in found or slot in cut or slot not in self.made or self.is_kept(slot):
                continue
            found[slot] = None
            stack += self.made[slot][1].operands
        return list(found)

    def regions_that_read(self, slot: int) -> list[Group[S]]:
        """Return the other regions that read a slot; none if any other step reads it."""
        if slot in self.outputs:
            return []
        found: dict[int, Group[S]] = {}
        for reader in self.readers.get(slot, ()):
            group = self.group_of.get(id(reader))
            if group is None or reader.is_assembled:
                return []
            if group is not self.group:
                found[id(group)] = group
        return list(found.values())

    def is_kept(self, slot: int) -> bool:
        """Return True if a slot of this region stays an array, whatever this pass does."""
        return not self.regions_that_read(slot) and (
            slot in self.outputs
            or any(self.group_of.get(id(r)) is not self.group for r in self.readers.get(slot, ()))
        )

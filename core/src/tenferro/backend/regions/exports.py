"""The regions of a plan: groups that are worth it, and what each of them gives to other steps.

``find_regions`` is what backends call. Read next: ``grouping.py``, ``rematerialize.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from importlib import import_module
from typing import Generic

from tenferro.backend.regions.grouping import Finder, Group
from tenferro.backend.regions.step import RegionPolicy, S
from tenferro.primitives._aval import Aval

__all__ = ["Regions", "find_regions"]


class Regions(Generic[S]):
    """The groups of steps that run as regions.

    groups     in the order of their first steps; one without members was emptied
    group_of   of a step, by the identity of the step: the group that it was put into
    exports    of a group, by its identity: the slots that other steps read
    """

    def __init__(self, groups: Sequence[Group[S]]) -> None:
        self.groups = groups
        self.group_of = {id(step): g for g in groups for _, step in (*g.members, *g.folds)}
        self.exports: dict[int, set[int]] = {}


def find_regions(
    steps: Sequence[S],
    avals: Sequence[Aval],
    outputs: Set[int],
    policy: RegionPolicy,
    literals: Collection[int] = (),
) -> Regions[S]:
    """Choose the steps that run together, and what is computed twice instead of kept.

    Parameters
    ----------
    steps : sequence of Step
        The plan, in a valid order.
    avals : sequence of Aval
        The shape and dtype of each slot.
    outputs : set of int
        Slots that the program returns.
    policy : RegionPolicy
        What the backend decides: sizes, reductions, and which steps are cheap.
    literals : collection of int
        Slots of constants; that two steps read one does not join them.

    Returns
    -------
    Regions
        No groups if no region is worth it.
    """
    finder: Finder[S] = Finder(avals, policy, literals)
    for position, step in enumerate(steps):
        finder.place(step, position)
    found = Regions([g for g in finder.groups if g.is_worth_it(policy)])
    if not found.groups:
        return found
    if len(found.groups) > 1:
        recompute = import_module("tenferro.backend.regions.rematerialize").recompute
        recompute(found.groups, steps, avals, outputs, policy.is_cheap)
    for _ in range(2):  # what only a step that is dropped now reads is dropped next
        found.exports = _exports(steps, found.groups, found.group_of, outputs)
        if not any([group.drop_unread(found.exports[id(group)]) for group in found.groups]):
            break
    return found


def _exports(
    steps: Iterable[S],
    groups: Sequence[Group[S]],
    group_of: Mapping[int, Group[S]],
    outputs: Set[int],
) -> dict[int, set[int]]:
    """Return, for each region by identity, the slots that other steps read."""
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

"""Whose memory a value lies in, and where it may be written over.

A step makes new memory, or gives what may share memory with its operands. Memory that the program
made, that no later step and no result may look at, and that only one operand of a step lies in, is
free for the result of that step. Literals belong to others and are never free, inputs only where
they are donated.
Read next: `_regions.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tenferro.primitives import Aval
from tenferro_numpy._steps import Step

__all__ = ["free_operands", "roots_of"]

_FOREIGN = -1


def free_operands(
    steps: Sequence[Step],
    avals: Sequence[Aval],
    outputs: Iterable[int],
    donated: Iterable[int] = (),
) -> list[tuple[int, ...]]:
    """For each step, the operands whose memory may be written over while the step runs."""
    roots = roots_of(steps, donated)
    last: dict[int, int] = {}
    for position, step in enumerate(steps):
        for slot in (*step.operands, *step.targets):
            for root in roots.get(slot, _NOBODYS):
                seen = step.expression.foreign or last.get(root) == len(steps)
                last[root] = len(steps) if seen else position  # code of others may keep it
    for slot in outputs:
        for root in roots.get(slot, _NOBODYS):
            last[root] = len(steps)
    return [_free(step, position, roots, last, avals) for position, step in enumerate(steps)]


_NOBODYS = frozenset((_FOREIGN,))


def roots_of(steps: Sequence[Step], donated: Iterable[int] = ()) -> dict[int, frozenset[int]]:
    """For each slot that steps make, the slots whose memory it may lie in."""
    roots: dict[int, frozenset[int]] = {slot: frozenset((slot,)) for slot in donated}
    for step in steps:
        if not step.expression.shares:
            roots.update((slot, frozenset((slot,))) for slot in step.targets)
            continue
        shared: frozenset[int] = frozenset().union(*(roots.get(i, _NOBODYS) for i in step.operands))
        roots.update((slot, shared) for slot in step.targets)
    return roots


def _free(
    step: Step,
    position: int,
    roots: dict[int, frozenset[int]],
    last: dict[int, int],
    avals: Sequence[Aval],
) -> tuple[int, ...]:
    """The operands of one step whose memory is free: all of it theirs, nobody looks again."""
    found = []
    operands = dict.fromkeys(step.operands)
    for slot in operands:
        mine = roots.get(slot, _NOBODYS)
        if len(mine) != 1 or _FOREIGN in mine:
            continue
        (root,) = mine
        alone = not any(root in roots.get(other, _NOBODYS) for other in operands if other != slot)
        whole = avals[root].size == avals[slot].size and avals[root].dtype is avals[slot].dtype
        if alone and whole and last[root] == position:
            found.append(slot)
    return tuple(found)

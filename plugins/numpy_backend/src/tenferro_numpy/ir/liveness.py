"""Lifetimes of a plan's values, computed once for all passes that free, count or reuse memory.

Read next: `memory/ownership.py`, `memory/registers.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from tenferro_numpy.ir.step import Step

__all__ = ["dying_after", "without_unread"]


def dying_after(steps: Sequence[Step], kept: Iterable[int], count: int) -> list[Sequence[int]]:
    """Return, for each step, the slots that no later step reads; `kept` stay alive."""
    alive = bytearray(count)
    for slot in kept:
        alive[slot] = True
    dying: list[Sequence[int]] = []
    for step in reversed(steps):
        last: list[int] = []
        for slot in (*step.targets, *step.operands):
            if not alive[slot]:
                alive[slot] = True
                last.append(slot)
        dying.append(last or ())
    dying.reverse()
    return dying


def without_unread(steps: list[Step], idle: Collection[Step], outputs: Iterable[int]) -> list[Step]:
    """Return the steps without idle ones that nothing reads."""
    if not idle:
        return steps
    reads = Counter([*outputs, *[slot for step in steps for slot in step.operands]])
    left: list[Step] = []
    for step in reversed(steps):
        if step in idle and not any([reads[slot] for slot in step.targets]):
            reads.subtract(step.operands)
        else:
            left.append(step)
    return left[::-1]

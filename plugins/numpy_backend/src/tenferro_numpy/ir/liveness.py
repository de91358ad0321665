"""How long the values of a plan live: found once, read by all who free, count or reuse memory.

Read next: `memory/ownership.py`, `memory/registers.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tenferro_numpy.ir.step import Step

__all__ = ["dying_after"]


def dying_after(steps: Sequence[Step], kept: Iterable[int], count: int) -> list[Sequence[int]]:
    """For each step the slots, of so many, that nobody reads after it; `kept` live on."""
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

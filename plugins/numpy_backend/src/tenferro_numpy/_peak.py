"""How many bytes a program holds at once, by the liveness of its arrays.

Memory that lines make is counted from the line that makes it to the last line that reads it or a
view of it; results live to the end. Inputs and literals belong to others, and what a line needs
while it runs (scratch of regions, workspace of LAPACK) is not counted. Read next: `_lines.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from tenferro.computegraph._records import NamedTuple
from tenferro.primitives import Aval
from tenferro_numpy._steps import Step

__all__ = ["Peak", "peak_of"]


class Peak(NamedTuple):
    """The most bytes that are alive at once, and in which line; None if no line makes any."""

    bytes: int
    line: int | None


def peak_of(
    steps: Sequence[Step],
    avals: Sequence[Aval],
    owner: Mapping[int, int],
    outputs: Collection[int],
) -> Peak:
    """The peak of steps; `owner` says in whose memory a slot lies."""
    end = _ends(steps, owner, outputs)
    dying: dict[int, list[int]] = {}
    for slot, position in end.items():
        dying.setdefault(position, []).append(slot)
    alive, peak = 0, Peak(0, None)
    for position, step in enumerate(steps):
        alive += sum(_bytes(avals[slot]) for slot in step.targets if owner.get(slot) == slot)
        if alive > peak.bytes:
            peak = Peak(alive, position)
        alive -= sum(_bytes(avals[slot]) for slot in dying.get(position, ()))
    return peak


def _ends(
    steps: Sequence[Step], owner: Mapping[int, int], outputs: Collection[int]
) -> dict[int, int]:
    """For each slot that owns memory the last line that touches it."""
    end: dict[int, int] = {}
    for position, step in enumerate(steps):
        for slot in (*step.targets, *step.operands):
            if slot in owner:
                end[owner[slot]] = position
    end.update({owner[slot]: len(steps) for slot in outputs if slot in owner})
    return end


def _bytes(aval: Aval) -> int:
    return aval.size * aval.dtype.itemsize if aval.shape else 0

"""How many bytes a program holds at once, by the liveness of its arrays.

Memory that lines make is counted from the line that makes it to the last line that reads it or a
view of it; results live to the end. Inputs and literals belong to others, and what a line needs
while it runs (scratch of regions, workspace of LAPACK) is not counted. Read next: `_memory.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from tenferro.computegraph._records import NamedTuple

__all__ = ["Peak", "peak_of"]


class Peak(NamedTuple):
    """The most bytes that are alive at once, and in which line; None if no line makes any."""

    bytes: int
    line: int | None


def peak_of(changes: Sequence[int]) -> Peak:
    """The peak, of the bytes that are alive in each line more than in the line before."""
    alive = [*accumulate(changes)]
    most = max(alive, default=0)
    return Peak(most, alive.index(most) if most else None)

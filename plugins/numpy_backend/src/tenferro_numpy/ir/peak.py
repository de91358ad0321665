"""Bytes of arrays, and peak memory of a program, by the liveness of its arrays.

Memory that lines make is counted from the line that makes it to the last line that reads it or a
view of it; results live to the end. Blocks of rows count with what they make in all threads that
run them. Inputs and literals belong to others; the scratch of regions, which each thread keeps for
the next one, their partial sums, and the workspace of LAPACK are not counted. Read next:
`memory/ownership.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from tenferro.backend.extend import NamedTuple
from tenferro.primitives import Aval

__all__ = ["Peak", "peak_of", "size_of", "total_bytes"]


class Peak(NamedTuple):
    """The most bytes that are alive at once, and in which line; None if no line makes any."""

    bytes: int
    line: int | None


def peak_of(changes: Sequence[int]) -> Peak:
    """Return the peak, given the change of live bytes in each line."""
    alive = [*accumulate(changes)]
    most = max(alive, default=0)
    return Peak(most, alive.index(most) if most else None)


def size_of(aval: Aval) -> int:
    """Return the bytes of an array; 0 for a scalar."""
    return aval.size * aval.dtype.itemsize if aval.shape else 0


def total_bytes(avals: Sequence[Aval]) -> int:
    """Return the bytes of all these arrays together."""
    sizes = {aval: size_of(aval) for aval in set(avals)}
    return sum(map(sizes.__getitem__, avals))

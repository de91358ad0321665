"""Decide whether the lines of a region are faster one by one than tile by tile.

A file of its own, because `region.py`, which runs regions, loads only with a program that has one.
Read next: `region.py`, `plan_passes/fusion/choice.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro_numpy.machine.allocator import PAGES, are_freed_arrays_kept
from tenferro_numpy.machine.tile_size import WORTH_THREADS, Tiling

__all__ = ["are_faster"]

_WORK_OF_TWO_THREADS = WORTH_THREADS  # with one thread, too, so that results are the same


def are_faster(size: int, itemsizes: Sequence[int], work: int, tiling: Tiling) -> bool:
    """Return True if all that lines make stays in a core's cache, and little work is done.

    `itemsizes` are those of the arrays of `size` elements that they make, and `work` the number of
    their operations, which is not enough for two threads.
    """
    fits = size * max(itemsizes, default=0) <= _largest(tiling)
    fits = fits and size * sum(itemsizes) <= tiling.bytes_of_lines
    return fits and size * work < _WORK_OF_TWO_THREADS


def _largest(tiling: Tiling) -> int:
    """Return the bytes of the largest array that lines may make one by one."""
    most = tiling.tiles_of_lines * tiling.bytes
    return most if are_freed_arrays_kept() else min(most, PAGES)

"""How large tiles are, and along which axis an array is divided into them.

All of it follows from the shape, the number of buffers and the size of the second-level cache.
Read next: `_folds.py`, `_tiles.py`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from math import prod
from typing import TypeVar

from tenferro.computegraph._records import NamedTuple

__all__ = [
    "SHRINKS", "Index", "Tiling", "chunks_of", "even_rows", "thread_count", "tile_elements",
    "tile_elements_for", "tiled_axis",
]  # fmt: skip

SHRINKS = 2  # times that a tile may be halved for a region of many buffers
_CHUNKS = 16  # parts of the work that threads take in turn
_SHARE = 8  # whole tiles that fit the cache together
_LEAST, _MOST = 1 << 16, 1 << 19  # bytes of a tile: below, calls cost more; above, nothing gains
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

Index = tuple[int | slice, ...]
_T = TypeVar("_T")


class Tiling(NamedTuple):
    """How many elements a tile has, and how many threads share the work.

    Poisoned, every buffer is filled with bytes that no computation leaves there before it is
    written: what reads a place that nobody wrote is then seen in the results.
    """

    elements: int
    threads: int
    poisoned: bool = False

    @property
    def cache(self) -> int:
        """Bytes of all tiles that are in use together."""
        return 8 * _SHARE * self.elements


def chunks_of(parts: Sequence[_T]) -> list[Sequence[_T]]:
    """Parts of the work in the chunks that threads take in turn, however many threads there are."""
    size = -(-len(parts) // _CHUNKS)
    return [parts[i : i + size] for i in range(0, len(parts), size)]


def tile_elements_for(most: int, buffers: int) -> int:
    """The elements of a tile so that all buffers of a region stay in the cache."""
    halvings = 0
    while halvings < SHRINKS and buffers > _SHARE << halvings:
        halvings += 1
    return max(most >> halvings, 1)


def tiled_axis(shape: Sequence[int], elements: int) -> tuple[int, int]:
    """The first axis whose rows are no larger than a tile, and how many of them make one."""
    inner = prod(shape)
    for axis, extent in enumerate(shape):
        inner //= max(extent, 1)
        if inner <= elements:
            return axis, max(elements // max(inner, 1), 1)
    raise AssertionError("an array of rank 0 has no tiles")


def even_rows(extent: int, rows: int) -> int:
    """The rows of tiles of nearly one size, instead of whole ones and a rest."""
    return -(-extent // max(round(extent / rows), 1))


@cache
def tile_elements() -> int:
    """Elements of eight bytes in an eighth of the second-level cache.

    Its size is read, not measured, because the size of tiles decides the order of sums, and
    results are to be the same in every process.
    """
    size = 1 << 21
    try:
        with open("/sys/devices/system/cpu/cpu0/cache/index2/size", encoding="utf-8") as file:
            text = file.read().strip()
        size = int(text.rstrip("KMG")) * _UNITS[text[-1]]
    except (OSError, ValueError, KeyError, IndexError):
        pass  # another system, or a container that hides it
    return min(max(size // 8, _LEAST), _MOST) // 8


def thread_count() -> int:
    """The processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1

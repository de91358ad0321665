"""Pages of large arrays, kept for the next large array of about the same size.

The C library maps an array of 32 MiB or more anew each time, and the first write to each page
costs as much as several passes of arithmetic. Loops that store one row per step need such an array
in every call. Here the pages outlive the array. The system is told that their contents are not
needed (madvise(2), MADV_FREE): it takes them back when memory runs short, and until then the next
array finds them. A request that no kept pages fit gives all of them back first, so that they never
add to the peak of a program with other sizes. ``TENFERRO_NUMPY_KEEP_MEMORY=0`` keeps none, nor
does a system without MADV_FREE.

Read next: `machine/allocator.py`, which does the same for smaller arrays.
"""

from __future__ import annotations

import mmap
import os
import sys
from collections import deque
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np

from tenferro.backend.extend import after_fork_in_child

__all__ = ["MIN_KEPT_BYTES", "large_memory"]

MIN_KEPT_BYTES = 32 << 20  # from which glibc maps every array anew
_MAX_UNUSED_PART = 4  # a request takes pages that exceed it by at most one part in so many
_PART_OF_MEMORY = 8  # of the machine's memory, that is kept at most

_MADV_FREE = getattr(mmap, "MADV_FREE", None)
_MADV_HUGEPAGE = getattr(mmap, "MADV_HUGEPAGE", None)
#: Pages that no array lies in. Only single calls of a deque touch it: an array may die in any
#: thread, also while another takes pages.
_kept: deque[mmap.mmap] = deque()
after_fork_in_child(_kept.clear)


class _Pages:
    """The owner of the pages of an array; it dies with the last array that lies in them."""

    def __init__(self, pages: mmap.mmap) -> None:
        self.pages = pages
        address = np.frombuffer(pages, np.uint8).__array_interface__["data"][0]
        self.__array_interface__ = {
            "shape": (len(pages),), "typestr": "|u1", "data": (address, False), "version": 3,
        }  # fmt: skip

    def __del__(self) -> None:
        _keep(self.pages)


def large_memory(size: int) -> np.ndarray[Any, Any]:
    """Return at least ``size`` uninitialized bytes, in kept pages if some fit."""
    if not _max_kept_bytes() or _is_counted():
        return np.empty(size, np.uint8)
    return np.asarray(_Pages(_taken(size) or _new(size)))


def _is_counted() -> bool:
    """Return True while tracemalloc runs, which counts what NumPy allocates and no pages."""
    tracemalloc = sys.modules.get("tracemalloc")
    return tracemalloc is not None and tracemalloc.is_tracing()


def _taken(size: int) -> mmap.mmap | None:
    """Return kept pages for so many bytes; if none fit, give all back to the system."""
    for _ in range(len(_kept)):
        try:
            pages = _kept.popleft()
        except IndexError:  # another thread took them
            break
        if size <= len(pages) <= size + size // _MAX_UNUSED_PART:
            return pages
        _kept.append(pages)
    _give_back(0)
    return None


def _new(size: int) -> mmap.mmap:
    """Return new pages of this process alone: a child that is forked writes into copies."""
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if _MADV_HUGEPAGE is not None:
        with suppress(OSError):  # a kernel without huge pages
            pages.madvise(_MADV_HUGEPAGE)  # as NumPy does for its large arrays
    return pages


def _keep(pages: mmap.mmap) -> None:
    """Keep pages that no array lies in any more, within the limit."""
    assert _MADV_FREE is not None
    try:
        pages.madvise(_MADV_FREE)
    except OSError:  # a kernel that does not know it: they go back with their last reference
        return
    _kept.append(pages)
    _give_back(_max_kept_bytes())


def _give_back(limit: int) -> None:
    """Give kept pages back to the system, the oldest first, until at most ``limit`` bytes stay."""
    while sum(map(len, tuple(_kept))) > limit:
        try:
            _kept.popleft().close()
        except IndexError:  # another thread took them
            return


@cache
def _max_kept_bytes() -> int:
    """Return the bytes that are kept at most; 0 where none shall be, or none can be."""
    if _MADV_FREE is None or os.environ.get("TENFERRO_NUMPY_KEEP_MEMORY", "1") == "0":
        return 0
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // _PART_OF_MEMORY

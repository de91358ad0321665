"""Pages of large arrays, kept for the next large array of about the same size.

The C library maps an array of 32 MiB or more anew each time, and the first write to each page
costs as much as several passes of arithmetic. Loops that store one row per step need such an array
in every call. Here the pages outlive the array. The system is told that their contents are not
needed (madvise(2), MADV_FREE): it takes them back when memory runs short, and until then the next
array finds them. Large arrays and kept pages together take at most an eighth more than the large
arrays have once taken at the same time, so that a program with many sizes needs little more than
without this. ``TENFERRO_NUMPY_KEEP_MEMORY=0`` keeps no pages, nor does a system without MADV_FREE.

Read next: `machine/allocator.py`, which does the same for smaller arrays.
"""

from __future__ import annotations

import mmap
import os
import sys
from contextlib import suppress
from functools import cache
from threading import RLock
from typing import Any

import numpy as np

from tenferro.backend.extend import renew_in_children

__all__ = ["PagePool", "large_memory"]

_MAX_UNUSED_PART = 4  # a request takes pages that exceed it by at most one part in so many
_SPARE_PART = 8  # pages beyond the peak that may be kept: one part of it in so many

_MADV_FREE = getattr(mmap, "MADV_FREE", None)
_MADV_HUGEPAGE = getattr(mmap, "MADV_HUGEPAGE", None)


class PagePool:
    """The pages that no array lies in, and how many bytes lie in arrays, now and at most.

    An array may die at any time and in any thread, also while this thread takes pages: the lock is
    reentrant, and no loop over the kept pages runs while they change.
    """

    def __init__(self) -> None:
        self.kept: list[mmap.mmap] = []
        self.used = 0
        self.peak = 0
        self.lock = RLock()
        renew_in_children(self)

    def renew_after_fork(self) -> None:
        """Forget the parent's kept pages, and its lock, which another thread may hold."""
        self.kept = []
        self.lock = RLock()

    def take(self, size: int) -> mmap.mmap:
        """Return pages for so many bytes: kept ones that fit, or new ones."""
        with self.lock:
            fits = size + size // _MAX_UNUSED_PART
            found = min([p for p in self.kept if size <= len(p) <= fits], key=len, default=None)
            if found is not None:
                self.kept.remove(found)
            self.used += size if found is None else len(found)
            self.peak = max(self.peak, self.used)
            self._shrink()
        return _new(size) if found is None else found

    def keep(self, pages: mmap.mmap) -> None:
        """Keep the pages of an array that is gone."""
        assert _MADV_FREE is not None
        with self.lock:
            self.used -= len(pages)
            with suppress(OSError):  # a kernel that has no MADV_FREE: the pages go back
                pages.madvise(_MADV_FREE)
                self.kept.append(pages)
            self._shrink()

    def _shrink(self) -> None:
        """Give kept pages back to the system, the smallest first, until the rest is allowed."""
        allowed = self.peak + self.peak // _SPARE_PART - self.used
        while self.kept and sum(map(len, [*self.kept])) > allowed:
            self.kept.remove(min([*self.kept], key=len))


class _Owner:
    """The owner of the pages of an array; it dies with the last array that lies in them."""

    def __init__(self, pool: PagePool, size: int) -> None:
        self.pool = pool
        self.pages = pool.take(size)
        address = np.frombuffer(self.pages, np.uint8).__array_interface__["data"][0]
        self.__array_interface__ = {
            "shape": (size,), "typestr": "|u1", "data": (address, False), "version": 3,
        }  # fmt: skip

    def __del__(self) -> None:
        self.pool.keep(self.pages)


_pool = PagePool()


def large_memory(size: int, pool: PagePool = _pool) -> np.ndarray[Any, Any]:
    """Return ``size`` uninitialized bytes, in kept pages if some fit."""
    if not _are_pages_kept() or _is_counted():
        return np.empty(size, np.uint8)
    return np.asarray(_Owner(pool, size))


def _is_counted() -> bool:
    """Return True while tracemalloc runs, which counts what NumPy allocates and no pages."""
    tracemalloc = sys.modules.get("tracemalloc")
    return tracemalloc is not None and tracemalloc.is_tracing()


def _new(size: int) -> mmap.mmap:
    """Return new pages of this process alone: a child that is forked writes into copies."""
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if _MADV_HUGEPAGE is not None:
        with suppress(OSError):  # a kernel without huge pages
            pages.madvise(_MADV_HUGEPAGE)  # as NumPy does for its large arrays
    return pages


@cache
def _are_pages_kept() -> bool:
    """Return True if the system can keep pages and the environment does not forbid it."""
    return _MADV_FREE is not None and os.environ.get("TENFERRO_NUMPY_KEEP_MEMORY", "1") != "0"

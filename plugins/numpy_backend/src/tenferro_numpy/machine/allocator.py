"""Tuning of glibc's allocator for the memory of freed arrays.

glibc takes the pages of an array of 128 KiB or more from the system and gives them back when it is
freed, and the free end of its heap, too; to touch new pages costs several times the arithmetic on
them. Its thresholds grow with the largest array that a program has freed, up to 32 MiB (malloc(3),
M_MMAP_THRESHOLD). So one is freed before the first program with such arrays runs: it is never
touched and takes no memory. From then on arrays below 32 MiB are made in the heap, whose free end
goes back to the system when it exceeds 64 MiB. What lies below an array that is alive stays with
the process, however much it is. ``TENFERRO_NUMPY_KEEP_MEMORY=0`` leaves the thresholds as they are.
Where somebody has set a threshold (MALLOC_TRIM_THRESHOLD_ and others), theirs counts; other C
libraries have rules of their own.
"""

from __future__ import annotations

import os
from functools import cache

import numpy as np

__all__ = ["PAGES", "are_freed_arrays_kept", "keep_freed_arrays"]

PAGES = 1 << 16  # bytes from which freed arrays may cost the next one its pages
#: Bytes: with a header less than the 32 MiB that the thresholds grow to.
_MAX_HEAP_ARRAY_BYTES = 31 << 20


@cache
def keep_freed_arrays() -> None:
    """Let arrays find the memory of freed ones, from now on in this process, unless refused."""
    if are_freed_arrays_kept():
        np.empty(_MAX_HEAP_ARRAY_BYTES, np.uint8)


@cache
def are_freed_arrays_kept() -> bool:
    """Return True if the C library is glibc, and the environment does not forbid it."""
    is_glibc = "CS_GNU_LIBC_VERSION" in getattr(os, "confstr_names", ())
    return is_glibc and os.environ.get("TENFERRO_NUMPY_KEEP_MEMORY", "1") != "0"

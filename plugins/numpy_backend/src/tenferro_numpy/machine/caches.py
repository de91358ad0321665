"""Cache size per core, number of processors and their features, as the system reports them.

It is read, not measured, because the size of tiles decides the order of sums, and results are to be
the same in every process. Read next: `machine/tile_size.py`.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module

__all__ = ["cache_of_core", "processor_features", "second_level_cache", "thread_count"]

_USUAL = 1 << 21  # bytes, on another system, or in a container that hides it
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_FOLDER = "/sys/devices/system/cpu/cpu0/cache"


@cache
def cache_of_core(folder: str = _FOLDER) -> int:
    """Return the bytes of the second-level cache, or of a core's share of the third if larger.

    The third level is divided among the processors that share it.
    """
    try:
        found, third = _size(f"{folder}/index2"), f"{folder}/index3"
        return max(found, _size(third) // _sharers(third)) if os.path.exists(third) else found
    except (OSError, ValueError, KeyError, IndexError):
        return _USUAL


@cache
def second_level_cache(folder: str = _FOLDER) -> int:
    """Return the bytes of the second-level cache, which a core has alone."""
    try:
        return _size(f"{folder}/index2")
    except (OSError, ValueError, KeyError, IndexError):
        return _USUAL


def _text(file: str) -> str:
    """Read a file without `pathlib`, whose import costs as much as a tenth of a first gradient."""
    with open(file, encoding="utf-8") as opened:
        return opened.read().strip()


def _size(level: str) -> int:
    text = _text(f"{level}/size")
    return int(text.rstrip("KMG")) * _UNITS[text[-1]]


def _sharers(level: str) -> int:
    """Count the processors in a list such as 0-3,8-11."""
    count = 0
    for part in _text(f"{level}/shared_cpu_list").split(","):
        first, _, last = part.partition("-")
        count += int(last or first) - int(first) + 1
    return count


def thread_count() -> int:
    """Return the number of processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


@cache
def processor_features() -> tuple[str, ...]:
    """Return the instruction sets that NumPy uses here, on which last bits of functions depend."""
    module = import_module("numpy._core._multiarray_umath")  # loaded with NumPy
    found = getattr(module, "__cpu_features__", {})
    return tuple(sorted([name for name, is_there in found.items() if is_there]))

"""Keep the memory mappings of the process below the number that Linux allows.

Each function that XLA compiles for the CPU has mappings of its own: 1 to 4 per instruction of a
program, measured, and 65,530 are allowed (``vm.max_map_count``). LLVM ends the process when it is
refused another. So when half of them are in use, executables that have not run for a while give
up their machine code, and are compiled again when they run again. Read next: ``_executable.py``.
"""

from __future__ import annotations

from itertools import count
from threading import Lock
from typing import Protocol
from weakref import WeakValueDictionary

#: Instructions compiled between two counts of the mappings; a count takes milliseconds.
INTERVAL = 512


class Releasable(Protocol):
    """An executable that can give up its machine code; ``used`` says that it ran of late."""

    used: bool

    def release(self) -> None:
        """Give up the machine code."""


_alive: WeakValueDictionary[int, Releasable] = WeakValueDictionary()
_serials = count()
_lock = Lock()
_since_count = 0


def register(executable: Releasable) -> None:
    """Note an executable that may be asked for its machine code."""
    with _lock:
        _alive[next(_serials)] = executable


def make_room(instructions: int) -> None:
    """Release what has not run since the last release, if mappings become scarce.

    To be called before a program of so many instructions is compiled.
    """
    global _since_count
    with _lock:
        _since_count += instructions + 1
        if _since_count < INTERVAL:
            return
        _since_count = 0
        if mappings() <= allowed() // 2:
            return
        executables = list(_alive.values())
        idle = [executable for executable in executables if not executable.used]
        for executable in idle or executables[: len(executables) // 2]:
            executable.release()
        for executable in executables:
            executable.used = False


def mappings() -> int:
    """Return the memory mappings of this process; 0 if the system does not say."""
    try:
        with open("/proc/self/maps", "rb") as lines:
            return lines.read().count(b"\n")
    except OSError:
        return 0


def allowed() -> int:
    """Return the mappings that a process may have; 2³¹ if the system does not say."""
    try:
        with open("/proc/sys/vm/max_map_count", "rb") as text:
            return int(text.read())
    except OSError:
        return 2**31

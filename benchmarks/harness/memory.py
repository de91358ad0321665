"""The memory of this process, as Linux says."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any


def peak(call: Callable[[], Any], times: int = 2) -> int:
    """The most bytes that some calls had over what was there before."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # gives what is free back to the system
    Path("/proc/self/clear_refs").write_text("5", "ascii")  # the peak starts anew
    before = status("VmRSS")
    for _ in range(times):
        call()
    return status("VmHWM") - before


def status(name: str) -> int:
    """A figure of this process in bytes."""
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {name}")

"""Whether an array that is assigned into is held by anybody: ``x[0][1] = 5`` is lost otherwise.

Indexing copies, so the array that ``x[0]`` makes is seen by nobody after the statement. CPython
counts references; how many a held array and an unheld one have inside ``__setitem__`` is found out
once, for the interpreter that runs. Where both counts are the same (an interpreter that borrows or
counts otherwise), nothing is detected: silence is better than refusing what is right.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import FrameType
from typing import Any

_count = getattr(sys, "getrefcount", None)


class _Probe:
    """Sees how many references there are to itself when it is assigned into."""

    def __init__(self, seen: list[int]) -> None:
        self.seen = seen

    def __setitem__(self, index: int | slice, value: object) -> None:
        self.seen.append(sys.getrefcount(self))


def _calibrate() -> int:
    """The count of an array that nobody holds, or 0 where it tells nothing."""
    if _count is None or sys.implementation.name != "cpython":
        return 0
    unheld: list[int] = []
    held: list[int] = []
    local, items = _Probe(held), [_Probe(held)]
    place: Any = type("Holder", (), {})()
    place.attribute = _Probe(held)
    for _ in range(20):  # as often as it takes to specialize the code
        _Probe(unheld)[0] = 0
        _Probe(unheld)[0:1] = 0
        local[0] = 0
        local[0:1] = 0
        items[0][0] = 0
        place.attribute[0] = 0
    return max(unheld) if max(unheld) < min(held) else 0


UNHELD = _calibrate()


def is_statement(frame: FrameType) -> bool:
    """Whether a frame is at an assignment to an item, and not at a call of ``__setitem__``."""
    opmap = import_module("opcode").opmap  # only where something looks wrong
    storing = opmap["STORE_SUBSCR"], opmap.get("STORE_SLICE")  # the latter since Python 3.12
    return frame.f_code.co_code[frame.f_lasti] in storing


def written_as_one(line: str) -> str:
    """How to write ``x[0][1] = 5``: ``x[0, 1] = 5``; empty where that is not certain."""
    pattern = r"\s*([\w.]+)\[(-?\d+)\]\[([^][]+)\](\s*\W{0,3}=.*)"
    match = import_module("re").match(pattern, line)
    return f"{match[1]}[{match[2]}, {match[3]}]{match[4]}" if match else ""

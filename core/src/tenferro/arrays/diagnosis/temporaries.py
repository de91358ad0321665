"""Detection of assignments into a temporary array: ``x[0][1] = 5`` would be lost.

Indexing copies, so the array that ``x[0]`` makes cannot be reached after the statement. CPython
counts references. How many references a held and an unheld array have inside ``__setitem__`` is
measured once, for the running interpreter; those inside ``__iter__`` likewise, for
`copy_warnings.py`. If both counts are equal (in an interpreter that
counts otherwise), nothing is detected: no message is better than an error about correct code.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from types import FrameType
from typing import Any

from tenferro.arrays.errors import LostAssignmentError
from tenferro.primitives._source import caller, source_text

_count = getattr(sys, "getrefcount", None)


class _Probe:
    """Sees how many references there are to itself when it is assigned into or iterated over."""

    def __init__(self, seen: list[int]) -> None:
        self.seen = seen

    def __setitem__(self, index: int | slice, value: object) -> None:
        self.seen.append(sys.getrefcount(self))

    def __iter__(self) -> Iterator[int]:
        self.seen.append(sys.getrefcount(self))
        return iter((0,))


def _calibrate() -> int:
    """Return the reference count of a temporary array, or 0 if the count tells nothing."""
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


def _calibrate_iteration() -> int:
    """Return the reference count of an array that only a loop refers to, or 0."""
    if _count is None or sys.implementation.name != "cpython":
        return 0
    unheld: list[int] = []
    held: list[int] = []
    local, items = _Probe(held), [_Probe(held)]
    for _ in range(20):
        for _ in _Probe(unheld):
            pass
        (_,) = _Probe(unheld)
        for _ in local:
            pass
        (_,) = local
        for _ in items[0]:
            pass
    return max(unheld) if max(unheld) < min(held) else 0


UNHELD = _calibrate()
UNHELD_ITERABLE = _calibrate_iteration()


def is_statement(frame: FrameType) -> bool:
    """Return True if a frame is at an item assignment, not at a call of ``__setitem__``."""
    opmap = import_module("opcode").opmap  # only where something looks wrong
    storing = opmap["STORE_SUBSCR"], opmap.get("STORE_SLICE")  # the latter since Python 3.12
    return frame.f_code.co_code[frame.f_lasti] in storing


def written_as_one(line: str) -> str:
    """Suggest ``x[0, 1] = 5`` for ``x[0][1] = 5``; empty if that is not certain."""
    pattern = r"\s*([\w.]+)\[(-?\d+)\]\[([^][]+)\](\s*\W{0,3}=.*)"
    match = import_module("re").match(pattern, line)
    return f"{match[1]}[{match[2]}, {match[3]}]{match[4]}" if match else ""


def lost_assignment(x: Any) -> LostAssignmentError:
    """Make the error about an assignment into an array that only its statement sees."""
    source = caller()
    line = source_text(source) or ""
    better = written_as_one(line.partition("   ")[2]) or "x[i, j] = v` for `x[i][j] = v"
    return LostAssignmentError(
        "an assignment into a temporary array would be lost\n"
        f"  got        an array {x.aval} that only this statement sees\n"
        f"  from       {line}\n"
        f"  hint       indexing and methods copy, they make no views; write `{better}`",
        aval=x.aval,
    )

"""Errors of ours that compiled code of NumPy or SciPy drops.

``scipy.optimize.brentq`` uses the number that the user's function returns, does not check whether
its conversion failed, and calls the function again while our error is still set. The interpreter
then raises another error, somewhere below, which depends on what ran before. The boundary of the
public function raises ours instead. Read next: ``_boundary.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any, TypeVar

from tenferro.computegraph import TenferroError
from tenferro.primitives._tracebacks import full_traceback

_E = TypeVar("_E", bound=TenferroError)

_OURS = "tenferro"
_LIBRARIES = frozenset(("numpy", "scipy"))
_NOTE = "error of tenferro"  # a local variable of the library's frame, gone when that returns


def note_refusal(error: _E) -> _E:
    """Return an error that is about to be raised, and note it if compiled code gets it.

    The frame that called this code keeps the place of the call and a copy of the error: the error
    itself, once raised, would keep all frames.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _package(frame) == _OURS:
        frame = frame.f_back
    if frame is not None and _package(frame) in _LIBRARIES:
        copy = type(error)(str(error), **error.fields)
        frame.f_locals[_NOTE] = frame.f_lasti, copy
    return error


def dropped(error: BaseException) -> Any:
    """Return the error of ours that a call into compiled code got before it raised ``error``.

    Return None if no call on the way of ``error`` got one. Where a frame of NumPy or SciPy raised
    ``error`` from another error, the way of that one is searched, too.
    """
    link: BaseException | None = error
    while link is not None:
        last = None
        for last, instruction in _entries(link):
            noted = last.f_locals.get(_NOTE) if _package(last) in _LIBRARIES else None
            if noted is not None and noted[0] == instruction and type(noted[1]) is not type(error):
                return noted[1]
        link = link.__cause__ if last is not None and _package(last) in _LIBRARIES else None
    return None


def _entries(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    traceback = full_traceback(error)
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lasti
        traceback = traceback.tb_next


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__") or "").partition(".")[0]

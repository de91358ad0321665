"""Position in the user's program at which a value was recorded.

A source is a code object and an instruction offset, two pointers; its line is looked up only when
a message needs it. Frames of tenferro, of libraries that call it, and of the standard library's
wrappers (``cached_property``, ``contextmanager``) are not the user's.
"""

from __future__ import annotations

import sys
from types import CodeType, FrameType, TracebackType

Source = tuple[CodeType, int]
_LIBRARIES = frozenset(
    "contextlib functools matplotlib numpy optree pandas scipy sklearn tenferro xarray".split()
)
_KEPT_FILES = 10_000
_LONGEST_LINE = 160  # characters of a user's line in a message
_of_libraries: dict[str, bool] = {}  # whether a file is a library's


def caller(start: int = 2) -> Source | None:
    """Return the innermost frame that belongs to the user; frames below ``start`` do not."""
    getframe = sys._getframe  # by depth: going from frame to frame would make objects of them all
    is_of_library, depth = _of_libraries.get, start
    try:
        while True:
            frame = getframe(depth)
            code = frame.f_code
            known = is_of_library(code.co_filename)
            if not known and (known is False or not _is_library(frame)):
                return code, frame.f_lasti
            depth += 1
    except ValueError:  # the stack is not so deep
        return None


def raised_at(traceback: TracebackType | None) -> Source | None:
    """Return the innermost frame of a traceback that belongs to the user."""
    found = None
    while traceback is not None:
        frame = traceback.tb_frame
        if not _is_library(frame):
            found = frame.f_code, traceback.tb_lasti
        traceback = traceback.tb_next
    return found


def stack_level() -> int:
    """Return the ``stacklevel`` with which the calling function warns at the user's line."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _is_library(frame):
        frame, level = frame.f_back, level + 1
    return level


def _is_library(frame: FrameType) -> bool:
    """Return True if a frame is of a library; memoized by file, unless the name is made up."""
    module = frame.f_globals.get("__name__") or ""
    found = module.partition(".")[0] in _LIBRARIES
    name = frame.f_code.co_filename
    if not name.startswith("<"):
        if len(_of_libraries) >= _KEPT_FILES:
            _of_libraries.clear()
        _of_libraries[name] = found
    return found


def source_text(source: Source | str | None) -> str | None:
    """``model.py:12   y = W @ x``, or ``None`` where nothing is known."""
    if source is None or isinstance(source, str):
        return source
    code, offset = source
    if offset < 0:
        return code.co_filename.rpartition("/")[2]
    return line_text(code.co_filename, line_number(source))


def line_text(filename: str, line: int | None) -> str:
    """``model.py:12   y = W @ x`` for a line as the file has it now."""
    text = _text_of(filename, line) if line else ""
    name = filename.rpartition("/")[2]
    return f"{name}:{line or '?'}{f'   {text}' if text else ''}"


def line_number(source: Source) -> int | None:
    """Return the line of a source in its file."""
    code, offset = source
    for start, end, line in code.co_lines():
        if start <= offset < end:
            return line
    return None


def _text_of(filename: str, line: int) -> str:
    linecache = sys.modules.get("linecache")
    if linecache is None:
        linecache = __import__("linecache")
    text = str(linecache.getline(filename, line)).strip()
    return text if len(text) <= _LONGEST_LINE else f"{text[:_LONGEST_LINE]}…"

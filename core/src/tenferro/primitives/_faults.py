"""Attribution of a plain Python error: to the arguments, or to a bug in tenferro.

An error that is raised by a statement of ours is a check of an argument. One that Python raises by
itself (an attribute that does not exist, a call with too few arguments) is the arguments' fault if
it happened where arguments are converted and speaks of a value like one of them; otherwise the
arguments cannot explain it. Everything here runs only when an error has been raised. Read next:
``_boundary.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from importlib import import_module
from types import FrameType, TracebackType
from typing import Any

_CONVERTING = "tenferro.arrays"  # the layer whose functions convert and check arguments
_EVALUATION = "tenferro.arrays.evaluation.evaluate"
_ENGINES = frozenset(("jax", "jaxlib"))  # they check what our lowerings give them
_OF_TYPES = (AttributeError, TypeError)
_BUGS = (AssertionError, NameError)
_NUMBERS = frozenset(("int", "float", "complex", "bool"))
# Patterns are compiled at the first error: compiling them takes longer than loading this file.
_TYPES_IN_TEXT = r"'([\w.]+)'|, not ([\w.]+)$|non-iterable ([\w.]+) object"
_SIGNATURE = r"([\w.<>]+)\(\) (?:missing |takes |got )"
_TAKES_MORE, _TAKES_ANY = 0x04, 0x08  # flags of code objects: *args, **kwargs
_OF_A_FUNCTION = 0x01  # flag of code whose locals are no namespace of a module or class
_DEPTH = 4  # how deep containers among the arguments are looked through
_MAX_VALUES_TO_EXAMINE = 1000  # values among the arguments that are looked at


def is_a_bug(error: Exception, traceback: TracebackType | None, boundary: FrameType | None) -> bool:
    """Return True if no argument of the public function explains an error raised in our code.

    ``traceback`` begins below the frame of the public function, ``boundary``.
    """
    if isinstance(error, _BUGS):
        return True
    if isinstance(error, MemoryError):
        return False
    innermost, ours = _ends(traceback)
    if innermost is None or ours is None or boundary is None:
        return False
    if _instruction(innermost) == "RAISE_VARARGS":
        return _package(innermost) in _ENGINES
    if isinstance(error, KeyError):
        return not _explains_key(error, boundary)
    if isinstance(error, _OF_TYPES):
        told = _about_types(error, ours, boundary)
        if told is not None:
            return not told
    name = _module(ours)
    return not name.startswith(_CONVERTING) or name == _EVALUATION


def place(traceback: TracebackType | None) -> tuple[str, str]:
    """Return the package of the innermost of our frames, and where it is.

    The place is a text such as ``tenferro/arrays/handle/convert.py:12, in asarray``.
    """
    _, ours = _ends(traceback)
    if ours is None:
        return "tenferro", "unknown"
    code, package = ours.tb_frame.f_code, _package(ours)
    path = code.co_filename.replace("\\", "/").split("/")
    start = len(path) - 1 - path[::-1].index(package) if package in path else -1
    text = f"{'/'.join(path[start:])}:{ours.tb_lineno}, in {code.co_name}"
    return package.replace("_", "-"), text


def _ends(
    traceback: TracebackType | None,
) -> tuple[TracebackType | None, TracebackType | None]:
    """Return the innermost entry, and the innermost entry of tenferro."""
    innermost = ours = None
    while traceback is not None:
        innermost = traceback
        if _is_of_tenferro(traceback):
            ours = traceback
        traceback = traceback.tb_next
    return innermost, ours


def _module(entry: TracebackType) -> str:
    return str(entry.tb_frame.f_globals.get("__name__") or "")


def _package(entry: TracebackType) -> str:
    return _module(entry).partition(".")[0]


def _is_of_tenferro(entry: TracebackType) -> bool:
    return _package(entry).startswith("tenferro")


def _instruction(entry: TracebackType) -> str:
    names: Any = import_module("opcode").opname
    return str(names[entry.tb_frame.f_code.co_code[entry.tb_lasti]])


# ---- what an error says, against the arguments ---------------------------------------------------


def _about_types(error: Exception, ours: TracebackType, boundary: FrameType) -> bool | None:
    """Return True if the error names the type of an argument; None if it names no type."""
    text = str(error)
    if (called := re.match(_SIGNATURE, text)) is not None:
        passes_on = _instruction(ours) == "CALL_FUNCTION_EX"
        return passes_on or _is_given(called[1], ours, boundary)
    if isinstance(error, AttributeError) and error.name is not None:
        if str(error.name).startswith("_") and not str(error.name).startswith("__"):
            return False  # a private attribute: no argument is asked for one
        named = {type(error.obj).__name__}
    else:
        named = {found for groups in re.findall(_TYPES_IN_TEXT, text) for found in groups if found}
    if not named:
        return None
    known = {name for value in _values(boundary) for name in _names(type(value))}
    return (named - _NUMBERS or named) <= known


def _is_given(name: str, ours: TracebackType, boundary: FrameType) -> bool:
    """Return True if the user gave the function of this name, which did not fit our call."""
    given = [value for value in _values(boundary) if _has_name(value, name)]
    seen = _locals(ours.tb_frame).values()  # a rule calls functions of an earlier public call
    return bool(given) or any([_has_name(x, name) and not _is_ours(x) for x in seen])


def _has_name(value: Any, name: str) -> bool:
    """Return True if Python calls the function, or the type of the callable object, ``name``."""
    while isinstance(value, partial):
        value = value.func
    names = [getattr(value, field, None) for field in ("__qualname__", "__name__")]
    return callable(value) and name in (*names, f"{type(value).__qualname__}.__call__")


def _is_ours(function: Any) -> bool:
    return str(getattr(function, "__module__", "")).startswith("tenferro")


def _explains_key(error: KeyError, boundary: FrameType) -> bool:
    """Return True if the missing key is an argument, or an argument is a mapping."""
    missing_key = error.args[0] if error.args else None
    for value in _values(boundary):
        if isinstance(value, Mapping) or value is missing_key:
            return True
        if isinstance(value, str) and value == missing_key:
            return True
    return False


def _names(kind: type) -> tuple[str, str]:
    return kind.__name__, f"{kind.__module__}.{kind.__qualname__}"


def _values(boundary: FrameType) -> Iterator[Any]:
    """Yield the arguments of a public function and the contents of their lists, tuples and
    dicts.
    """
    level, seen = _arguments(boundary), 0
    for _ in range(_DEPTH):
        below: list[Any] = []
        for value in level:
            yield value
            seen += 1
            if seen > _MAX_VALUES_TO_EXAMINE:
                return
            below += _inside(value)
        level = below


def _inside(value: Any) -> list[Any]:
    """Return the contents of a container; of a NumPy array the first element."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)[:_MAX_VALUES_TO_EXAMINE]
    if isinstance(value, dict):
        return [
            *list(value)[:_MAX_VALUES_TO_EXAMINE],
            *list(value.values())[:_MAX_VALUES_TO_EXAMINE],
        ]
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) and value.size:
        return [value[0]]
    return []


def _arguments(boundary: FrameType) -> list[Any]:
    """Return the arguments with which a public function was called."""
    code, given = boundary.f_code, _locals(boundary)
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & _TAKES_MORE) + bool(code.co_flags & _TAKES_ANY)
    found: list[Any] = []
    for name in code.co_varnames[:count]:
        if name == "args":
            found += given[name]
        elif name == "kwargs":
            found += given[name].values()
        else:
            found.append(given[name])
    return found


def _locals(frame: FrameType) -> dict[str, Any]:
    """Return a copy of the variables that a frame can read, those of outer functions included."""
    kept = frame.f_locals
    found = dict(kept)
    if type(kept) is dict and frame.f_code.co_flags & _OF_A_FUNCTION:
        kept.clear()  # Python keeps this copy with the frame: the error in it would live as long
    return found

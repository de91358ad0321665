"""Find out which operation of the user's program asked an Array for its value.

A function of NumPy or SciPy that is written in Python is a frame on the stack. One that is written
in C has no frame; its call is read from the position of the user's instruction. Everything here
runs only when an error is about to be raised. Read next: ``diagnosis/refusals.py``.
"""

from __future__ import annotations

import sys
from importlib import import_module
from itertools import islice
from types import CodeType, FrameType, ModuleType
from typing import Any

from tenferro._runtime.records import NamedTuple

_OURS = "tenferro"
_LIBRARIES = frozenset("numpy scipy math cmath matplotlib pandas sklearn xarray".split())
_WRAPPERS = frozenset(  # functions that decorators of SciPy return
    ("wrapper", "inner", "inner_f", "wrapped", "axis_nan_policy_wrapper", "__ua_function__")
)
_WRAPPED = (
    "f",
    "fun",
    "func",
    "hypotest_fun_in",
    "method",
    "fit_method",
)  # their variables: what was called
_PARTS = {
    "numpy": ("numpy", "numpy.linalg", "numpy.fft", "numpy.random", "numpy.testing"),
    "math": ("math",),
    "cmath": ("cmath",),
}


class Asker(NamedTuple):
    """The operation that asked; empty strings and None where it cannot be found out."""

    function: str = ""  # by its public name: "np.sum", "scipy.integrate.quad", "math.sin", "range"
    written: str = ""  # the expression of the user that asks: "np.array([x, y])"
    operation: str = ""  # name of the instruction: "CALL", "STORE_SUBSCR", "POP_JUMP_IF_FALSE"
    statement: str = ""  # the user's whole line


def asker() -> Asker:
    """Return what asked the caller of this function's caller."""
    outermost, frame = _library_and_user(sys._getframe(2))
    if frame is None or _module(frame).partition(".")[0] == _OURS:
        return Asker()
    written, statement = _written(frame)
    function = _of_frame(outermost) if outermost is not None else _called(written, frame)
    return Asker(function, written, _operation(frame), statement)


def _operation(frame: FrameType) -> str:
    """Return the name of the instruction of a frame; that of `not` where `not` follows.

    From Python 3.13 on the instruction before ``UNARY_NOT`` asks for the bool.
    """
    names = import_module("opcode").opname
    code = frame.f_code.co_code
    ahead = (names[op] for op in islice(code, frame.f_lasti, None, 2))
    asking = str(next(ahead))
    if asking not in ("TO_BOOL", "COMPARE_OP"):
        return asking
    after = next((name for name in ahead if name != "CACHE"), "")
    return after if after == "UNARY_NOT" else asking


def asker_in(library: str) -> str:
    """Return the public name of what asked if it is a Python function of a library, else ""."""
    outermost, _ = _library_and_user(sys._getframe(2))
    if outermost is None or _module(outermost).partition(".")[0] != library:
        return ""
    return _of_frame(outermost)


def _library_and_user(frame: FrameType | None) -> tuple[FrameType | None, FrameType | None]:
    """Return the outermost frame of the calling library, and the frame below that called it."""
    while frame is not None and _module(frame).partition(".")[0] == _OURS:
        frame = frame.f_back
    outermost: FrameType | None = None
    while frame is not None and _module(frame).partition(".")[0] in _LIBRARIES:
        outermost, frame = frame, frame.f_back
    return outermost, frame


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__") or "")


# ---- from a frame of a library -------------------------------------------------------------------


def _of_frame(frame: FrameType) -> str:
    """Return the public name of the NumPy or SciPy function that a frame runs."""
    behind: Any = _wrapped(frame)
    if behind is not None:
        return public_name(behind.__module__, behind.__name__)
    qualified: str = frame.f_code.co_qualname.replace(".<locals>", "")
    owner, _, name = qualified.partition(".")
    if name and "AxisConcatenator" in owner:
        kind = type(frame.f_locals.get("self")).__name__
        return {"RClass": "np.r_", "CClass": "np.c_"}.get(kind, "np.r_")
    if name and "self" in frame.f_locals:  # a method, perhaps of a private base class
        cls = type(frame.f_locals["self"])
        if cls.__module__.startswith("scipy.stats.") and cls.__name__.endswith("_gen"):
            return f"scipy.stats.{cls.__name__.removesuffix('_gen')}.{name}"
        return public_name(cls.__module__, cls.__name__)
    return public_name(_module(frame), owner)


def _wrapped(frame: FrameType) -> Any:
    """Return the function that the wrapper of a decorator calls; None for any other frame."""
    if frame.f_code.co_name not in _WRAPPERS:
        return None
    found = (frame.f_locals.get(name) for name in _WRAPPED)
    return next((f for f in found if hasattr(f, "__module__") and hasattr(f, "__name__")), None)


def public_name(module: str, name: str) -> str:
    """Return the name under which users import a function: np.sum, scipy.integrate.quad."""
    for part in _PARTS.get(module.partition(".")[0], ()) or _parts_of(module):
        if hasattr(sys.modules.get(part), name):
            return f"{part}.{name}".replace("numpy.", "np.", 1)
    return f"{module}.{name}".replace("numpy.", "np.", 1)


def _parts_of(module: str) -> tuple[str, ...]:
    pieces = [piece for piece in module.split(".") if not piece.startswith("_")]
    first = 2 if pieces[0] == "scipy" else 1  # other libraries have their classes at the top
    return tuple(".".join(pieces[:count]) for count in range(first, len(pieces) + 1))


# ---- from the user's instruction -----------------------------------------------------------------


def _written(frame: FrameType) -> tuple[str, str]:
    """Return the expression that a frame's current instruction belongs to, and its line."""
    linecache = import_module("linecache")
    filename = frame.f_code.co_filename
    statement = linecache.getline(filename, frame.f_lineno, frame.f_globals).strip()
    return written_at(frame.f_code, frame.f_lasti, frame.f_globals), statement


def written_at(code: CodeType, offset: int, names: dict[str, Any] | None = None) -> str:
    """Return the expression that an instruction belongs to; empty if the text is not known."""
    linecache = import_module("linecache")
    place = next(islice(code.co_positions(), offset // 2, None), None)
    if place is None or None in place:
        return ""
    first, last, left, right = (int(number or 0) for number in place)
    lines = [
        linecache.getline(code.co_filename, number, names).rstrip("\n").encode()
        for number in range(first, last + 1)
    ]
    if not lines:
        return ""
    lines[-1] = lines[-1][:right]
    lines[0] = lines[0][left:]
    return b"\n".join(lines).decode(errors="replace")


def _called(written: str, frame: FrameType) -> str:
    """Return the public name of the function that a call, given as text, calls.

    Return the text itself if the function is unknown.
    """
    name = callee(written)
    if not name:
        return ""
    found = _looked_up(name, frame)
    module = getattr(found, "__module__", None) or ""
    if isinstance(found, type) and module in ("numpy", "builtins"):
        return f"{module}.{found.__name__}".replace("numpy.", "np.").removeprefix("builtins.")
    if module.partition(".")[0] in _LIBRARIES:
        return public_name(module, getattr(found, "__name__", name))
    if type(found).__name__ == "ufunc":
        if hasattr(sys.modules.get("numpy"), found.__name__):
            return f"np.{found.__name__}"
        return f"scipy.special.{found.__name__}"
    owner, _, method = name.rpartition(".")
    if found is None and owner and hasattr(import_module("numpy").ndarray, method):
        return f"ndarray.{method}"
    return name


def callee(written: str) -> str:
    """Return the dotted text that a call calls: ``np.array`` of ``np.array([x, y])``."""
    ast = import_module("ast")
    try:
        tree = ast.parse(written.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return ""
    return str(ast.unparse(tree.func)) if isinstance(tree, ast.Call) else ""


def _looked_up(name: str, frame: FrameType) -> Any:
    """Look up a dotted name in a frame; attributes are read from modules only."""
    first, *rest = name.split(".")
    spaces = (frame.f_locals, frame.f_globals, frame.f_globals.get("__builtins__"))
    found = None
    for space in spaces:
        values = vars(space) if isinstance(space, ModuleType) else space
        if isinstance(values, dict) and first in values:
            found = values[first]
            break
    for attribute in rest:
        if not isinstance(found, ModuleType):
            return None
        found = getattr(found, attribute, None)
    return found

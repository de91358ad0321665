"""Functions of SciPy that convert what they are given, where tenferro has one of that name.

They know no protocol: an Array would become plain numbers in them, silently. Whoever asks an Array
for its numbers is on the stack, so that the error can say what to call instead. Ufuncs of
``scipy.special`` are not concerned: they come through ``_protocols.py``.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import FrameType
from typing import Any

from tenferro.array._errors import UnsupportedFunctionError
from tenferro.primitives._source import caller, source_text

_NAMESPACES = ("fft", "linalg", "special")
_LIBRARIES = ("numpy", "scipy")
_BEHIND = {"wrapper": "f", "__ua_function__": "method"}  # variables that hold what was called


def refuse_scipy() -> None:
    """Raise if the conversion that runs was asked for by a function of these parts of SciPy.

    Raises UnsupportedFunctionError: naming the function to call instead, if there is one.
    """
    module, name = _asking(sys._getframe(2))
    part = module.split(".")[1] if module.startswith("scipy.") else ""
    if part not in _NAMESPACES:
        return
    names = import_module(f"tenferro.{part}").__all__
    nearest = f"tenferro.{part}.{name}" if name in names else None
    raise UnsupportedFunctionError(
        f"scipy.{part}.{name} takes no tenferro arrays: it would make plain numbers of them\n"
        f"  from       {source_text(caller())}\n"
        + (f"  nearest    {nearest}\n" if nearest else "")
        + "  hint       for a value that is meant as a constant, call it on\n"
        "             `np.asarray(tenferro.stop_gradient(x))`",
        function=f"scipy.{part}.{name}",
        nearest=nearest,
    )


def _asking(frame: FrameType | None) -> tuple[str, str]:
    """Module and name of the function of NumPy or SciPy that the user called."""
    found = "", ""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] not in _LIBRARIES:
            break
        found = _decorated(frame) or (module, frame.f_code.co_name)
        frame = frame.f_back
    return found


def _decorated(frame: FrameType) -> tuple[str, str] | None:
    """The function behind a decorator of SciPy's, or behind its choice of a backend."""
    function: Any = frame.f_locals.get(_BEHIND.get(frame.f_code.co_name, ""))
    return None if function is None else (function.__module__, function.__name__)

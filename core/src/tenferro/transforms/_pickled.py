"""How functions that tenferro has wrapped are pickled: by name where that finds them.

A decorated function of a module is the module's attribute, so its name is enough, as for any
function of Python. What no name finds is taken apart by its class. Read next: ``_jit.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from tenferro.computegraph import SerializationError

_BY_VALUE = ("cloudpickle", "dill")  # picklers that write functions themselves, not their names


def found_by_name(function: Any) -> str:
    """The qualified name under which its module has this object; empty if it has another or none.

    >>> from json import loads
    >>> found_by_name(loads), found_by_name(lambda: 0)
    ('loads', '')
    """
    name = getattr(function, "__qualname__", "")
    found: Any = sys.modules.get(getattr(function, "__module__", None) or "")
    for part in name.split("."):
        found = vars(found).get(part) if hasattr(found, "__dict__") else None
    return name if found is function else ""


class PickledByName:
    """An object that wraps a function: atomic in copies, a name in pickles if the name finds it."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        return found_by_name(self) or self._taken_apart(protocol)

    def _taken_apart(self, protocol: Any) -> Any:
        return super().__reduce_ex__(protocol)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


def check_picklable(function: Callable[..., Any], what: str) -> None:
    """Raise SerializationError for a function without a name, unless a pickler takes its code."""
    if getattr(function, "__qualname__", None) is None or found_by_name(function):
        return  # a callable object of the user, which pickles as its class says
    if hasattr(function, "__self__") or _pickles_by_value():
        return
    name = f"{getattr(function, '__module__', None)}.{function.__qualname__}"
    raise SerializationError(
        f"{what} cannot be pickled: no name finds the function {name}\n"
        "  hint       define it at the top of a module, or pickle with cloudpickle, which takes\n"
        "             lambdas and inner functions",
        function=name,
    )


def _pickles_by_value() -> bool:
    """Whether one of the picklers that write the code of functions is at work."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if any(name in frame.f_globals.get("__name__", "") for name in _BY_VALUE):
            return True
        frame = frame.f_back
    return False

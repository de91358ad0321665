"""Functions that ``as_jax`` and ``from_jax`` make, and how they are pickled.

As other functions that tenferro wraps, one is pickled by its own name, or as the bridge with the
function and the options. ``jax.jit`` and functions of ``jax.numpy`` refuse to be pickled, so that
they are written by name here. Read next: ``_as_jax.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from types import FunctionType, MethodType
from typing import Any

from tenferro.transforms.pickled import PickledByName, check_picklable, found_by_name, named_after

__all__ = ["Bridged"]


class Bridged(PickledByName):
    """The function that a bridge makes of another one, for some options of the bridge."""

    __slots__ = ("__dict__", "__weakref__", "_bridge", "_compute", "_function", "_options")

    def __init__(
        self,
        bridge: str,
        function: Callable[..., Any],
        options: dict[str, Any],
        compute: Callable[..., Any],
    ) -> None:
        named_after(self, function)
        self._bridge = bridge
        self._function = function
        self._options = options
        self._compute = compute

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function on the other side."""
        return self._compute(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind as a method, as functions do."""
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        name = getattr(self._function, "__qualname__", None) or repr(self._function)
        return f"<{self._bridge} of {name}>"

    def _pickle_parts(self, protocol: Any) -> Any:
        """Return the public bridge, the function and the options."""
        check_picklable(self._function, f"the result of {self._bridge}")
        public = getattr(sys.modules["tenferro_xla"], self._bridge)
        bridge = partial(public, **self._options) if self._options else public
        function = self._function
        if _needs_name(function):
            return _bridged_by_name, (bridge, function.__module__, function.__qualname__)
        return bridge, (function,)


def _needs_name(function: Any) -> bool:
    """Return True for an object, not a plain function, that its module has under its name.

    Another process has its own ``__main__``: there, picklers that write code need the function.
    """
    if isinstance(function, (FunctionType, PickledByName)):
        return False
    return bool(found_by_name(function)) and function.__module__ != "__main__"


def _bridged_by_name(bridge: Callable[..., Any], module: str, name: str) -> Any:
    """Import a function and put it behind a bridge."""
    found: Any = import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return bridge(found)

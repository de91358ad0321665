"""Pickling of functions that tenferro has wrapped.

A decorated function of a module is pickled by its name, as any Python function. A function that has
no name there is pickled by its class: as the transform, the function that was given to it, and the
options. Read next: ``compilation/jit.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial, update_wrapper
from types import FunctionType, MethodType
from typing import Any

from tenferro.computegraph import SerializationError
from tenferro.primitives._boundary import refusal

_BY_VALUE = ("cloudpickle", "dill")  # picklers that write functions themselves, not their names


def found_by_name(function: Any) -> str:
    """Return the qualified name under which its module has this object; empty if it has none.

    >>> from json import loads
    >>> found_by_name(loads), found_by_name(lambda: 0)
    ('loads', '')
    """
    name = getattr(function, "__qualname__", "")
    found: Any = sys.modules.get(getattr(function, "__module__", None) or "")
    for part in name.split("."):
        found = vars(found).get(part) if hasattr(found, "__dict__") else None
    return name if found is function else ""


def named_after(wrapper: Any, function: Callable[..., Any]) -> None:
    """Give a wrapper the name, the text and the attributes of its function.

    Names of the wrapper's class, and private names of a callable object, are not taken over: a
    model with an attribute ``lower`` or ``_run`` must not replace a method.
    """
    update_wrapper(wrapper, function, updated=())
    own = type(wrapper)
    for name, value in getattr(function, "__dict__", {}).items():
        if not hasattr(own, name) and (name[:1] != "_" or type(function) is FunctionType):
            setattr(wrapper, name, value)


class PickledByName:
    """An object that wraps a function: atomic in copies, a name in pickles if the name finds it."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return found_by_name(self) or self._pickle_parts(protocol)

    def _pickle_parts(self, protocol: Any) -> Any:
        return super().__reduce_ex__(protocol)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


class Derived(PickledByName):
    """The function that a transform makes of another, with the boundary of public functions."""

    __slots__ = ("__dict__", "__weakref__", "_compute", "_function", "_options", "_transform")

    def __init__(
        self,
        transform: str,
        function: Callable[..., Any],
        options: dict[str, Any],
        compute: Callable[..., Any],
    ) -> None:
        named_after(self, function)
        self._transform = transform
        self._function = function
        self._options = options
        self._compute = compute

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute what the transform says, for these arguments."""
        try:
            return self._compute(*args, **kwargs)
        except Exception as error:
            if (error := refusal(error, self._transform)) is not None:
                raise error from None
            raise

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind as a method, as functions do."""
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        name = getattr(self._function, "__qualname__", None) or repr(self._function)
        return f"<{self._transform} of {name}>"

    def _pickle_parts(self, protocol: Any) -> Any:
        """Return the public transform, the function and the options."""
        check_picklable(self._function, f"the result of {self._transform}")
        public = getattr(sys.modules["tenferro"], self._transform)
        return partial(public, **self._options), (self._function,)


def derived(
    transform: str, function: Callable[..., Any], **options: Any
) -> Callable[[Callable[..., Any]], Derived]:
    """Make ``compute`` the result of ``tenferro.<transform>(function, **options)``."""

    def wrap(compute: Callable[..., Any]) -> Derived:
        return Derived(transform, function, options, compute)

    return wrap


def check_picklable(function: Any, what: str) -> None:
    """Raise SerializationError for a function without a name, unless a pickler takes its code."""
    if isinstance(function, PickledByName):
        return  # checks itself
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
    """Return True if a pickler that writes the code of functions is on the call stack."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if any(name in frame.f_globals.get("__name__", "") for name in _BY_VALUE):
            return True
        frame = frame.f_back
    return False

"""The table of covered NumPy functions, by name.

One table serves operators and methods of ``Array``, both NumPy protocols and the public namespace.
A function registers itself under NumPy's name with ``@covers("add")``; one of a submodule under its
path, ``"linalg.trace"``. A ufunc says so, since its keywords and methods come from ``_ufuncs.py``.
The families that are needed less often load when a name is asked for that is not there yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

from tenferro.computegraph._records import NamedTuple


class Functions(dict[str, Callable[..., Any]]):
    """Covering functions by name; families that nobody asked for yet load at the first question."""

    _is_full = False

    def load(self) -> None:
        """Load every family."""
        if not self._is_full:
            import_module("tenferro.array.functions._all")
            self._is_full = True

    def find(self, name: str) -> Callable[..., Any] | None:
        """The function of a name, if there is one."""
        found = self.get(name)
        if found is None and not self._is_full:
            self.load()
            found = self.get(name)
        return found

    def __missing__(self, name: str) -> Callable[..., Any]:
        found = self.find(name)
        if found is None:
            raise KeyError(name)
        return found

    def __contains__(self, name: object) -> bool:
        if super().__contains__(name):
            return True
        return isinstance(name, str) and not name.startswith("_") and self.find(name) is not None

    def __iter__(self) -> Iterator[str]:
        self.load()
        return super().__iter__()


FUNCTIONS = Functions()
UFUNCS: set[str] = set()
UFUNC_KEYWORDS = ("out", "where", "casting", "order", "dtype", "subok", "signature")
_F = TypeVar("_F", bound=Callable[..., Any])
_HAS_POSITIONALS = 0x04  # flag of code objects with *args
_HAS_KEYWORDS = 0x08  # flag of code objects with **kwargs


class Covered(NamedTuple):
    """What is covered of a NumPy function."""

    primitives: tuple[str, ...]  # that its examples record
    is_differentiable: bool
    keywords: tuple[str, ...]


def covers(*names: str, ufunc: bool = False) -> Callable[[_F], _F]:
    """Register a function under the names that NumPy has for it."""

    def register(function: _F) -> _F:
        for name in names:
            FUNCTIONS[name] = function
        if ufunc:
            UFUNCS.update(names)
        return function

    return register


@cache  # the code object makes the tuple anew each time
def parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    """Names of the parameters that can be given by keyword, in order."""
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


@cache
def positional(function: Callable[..., Any]) -> tuple[str, ...]:
    """Names of the parameters that can be given by position."""
    code = function.__code__
    return code.co_varnames[: code.co_argcount]


def takes_any_keyword(function: Callable[..., Any]) -> bool:
    """Whether the function has ``**keywords``."""
    return bool(function.__code__.co_flags & _HAS_KEYWORDS)


def takes_any_positional(function: Callable[..., Any]) -> bool:
    """Whether the function has ``*arguments``."""
    return bool(function.__code__.co_flags & _HAS_POSITIONALS)


def keywords_of(name: str) -> tuple[str, ...]:
    """The keywords that are claimed of a covered function."""
    own = parameters(FUNCTIONS[name])
    return own + UFUNC_KEYWORDS if name in UFUNCS else own

"""The table of covered NumPy functions, by name.

One table serves operators and methods of ``Array``, both NumPy protocols and the public namespace.
A function registers itself under NumPy's name with ``@covers("add")``; one of a submodule under its
path, ``"linalg.trace"``. A ufunc says so, since its keywords and methods come from ``_ufuncs.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, TypeVar

FUNCTIONS: dict[str, Callable[..., Any]] = {}
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

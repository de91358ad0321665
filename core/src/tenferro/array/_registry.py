"""The table of covered NumPy functions, by name.

One table serves operators and methods of ``Array``, both NumPy protocols and the public namespace.
A function registers itself under NumPy's name with ``@covers("add")``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

FUNCTIONS: dict[str, Callable[..., Any]] = {}
_F = TypeVar("_F", bound=Callable[..., Any])


def covers(*names: str) -> Callable[[_F], _F]:
    """Register a function under the names that NumPy has for it."""

    def register(function: _F) -> _F:
        for name in names:
            FUNCTIONS[name] = function
        return function

    return register

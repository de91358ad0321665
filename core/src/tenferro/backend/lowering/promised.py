"""Lowerings whose functions are collected when one of them is used first.

A family of lowerings costs a file or two with all they import; a program uses few families. A
promise is called like the function itself, so callers need not know.
Read next: ``table.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


class Family:
    """Functions by primitive key, collected once."""

    def __init__(self, collect: Callable[[], Mapping[str, Any]]) -> None:
        self._collect = collect

    def function(self, key: str) -> Any:
        """Return the function of a key; one object, whichever thread asked first."""
        found = self.__dict__.get("_found")
        if found is None:
            found = self.__dict__.setdefault("_found", self._collect())
        return found[key]


class Promised:
    """The function that a family has for a key."""

    __slots__ = ("_family", "_key")

    def __init__(self, family: Family, key: str) -> None:
        self._family = family
        self._key = key

    def function(self) -> Any:
        """Return the function itself."""
        return self._family.function(self._key)

    def __call__(self, *args: Any) -> Any:
        return self.function()(*args)

    def __repr__(self) -> str:
        return f"<promised lowering of {self._key}>"

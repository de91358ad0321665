"""Disjoint sets of numbers, which are joined (Tarjan 1975). Read next: ``budget/loops.py``."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["DisjointSets"]


class DisjointSets:
    """Sets of numbers; a number that was not seen before is a set of its own."""

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}

    def __contains__(self, number: int) -> bool:
        return number in self._parent

    def members(self) -> Iterable[int]:
        """Return all numbers."""
        return self._parent.keys()

    def root(self, number: int) -> int:
        """Return the number that stands for the set of a number."""
        parent = self._parent
        parent.setdefault(number, number)
        while parent[number] != number:
            parent[number] = number = parent[parent[number]]
        return number

    def join(self, one: int, other: int) -> int:
        """Make one set of two; return the number that stands for it."""
        root = self.root(one)
        self._parent[self.root(other)] = root
        return root

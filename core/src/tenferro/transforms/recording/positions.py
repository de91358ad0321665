"""Integers that a graph reads as positions, where they are known while it is recorded.

A leaf is known if it has an operand: an index that the user wrote, or closes over. Who relies on
its value says so, because a finished program may be found again for other values
(``recording/run_or_record.py``). Read next: ``patterns/pattern.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.computegraph import UNKNOWN, ValueKey

_MAX_POSITIONS_TO_READ = 1 << 16  # elements


def numbers_of(leaf: ValueKey) -> tuple[int, ...] | None:
    """Return the integers of a leaf in row-major order; ``None`` if unknown or too many."""
    aval = leaf.aval
    if not aval.dtype.is_integer or aval.size > _MAX_POSITIONS_TO_READ:
        return None
    operand = leaf.operand  # a memo counts who reads it
    if leaf.definition is not None or operand is UNKNOWN:
        return None
    return read(operand)


def read(operand: Any) -> tuple[int, ...] | None:
    """Return the integers of an operand in row-major order."""
    if type(operand) is int:
        return (operand,)
    listed = getattr(operand, "tolist", None)
    if listed is None:
        return None
    values: list[Any] = [listed()]
    while values and isinstance(values[0], list):
        values = [item for part in values for item in part]
    return tuple(values)


def identity_of(operand: Any) -> Any:
    """Return a value that is equal for operands of one shape and dtype with the same integers.

    It is their bytes, because a program compares it at every call.
    """
    stored = getattr(operand, "tobytes", None)
    return read(operand) if stored is None else stored()


class Reads:
    """Leaves whose values a program relies on, and these values; if ``ignores_values``, none is
    known.
    """

    def __init__(self, ignores_values: bool = False) -> None:
        self.ignores_values = ignores_values
        self.values: dict[ValueKey, tuple[int, ...]] = {}

    def numbers_of(self, leaf: ValueKey) -> tuple[int, ...] | None:
        """Return the integers of a leaf, and note that they were read."""
        found = None if self.ignores_values else numbers_of(leaf)
        if found is not None:
            self.values[leaf] = found
        return found

    def among(self, leaves: Sequence[ValueKey]) -> tuple[tuple[int, Any], ...]:
        """Return the noted leaves by their position, with the identity of their values."""
        places = {leaf: place for place, leaf in enumerate(leaves)}
        if self.ignores_values:
            return ()
        noted = [leaf for leaf in self.values if leaf in places]
        return tuple([(places[leaf], identity_of(leaf.operand)) for leaf in noted])

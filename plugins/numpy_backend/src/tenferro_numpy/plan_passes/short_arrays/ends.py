"""The arrays with which the body of a loop begins and ends, and what turns them into numbers.

A body that computes on numbers need not make arrays of them for the next step: a carry stays what
it is, its elements are variables of the loop. What all steps read is read as numbers once, before
the loop. A row comes as its numbers from views of the columns, and goes there as numbers.
Read next: `choice.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache

from tenferro.backend.extend import NamedTuple
from tenferro.primitives import Aval, DType
from tenferro_numpy.ir.expression import Expression

__all__ = ["NO_LOOP", "Ends", "is_short", "reading", "without_foreign"]

_MAX_MOVED = 64  # elements of an array
_KINDS = DType.of("float64"), DType.of("bool")


class Ends(NamedTuple):
    """The slots of arrays at the ends of a body.

    staying   inputs that all steps read
    rows      inputs that each step reads one row of
    carries   inputs that come from the step before, and what they become
    stacked   results whose rows are stored
    becomes   the positions of results that are carries of the next step
    stored    the positions of results whose rows are stored
    """

    staying: Collection[int] = ()
    rows: Collection[int] = ()
    carries: Mapping[int, int] = {}
    stacked: Collection[int] = ()
    becomes: Mapping[int, int] = {}
    stored: Collection[int] = ()

    def linked(self) -> dict[int, tuple[int, ...]]:
        """Return for a carry and what it becomes all slots that have the same form."""
        groups: dict[int, list[int]] = {}
        for slot, made in self.carries.items():
            groups.setdefault(made, [made]).append(slot)
        return {slot: tuple(group) for group in groups.values() for slot in group}


NO_LOOP = Ends()


def without_foreign(ends: Ends, made: Collection[int]) -> Ends:
    """Return the ends with carries that become something of what is `made`, at once or later.

    A carry that becomes another carry is named with what that one becomes.
    """
    found = {}
    for slot in ends.carries:
        last = _followed(slot, ends.carries)
        if last in made:
            found[slot] = last
    return ends._replace(carries=found)


def _followed(slot: int, carries: Mapping[int, int]) -> int:
    """Return what a carry becomes in the end; a carry if carries only change places."""
    for _ in carries:
        slot = carries.get(slot, slot)
    return slot


def is_short(aval: Aval) -> bool:
    """Return True if an array may be kept as its elements."""
    return 0 < aval.size <= _MAX_MOVED and aval.dtype in _KINDS


@lru_cache(maxsize=256)
def reading(aval: Aval) -> Expression:
    """Write the reading of all elements of an array."""
    if aval.size == 1:
        return Expression("{0}.item()", as_is=True)
    return Expression("{0}.tolist()" if aval.ndim == 1 else "{0}.ravel().tolist()", as_is=True)

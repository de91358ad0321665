"""Reads ``x[index]`` that one recording makes several times, recorded once.

Without ``jit`` an integer in an index is an input of its own, so that a loop over positions needs
one program. Equal reads would then be different values, and whatever is made of them would be
recorded again. A memo finds them from the second call of a function on; in the first call, and only
there, this table does. Later calls without a memo have no table: where positions vary from call to
call, it is accidental which of them coincide. Read next: ``memo.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any
from weakref import ref

from tenferro.arrays.handle.array import Array, remembered
from tenferro.computegraph import ValueKey

__all__ = ["Reads", "read_once"]

#: by the serial of the array's key and the index: the result, which is not kept alive
Reads = dict[Hashable, ref[ValueKey]]
_ENDS = frozenset((int, type(None)))


def read_once(reads: Reads, record: Callable[[Array, Any], Array], x: Array, index: Any) -> Array:
    """Return x[index] as this recording has read it before, or record it."""
    name = None if x.flow else name_of(index)
    if name is None:
        return record(x, index)
    entry = x.key.serial, name
    reference = reads.get(entry)
    there = None if reference is None else reference()
    if there is not None:
        return remembered((there, True), x)
    result = record(x, index)
    if result.is_taken:
        reads[entry] = ref(result.key)
    return result


def name_of(index: Any) -> Hashable:
    """Return an index of integers and slices as a value to compare; ``None`` for others."""
    if type(index) is int:
        return index
    found: list[Hashable] = []
    for entry in index if type(index) is tuple else (index,):
        kind = type(entry)
        if kind is slice:
            ends = entry.start, entry.stop, entry.step
            if not _ENDS.issuperset(map(type, ends)):
                return None
            found.append(ends)
        elif kind is int or entry is None or entry is Ellipsis:
            found.append(entry)
        else:
            return None
    return tuple(found)

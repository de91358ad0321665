"""Operations on values of a memo: find what an earlier call of the function recorded, or record.

The functions here take ``record``, which records as if there were no memo. An array of NumPy, and a
number that varies from call to call, becomes an Array first: a leaf that each call binds anew. Read
next: ``memo.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from tenferro.arrays.handle.array import Array, remembered
from tenferro.arrays.handle.convert import ScalarName, as_array
from tenferro.arrays.handle.memo import Memo, entry_of, entry_of_index, is_constant
from tenferro.arrays.handle.weak import is_weak
from tenferro.backend._snapshots import is_numpy
from tenferro.primitives._aval import Aval

_NUMBERS_ARE_DATA = frozenset(  # functions that record the same, whatever the number is
    "add subtract multiply divide true_divide maximum minimum fmax fmin arctan2 hypot logaddexp "
    "less less_equal greater greater_equal".split()
)


def unary(memo: Memo, what: Hashable, record: Callable[[Any], Any], x: Array) -> Any:
    """Apply a function to one array."""
    if x.flow:
        return record(x)
    entry = what, x.key
    found = memo.entries.get(entry)
    if found is not None:
        return remembered(found, x)
    looks = memo.looks
    result = record(x)
    memo.keep(entry, looks, result, Array)
    return result


def binary(
    memo: Memo, what: Hashable, name: str, record: Callable[[Any, Any], Any], x: Array, other: Any
) -> Any:
    """Apply a function to an array and another operand; ``name`` is that of the function."""
    kind = type(other)
    if kind is not Array and is_numpy(other):
        kind, other = Array, as_array(other)
    if kind is Array:
        key = other.key
        if other.flow or x.flow or not (key.memo is memo or is_constant(key)):
            return record(x, other)
        entry: Any = (what, x.key, key)
    elif (kind is float or kind is int) and not x.flow:
        entry = what, x.key, kind, other if other else repr(other)  # there are two zeros
    else:
        return record(x, other)
    found = memo.entries.get(entry)
    if found is None and kind is float and name in _NUMBERS_ARE_DATA and _varies(memo, x, entry):
        other = number(memo, x.key.aval.with_shape(()), other)
        entry = what, x.key, other.key
        found = memo.entries.get(entry)
    if found is not None:
        return remembered(found, x)
    looks = memo.looks
    result = record(x, other)
    memo.keep(entry, looks, result, Array)
    return result


def call(
    memo: Memo,
    what: Hashable,
    record: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Any:
    """Call a function that may take anything, and may write into an argument."""
    entry = entry_of(what, memo, args, kwargs)
    if entry is None:
        return record(*args, **kwargs)
    found = memo.entries.get(entry)
    if found is not None:
        return remembered(found, args[0] if args else None)
    looks = memo.looks
    result = record(*args, **kwargs)
    if entry == entry_of(what, memo, args, kwargs):  # else it has written into an argument
        memo.keep(entry, looks, result, Array)
    return result


def indexed(memo: Memo, record: Callable[[Any, Any], Any], x: Array, index: Any) -> Any:
    """Read x[index]; integers that vary from call to call are positions that each call binds."""
    entry = None if x.flow else entry_of_index(x.key, index)
    if entry is None:
        entry = entry_of("getitem", memo, (x, index), {})
    if entry is None:
        return moving(memo, record, x, index)
    found = memo.entries.get(entry)
    if found is not None:
        return remembered(found, x)
    looks = memo.looks
    form = tuple([item for item in entry if type(item) is not int and item != "0"])
    result = moving(memo, record, x, index) if memo.varies(form) else record(x, index)
    memo.keep(entry, looks, result, Array)
    return result


def moving(memo: Memo, record: Callable[..., Any], *args: Any) -> Any:
    """Call a function whose positions are bound anew by each call."""
    memo.moves = True
    try:
        return record(*args)
    finally:
        memo.moves = False


def data(x: Any) -> Any:
    """Return an array of NumPy as an Array, also where it is in a list."""
    if type(x) is list or type(x) is tuple:
        return type(x)([data(item) for item in x])
    return as_array(x) if is_numpy(x) else x


def _varies(memo: Memo, x: Array, entry: Any) -> bool:
    """Return True if other calls had another number there, and the result tells nothing of it."""
    return x.key.aval.dtype.is_float and not is_weak(x) and memo.varies(entry[:3])


def number(memo: Memo, aval: Aval, value: float) -> Array:
    """Return a number as an Array of rank 0; equal numbers of one call share it."""
    token = aval, repr(value)
    seen = memo.seen(token)
    if seen is not None:
        return Array(seen[0])
    name = ScalarName("float", "number", aval.dtype)
    return Array(memo.capture(token, None, aval, value, name, newest=True))

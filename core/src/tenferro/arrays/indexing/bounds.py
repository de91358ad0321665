"""Bounds of positions that follow from how they are made: ``i % n`` lies in [0, n).

Positions with such bounds inside their axis need no look at their values, so that nothing has to be
evaluated while a function is recorded. Read next: ``plan.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro.computegraph import Definition, ValueKey
from tenferro.primitives import (
    Add,
    BroadcastInDim,
    Clamp,
    Constant,
    Convert,
    Lt,
    Rem,
    Reshape,
    Select,
)

_SAME_VALUES = (BroadcastInDim, Convert, Reshape)
_MAX_STEPS = 8  # of reshapes and casts that are looked through


def bounds_of(key: ValueKey) -> tuple[int, int] | None:
    """Return the smallest and the largest integer that an array may hold; None if unknown."""
    definition = _maker(key)
    if definition is None:
        return None
    kind = type(definition[0])
    if kind is Select:
        return _of_remainder(definition)
    if kind is Clamp:
        low, high = _number(definition[3]), _number(definition[5])
        return None if low is None or high is None else (min(low, high), high)
    if kind is Rem and key.aval.dtype.category == "uint":
        return _of_divisor(definition[4])
    return None


def _of_remainder(definition: Definition) -> tuple[int, int] | None:
    """Recognize ``select(r < 0, r + n, r)`` with ``r = rem(x, n)``, which ``x % n`` records."""
    negative, moved, rest = definition[3:]
    asked, added, divided = negative.definition, moved.definition, rest.definition
    if asked is None or added is None or divided is None:
        return None
    kinds = type(asked[0]), type(added[0]), type(divided[0])
    if kinds != (Lt, Add, Rem) or asked[3] is not rest or _number(asked[4]) != 0:
        return None
    divisor = divided[4]
    if {*added[3:]} != {rest, divisor}:
        return None
    return _of_divisor(divisor)


def _of_divisor(divisor: ValueKey) -> tuple[int, int] | None:
    n = _number(divisor)
    return None if n is None or n <= 0 else (0, n - 1)


def _maker(key: ValueKey) -> Definition | None:
    """Return the definition of a value, behind reshapes, broadcasts and casts to wide integers."""
    for _ in range(_MAX_STEPS):
        definition = key.definition
        if definition is None or type(definition[0]) not in _SAME_VALUES:
            return definition
        if type(definition[0]) is Convert and not _keeps(definition[3], key):
            return None
        key = definition[3]
    return None


def _keeps(x: ValueKey, y: ValueKey) -> bool:
    """Return True if a cast changes no value: from integers to int64."""
    return bool(x.aval.dtype.is_integer and y.aval.dtype.name == "int64")


def _number(key: ValueKey) -> int | None:
    """Return the integer that an array holds at every place, if the user wrote it as a number."""
    definition = _maker(key)
    if definition is not None:
        operation: Any = definition[0]
        value = operation.value if type(operation) is Constant else None
    else:
        value = _leaf(key).operand
    return value if type(value) is int else None


def _leaf(key: ValueKey) -> ValueKey:
    while key.definition is not None and type(key.definition[0]) in _SAME_VALUES:
        key = key.definition[3]
    return key

"""Integers written in Python whose value a trace does not show: what is known of them.

Combined with an array, such a number takes the dtype of the array, where it must fit. A trace that
looked at the range of a number, or at its value, is good for numbers of that range or value only;
it says so in ``NumberReads``, so that traces which did not look serve all numbers.
"""

from __future__ import annotations

import operator
from bisect import bisect_right
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.primitives._handle import H, Handle

RANGE, VALUE = 1, 2  # what of its numbers a trace depends on; 0 is nothing
INT64 = 2**63
_BITS = (8, 16, 32, 64)
_ENDS = [2 ** (bits - 1) for bits in _BITS]
_BOUNDS = sorted([0, *_ENDS, *[-end for end in _ENDS], *[2**bits for bits in _BITS]])
_OUT_OF_RANGE = 2**64  # instead of numbers that no dtype holds
_OPERATIONS = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "power": operator.pow,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "left_shift": operator.lshift,
    "right_shift": operator.rshift,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "negative": operator.neg,
    "positive": operator.pos,
    "absolute": operator.abs,
    "invert": operator.invert,
}


class NumberReads:
    """Record of how much of its numbers a trace has looked at."""

    __slots__ = ("level",)

    def __init__(self) -> None:
        self.level = 0


class WeakName(NamedTuple):
    """The name of an argument that was given as a Python scalar: its dtype is weak.

    ``value`` is that of an integer or bool; ``derived`` says that it was computed of arguments, so
    that the range of these does not tell its own. A counter of a loop yields to floats and complex
    numbers only: its range is not known, and may not fit in a narrower integer.
    """

    text: str
    serial: int
    value: int | None = None
    number_reads: tuple[NumberReads, ...] = ()
    derived: bool = False
    is_counter: bool = False

    def __str__(self) -> str:
        return self.text

    def look(self, level: int = RANGE) -> int | None:
        """Return the value; the trace depends on its range from now on, or on all of it."""
        for number_reads in self.number_reads:
            number_reads.level = max(number_reads.level, VALUE if self.derived else level)
        return self.value


def class_of(value: Any, level: int) -> Any:
    """Return the part of a Python scalar on which a trace depends that looked at this level."""
    kind = type(value)
    if kind is not int:
        return (kind, value) if kind is bool and level == VALUE else kind
    if level == VALUE:
        return kind, value
    if not level and -INT64 <= value < INT64:
        return kind
    return "range", bisect_right(_BOUNDS, value)


def value_of(x: Any) -> int | None:
    """Return the value of an integer or bool, or of an argument that was one; ``None`` for
    others.
    """
    name = getattr(getattr(x, "key", None), "identity", None)
    if isinstance(name, WeakName):
        return name.value
    return int(x) if type(x) in (int, bool) else None


def derived(name: WeakName, function: str, operands: tuple[Any, ...]) -> WeakName:
    """Return the name of a number that was computed from such numbers."""
    names = [getattr(getattr(x, "key", None), "identity", None) for x in operands]
    found = [n if isinstance(n, WeakName) else None for n in names]
    values = [value_of(x) for x in operands]
    number_reads = frozenset([s for n in found if n is not None for s in n.number_reads])
    is_counter = any([n is not None and n.is_counter for n in found])
    value = _result(function, values)
    return WeakName(name.text, name.serial, value, tuple(number_reads), True, is_counter)


def is_weak(x: Handle) -> bool:
    """Return True if the value stands for a Python scalar, whose dtype yields to that of any
    array.
    """
    return type(x.key.identity) is WeakName


def is_counter(x: Handle) -> bool:
    """Return True for the counter of a loop, or a number that was computed from it."""
    name = x.key.identity
    return type(name) is WeakName and name.is_counter


def stay_weak(result: H, x: Handle, function: str, *operands: Any) -> H:
    """Mark the result of arithmetic on numbers that were written in Python: it is such a number."""
    definition = result.key.definition
    if definition is not None and not definition[0].literal and result.key is not x.key:
        name: Any = x.key.identity
        result.key.identity = derived(name, function, operands)
    return result


def same_number(result: H, x: Handle) -> H:
    """Mark a result that has the value of x: if x is a number written in Python, so is it."""
    if is_weak(x):
        result.key.identity = x.key.identity
    return result


def _result(function: str, values: list[int | None]) -> int | None:
    """Return the value that Python computes, or one too large if that would take long."""
    operation: Any = _OPERATIONS.get(function)
    if operation is None or any([value is None for value in values]):
        return None
    known = [value for value in values if value is not None]
    if function in ("power", "left_shift") and known[1] > 64 and abs(known[0]) > 1:
        return _OUT_OF_RANGE
    try:
        return value_of(operation(*known))
    except (ArithmeticError, ValueError):
        return None

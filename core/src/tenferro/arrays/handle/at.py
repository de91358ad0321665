"""``x.at[i]``: updates that give a new array and leave x as it is.

Read next: ``functions/assignment.py``, which does what is named here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.arrays.errors import UnsupportedAttributeError, at_user_line
from tenferro.arrays.registry import FUNCTIONS
from tenferro.primitives._boundary import bounded


class At:
    """Updater of an array, ``x.at``; index it to choose the elements."""

    __slots__ = ("_array",)

    def __init__(self, array: Any) -> None:
        self._array = array

    def __getitem__(self, index: Any) -> AtIndex:
        return AtIndex(self._array, index)

    def __repr__(self) -> str:
        return f"<at of Array({self._array.aval})>"


class AtIndex:
    """An array and an index; each method gives a new array, updated there.

    Where an integer array names a position twice, ``add``, ``multiply``, ``min`` and ``max``
    combine all values, and ``set`` keeps the last. ``mode`` is what becomes of positions outside:
    by default they are an error, under ``jit`` left out; ``"drop"`` leaves them out everywhere,
    ``"clip"`` moves them inside, ``"promise_in_bounds"`` does not look.

    >>> from tenferro import asarray
    >>> asarray(1.0).at[...].add(2.0)
    Array(3.)
    """

    __slots__ = ("_array", "_index")

    def __init__(self, array: Any, index: Any) -> None:
        self._array = array
        self._index = index

    @bounded("at.get")
    def get(self, *, mode: str | None = None, fill_value: Any = None) -> Any:
        """Return the elements; with the mode ``"fill"``, positions outside give ``fill_value``
        (NaN, or 0).
        """
        return FUNCTIONS["__at_get__"](self._array, self._index, mode, fill_value)

    @bounded("at.set")
    def set(self, value: Any, *, mode: str | None = None) -> Any:
        """Return a copy of the array with the elements replaced by the value."""
        return FUNCTIONS["__at_set__"](self._array, self._index, value, mode)

    @bounded("at.add")
    def add(self, value: Any, *, mode: str | None = None) -> Any:
        """Return a copy of the array with the value added to the elements."""
        return self._combine("add", value, mode)

    @bounded("at.subtract")
    def subtract(self, value: Any, *, mode: str | None = None) -> Any:
        """Return a copy of the array with the value subtracted from the elements."""
        return self._combine("add", FUNCTIONS["negative"](value), mode)

    @bounded("at.multiply")
    def multiply(self, value: Any, *, mode: str | None = None) -> Any:
        """Return a copy of the array with the elements multiplied by the value."""
        return self._combine("multiply", value, mode)

    @bounded("at.min")
    def min(self, value: Any, *, mode: str | None = None) -> Any:
        """Return a copy of the array with the elements limited to at most the value."""
        return self._combine("minimum", value, mode)

    @bounded("at.max")
    def max(self, value: Any, *, mode: str | None = None) -> Any:
        """Return a copy of the array with the elements raised to at least the value."""
        return self._combine("maximum", value, mode)

    @bounded("at.divide")
    def divide(self, value: Any, *, mode: str | None = None) -> Any:
        """Return a copy of the array with the elements divided by the value."""
        return FUNCTIONS["__at_factor__"](self._array, self._index, value, "divide", mode)

    @bounded("at.power")
    def power(self, value: Any, *, mode: str | None = None) -> Any:
        """Return a copy of the array with the elements raised to the power of the value."""
        return FUNCTIONS["__at_factor__"](self._array, self._index, value, "power", mode)

    @bounded("at.apply")
    def apply(self, function: Callable[[Any], Any], *, mode: str | None = None) -> Any:
        """Return a copy with the function applied to the elements, once for a repeated position."""
        return self.set(function(self.get(mode=mode)), mode=mode)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        names = ", ".join([known for known in vars(AtIndex) if not known.startswith("_")])
        text = f"x.at[...] has no method {name!r}\n  hint       it has {names}"
        raise at_user_line(UnsupportedAttributeError(text, attribute=name, instead=names))

    def _combine(self, name: str, value: Any, mode: str | None) -> Any:
        return FUNCTIONS["__at_combine__"](self._array, self._index, value, name, mode)

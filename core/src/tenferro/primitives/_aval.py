"""Abstract values: the shape and dtype of an array, without its elements.

Interned: equal avals are the same object, so that comparing and hashing them cost nothing and
keys of graphs are found by identity. The table holds them weakly. Read next: ``_handle.py``.
"""

from __future__ import annotations

from _weakref import _remove_dead_weakref  # type: ignore[attr-defined]  # atomic, as in weakref
from collections.abc import Iterable
from math import prod
from typing import Any
from weakref import ref

from tenferro.primitives._dtype import DType

Shape = tuple[int, ...]


class Aval:
    """Shape and dtype.

    >>> Aval((3, 4), "float64")
    f64[3,4]
    >>> Aval((3, 4), float) is Aval([3, 4], "f64")
    True
    """

    __slots__ = ("__weakref__", "dtype", "ndim", "shape", "size")

    shape: Shape
    dtype: DType
    ndim: int
    size: int

    def __new__(cls, shape: Iterable[int], dtype: object) -> Aval:
        try:
            aval = _table[shape, dtype]()  # type: ignore[index]
        except (KeyError, TypeError):
            aval = None
        return _intern(tuple(map(int, shape)), DType.of(dtype)) if aval is None else aval

    def with_shape(self, shape: Iterable[int]) -> Aval:
        """The same dtype in another shape."""
        return Aval(shape, self.dtype)

    def with_dtype(self, dtype: object) -> Aval:
        """The same shape of another dtype."""
        return Aval(self.shape, dtype)

    def without(self, axes: Iterable[int]) -> Aval:
        """The aval that remains when axes (non-negative) are dropped."""
        dropped = set(axes)
        return self.with_shape(n for axis, n in enumerate(self.shape) if axis not in dropped)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an aval is immutable; cannot set {name!r}")

    def __repr__(self) -> str:
        return f"{self.dtype.short}[{','.join(map(str, self.shape))}]"

    def __reduce__(self) -> tuple[object, ...]:
        return Aval, (self.shape, self.dtype)


class _Ref(ref[Aval]):
    """A weak reference that knows its place in the table."""

    __slots__ = ("entry",)
    entry: tuple[Shape, DType]


_table: dict[tuple[Shape, DType], _Ref] = {}


def _forget(dead: Any) -> None:
    _remove_dead_weakref(_table, dead.entry)


def _new(shape: Shape, dtype: DType) -> Aval:
    aval = object.__new__(Aval)
    for name, value in (
        ("shape", shape),
        ("dtype", dtype),
        ("ndim", len(shape)),
        ("size", prod(shape)),
    ):
        object.__setattr__(aval, name, value)
    return aval


def _intern(shape: Shape, dtype: DType) -> Aval:
    """The one aval of this shape and dtype, whichever thread makes it first."""
    aval = _new(shape, dtype)
    reference = _Ref(aval, _forget)
    reference.entry = (shape, dtype)
    while True:
        there = _table.setdefault(reference.entry, reference)
        if there is reference:
            return aval
        other = there()
        if other is not None:
            return other
        _remove_dead_weakref(_table, reference.entry)

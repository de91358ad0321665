"""Abstract values: the shape and dtype of an array, without its elements.

Interned: equal avals are the same object, so that comparing and hashing them cost nothing and
keys of graphs are found by identity. The table holds them weakly. Read next: ``_handle.py``.
"""

from __future__ import annotations

from _weakref import _remove_dead_weakref  # type: ignore[attr-defined]  # atomic, as in weakref
from collections.abc import Iterable
from math import prod
from operator import index
from typing import Any
from weakref import ref

from tenferro.primitives._dtype import DType
from tenferro.primitives._errors import InvalidParameterError

Shape = tuple[int, ...]
MOST_AXES = 64  # NumPy's limit
MOST_ELEMENTS = 2**63 - 1


class Aval:
    """Shape and dtype.

    Raises InvalidParameterError: if a size is not a non-negative integer, or there are over 64 axes
    or
    2⁶³ - 1 elements.

    >>> import tenferro as tn
    >>> tn.Aval((3, 4), "float64")
    f64[3,4]
    >>> tn.Aval((3, 4), float) is tn.Aval([3, 4], "f64")
    True
    """

    __slots__ = ("__weakref__", "dtype", "ndim", "shape", "size")

    shape: Shape
    dtype: DType
    ndim: int
    size: int

    def __new__(cls, shape: Iterable[int], dtype: object) -> Aval:
        try:
            reference = _table.get((shape, dtype))  # type: ignore[arg-type]
        except TypeError:  # a list, say
            reference = None
        aval = None if reference is None else reference()
        if aval is not None:
            for size in shape:
                if type(size) is not int:  # 2.0 finds the entry of 2
                    break
            else:
                return aval
        return _intern(_sizes(shape), DType.of(dtype))

    def with_shape(self, shape: Iterable[int]) -> Aval:
        """Return the same dtype with another shape."""
        return Aval(shape, self.dtype)

    def with_dtype(self, dtype: object) -> Aval:
        """Return the same shape with another dtype."""
        return Aval(self.shape, dtype)

    def without(self, axes: Iterable[int]) -> Aval:
        """Return the aval that remains when axes (non-negative) are dropped."""
        dropped = set(axes)
        kept = [n for axis, n in enumerate(self.shape) if axis not in dropped]
        return Aval(tuple(kept), self.dtype)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an aval is immutable; cannot set {name!r}")

    def __repr__(self) -> str:
        return f"{self.dtype.short}[{','.join(map(str, self.shape))}]"

    def __reduce__(self) -> tuple[object, ...]:
        return Aval, (self.shape, self.dtype)


def _sizes(shape: Any) -> Shape:
    """Return the shape as a tuple of Python integers.

    Raises InvalidParameterError: for anything but non-negative integers, and for more axes or
    elements than any backend's arrays have.
    """
    try:
        sizes = tuple([index(size) for size in shape])
    except TypeError:
        raise _no_shape("sizes are integers", shape) from None
    if sizes and min(sizes) < 0:
        raise _no_shape("a size is negative", shape)
    if len(sizes) > MOST_AXES:
        raise _no_shape(f"{len(sizes)} axes are too many", f"a shape of {len(sizes)} axes")
    if prod([size or 1 for size in sizes]) > MOST_ELEMENTS:
        raise _no_shape("the shape is larger than memory can be", shape)
    return sizes


def _no_shape(fact: str, shape: object) -> InvalidParameterError:
    return InvalidParameterError.of(
        "Aval",
        fact,
        got=shape if isinstance(shape, str) else repr(shape),
        need=f"a sequence of at most {MOST_AXES} integers from 0",
        parameter="shape",
        value=shape,
    )


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
    """Intern the aval of this shape and dtype, whichever thread makes it first."""
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

"""New arrays: constants of a shape, counted values, and copies of shapes."""

from __future__ import annotations

from typing import Any

from tenferro.array._array import SCALARS, Array
from tenferro.array._broadcast import cast, stretch, weak_or_array
from tenferro.array._convert import as_array
from tenferro.array._registry import covers
from tenferro.primitives import DType, Shape, constant, float64, iota
from tenferro.primitives._dtype import int64


def _shape_of(shape: Any) -> Shape:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def zeros(shape: Any, dtype: Any = float64) -> Array:
    """An array of zeros.

    >>> zeros((2, 3)).shape
    (2, 3)
    """
    return Array(constant(0, DType.of(dtype), _shape_of(shape)).key)


def ones(shape: Any, dtype: Any = float64) -> Array:
    """An array of ones."""
    return Array(constant(1, DType.of(dtype), _shape_of(shape)).key)


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Array:
    """An array whose elements are all ``fill_value``, differentiable in it."""
    found = as_array(fill_value)
    if dtype is not None:
        found = cast(found, DType.of(dtype))
    return stretch(found, _shape_of(shape))


def arange(start: int, stop: int | None = None, step: int = 1, dtype: Any = None) -> Array:
    """Integers from ``start`` up to ``stop``, exclusive.

    >>> arange(3).shape
    (3,)
    """
    first, last = (0, start) if stop is None else (start, stop)
    count = len(range(first, last, step))
    counted = Array(iota((count,), 0, int64).key)
    result = counted * step + first
    return result if dtype is None else cast(result, DType.of(dtype))


@covers("zeros_like")
def zeros_like(x: Any, dtype: Any = None, *, shape: Any = None) -> Array:
    """Zeros of the shape and dtype of x."""
    return full_like(x, 0, dtype, shape=shape)


@covers("ones_like")
def ones_like(x: Any, dtype: Any = None, *, shape: Any = None) -> Array:
    """Ones of the shape and dtype of x."""
    return full_like(x, 1, dtype, shape=shape)


@covers("full_like")
def full_like(x: Any, fill_value: Any, dtype: Any = None, *, shape: Any = None) -> Array:
    """An array of the shape and dtype of x whose elements are all ``fill_value``."""
    like = as_array(x)
    kind = like.dtype if dtype is None else DType.of(dtype)
    size = like.shape if shape is None else _shape_of(shape)
    if type(fill_value) in SCALARS:
        return Array(constant(fill_value, kind, size).key)
    return stretch(cast(weak_or_array(fill_value, kind), kind), size)


@covers("copy")
def copy(x: Any) -> Array:
    """A new handle on the same value; arrays are values and never alias."""
    return Array(as_array(x).key)


@covers("shape")
def shape(x: Any) -> Shape:
    """The sizes of the axes."""
    return as_array(x).shape


@covers("ndim")
def ndim(x: Any) -> int:
    """The number of axes."""
    return as_array(x).ndim


@covers("size")
def size(x: Any, axis: int | None = None) -> int:
    """The number of elements, in all or along an axis."""
    found = as_array(x)
    return found.size if axis is None else found.shape[axis]

"""New arrays: constants of a shape, counted values, and copies of shapes.

An Array has no memory order and no subclasses, so ``order=`` and ``subok=`` are taken and change
nothing. Read next: ``ranges.py``, ``triangles.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.handle.array import SCALARS, Array
from tenferro.arrays.handle.convert import as_array, asarray
from tenferro.arrays.promotion.broadcast import cast, integers, stretch, weak_or_array
from tenferro.arrays.registry import FUNCTIONS, covers
from tenferro.primitives import DType, Shape, constant, float64


def shape_of(shape: Any) -> Shape:
    """Return a shape as a tuple; an integer stands for one axis."""
    found = integers(shape)
    if prod(found) >= 2**63:
        raise at_user_line(ValueError(f"array: the shape has too many elements: {found}"))
    return found


def _filled(value: int, shape: Any, dtype: Any, device: Any) -> Array:
    kind = float64 if dtype is None else DType.of(dtype)
    return on_device(Array(constant(value, kind, shape_of(shape)).key), device)


def on_device(x: Array, device: Any) -> Array:
    """Move an array to the device that ``device=`` names; None and "cpu" leave it where it is."""
    return x if device in (None, "cpu") else FUNCTIONS["__to_device__"](x, device)


@covers("zeros", "empty")
def zeros(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None) -> Array:
    """Return a new array filled with zeros.

    >>> import tenferro as tn
    >>> tn.zeros((2, 3)).shape
    (2, 3)
    """
    return _filled(0, shape, dtype, device)


@covers("ones")
def ones(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None) -> Array:
    """Return a new array filled with ones."""
    return _filled(1, shape, dtype, device)


@covers("full")
def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", *, device: Any = None
) -> Array:
    """Return a new array filled with ``fill_value``, differentiable with respect to it."""
    found = as_array(fill_value)
    if dtype is not None:
        found = cast(found, DType.of(dtype))
    return on_device(stretch(found, shape_of(shape)), device)


@covers("zeros_like", "empty_like")
def zeros_like(
    x: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Array:
    """Return an array of zeros with the shape and dtype of x."""
    return full_like(x, 0, dtype, shape=shape, device=device)


@covers("ones_like")
def ones_like(
    x: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Array:
    """Return an array of ones with the shape and dtype of x."""
    return full_like(x, 1, dtype, shape=shape, device=device)


@covers("full_like")
def full_like(
    x: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Array:
    """Return an array filled with ``fill_value``, with the shape and dtype of x."""
    like = as_array(x)
    kind = like.dtype if dtype is None else DType.of(dtype)
    size = like.shape if shape is None else shape_of(shape)
    if type(fill_value) in SCALARS:
        return on_device(Array(constant(_fitting(fill_value, kind), kind, size).key), device)
    return on_device(stretch(cast(weak_or_array(fill_value, kind), kind), size), device)


def _fitting(value: Any, kind: DType) -> Any:
    """A Python scalar of the kind of a dtype; a fraction is cut off, as in NumPy."""
    if kind.is_bool:
        return bool(value)
    return int(value) if kind.is_integer and type(value) is float else value


@covers("copy")
def copy(x: Any, order: str = "K", subok: bool = False) -> Array:
    """Return a new handle on the same value. Arrays are values and never alias."""
    found = as_array(x)
    return Array(found.key, found.flow)


@covers("array")
def array(
    x: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
) -> Array:
    """Make an array from an operand, a scalar or a nested sequence, with at least ``ndmin``
    axes.
    """
    found = asarray(x, dtype, copy=copy)
    missing = ndmin - found.ndim
    return found if missing <= 0 else FUNCTIONS["reshape"](found, (1,) * missing + found.shape)


@covers("asarray_chkfinite")
def asarray_chkfinite(x: Any, dtype: Any = None, order: str | None = None) -> Array:
    """Make an array and check that all its elements are finite. Its values are needed.

    Raises ValueError: if an element is infinite or NaN.
    """
    found = asarray(x, dtype)
    if not FUNCTIONS["all"](FUNCTIONS["isfinite"](found)):
        raise ValueError("array must not contain infs or NaNs")
    return found


@covers("fromfunction")
def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: Any = float, **kwargs: Any
) -> Any:
    """Call a function with the indices of an array of the given shape, and return its result."""
    return function(*FUNCTIONS["indices"](shape, dtype=dtype), **kwargs)


@covers("shape")
def shape(x: Any) -> Shape:
    """Return the sizes of the axes."""
    return as_array(x).shape


@covers("ndim")
def ndim(x: Any) -> int:
    """Return the number of axes."""
    return as_array(x).ndim


@covers("size")
def size(x: Any, axis: Any = None) -> int:
    """Return the number of elements, in total or along the given axes."""
    found = as_array(x)
    if axis is None:
        return found.size
    count = 1
    for a in axis if isinstance(axis, tuple) else (axis,):
        count *= found.shape[a]
    return count

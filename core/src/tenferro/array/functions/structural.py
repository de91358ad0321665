"""Changing and joining shapes: NumPy's names over the primitives. Results never alias."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from operator import index
from typing import Any

from tenferro.array._array import Array
from tenferro.array._broadcast import (
    axis_error,
    broadcast_shapes,
    cast,
    normalize_axes,
    normalize_axis,
    stretch,
)
from tenferro.array._convert import as_array
from tenferro.array._errors import at_user_line
from tenferro.array._registry import covers
from tenferro.primitives import (
    InvalidParameterError,
    Shape,
    ShapeMismatchError,
    promote_dtypes,
)
from tenferro.primitives import structural as p


@covers("reshape")
def reshape(
    x: Any, *sizes: Any, shape: Any = None, order: str = "C", copy: bool | None = None
) -> Array:
    """x with another shape of as many elements, rows first; one size may be −1.

    Raises ShapeMismatchError: if the number of elements differs.

    >>> reshape(as_array(1.0), (1, -1)).shape
    (1, 1)
    """
    if order not in ("C", "A"):
        error = InvalidParameterError.of(
            "reshape", "only row-major order", got=f"order={order!r}", need="order='C'",
            parameter="order", value=order,
        )  # fmt: skip
        raise at_user_line(error)
    found = as_array(x)
    given = (sizes[0] if len(sizes) == 1 else sizes) if shape is None else shape
    target = tuple(given) if hasattr(given, "__len__") else (given,)
    return p.reshape(found, _fill_in(tuple(map(index, target)), found))


def _fill_in(shape: Shape, x: Array) -> Shape:
    """The shape with −1 replaced by what is left."""
    if -1 not in shape:
        return shape
    known = prod(n for n in shape if n != -1)
    if shape.count(-1) > 1 or known == 0 or x.size % known:
        error = ShapeMismatchError.of(
            "reshape",
            "the size of axis -1 cannot be found",
            got=f"{x.aval} to {shape}",
            need="one -1, and sizes that divide the number of elements",
            shapes=(x.shape, shape),
        )
        raise at_user_line(error)
    return tuple(x.size // known if n == -1 else n for n in shape)


@covers("ravel", "flatten")
def ravel(x: Any, order: str = "C") -> Array:
    """x as one axis, rows first."""
    return reshape(x, (-1,) if as_array(x).size else (0,), order=order)


@covers("transpose", "permute_dims")
def transpose(x: Any, *numbers: Any, axes: Any = None) -> Array:
    """x with its axes permuted, reversed if nothing is said."""
    found = as_array(x)
    given = (numbers[0] if len(numbers) == 1 else numbers or None) if axes is None else axes
    if given is None:
        order = tuple(reversed(range(found.ndim)))
    else:
        order = tuple(_axis_list(given, found.ndim, "transpose"))
    return p.transpose(found, order)


@covers("swapaxes")
def swapaxes(x: Any, axis1: int, axis2: int) -> Array:
    """x with two axes exchanged."""
    found = as_array(x)
    order = list(range(found.ndim))
    i, j = (normalize_axis(a, found.ndim, "swapaxes") for a in (axis1, axis2))
    order[i], order[j] = order[j], order[i]
    return p.transpose(found, order)


@covers("moveaxis")
def moveaxis(x: Any, source: Any, destination: Any) -> Array:
    """x with axes moved to new places, the others in their order."""
    found = as_array(x)
    sources, places = (_axis_list(a, found.ndim, "moveaxis") for a in (source, destination))
    if len(sources) != len(places):
        raise axis_error(
            "moveaxis", (source, destination), found.ndim, "not as many places as axes"
        )
    order = [axis for axis in range(found.ndim) if axis not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return p.transpose(found, order)


def _axis_list(axis: Any, ndim: int, function: str) -> list[int]:
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    return [normalize_axis(a, ndim, function) for a in given]


@covers("expand_dims")
def expand_dims(x: Any, axis: Any) -> Array:
    """x with new axes of size 1."""
    found = as_array(x)
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    ndim = found.ndim + len(given)
    places = normalize_axes(given, ndim, "expand_dims")
    sizes = iter(found.shape)
    return p.reshape(found, [1 if i in places else next(sizes) for i in range(ndim)])


@covers("squeeze")
def squeeze(x: Any, axis: Any = None) -> Array:
    """x without axes of size 1, all of them or those named.

    Raises ShapeMismatchError: if a named axis has another size.
    """
    found = as_array(x)
    if axis is None:
        return p.reshape(found, [n for n in found.shape if n != 1])
    axes = normalize_axes(axis, found.ndim, "squeeze")
    if any(found.shape[a] != 1 for a in axes):
        error = ShapeMismatchError.of(
            "squeeze",
            "an axis to drop has not size 1",
            got=f"{found.aval}, axis={axis}",
            need="axes of size 1",
            shapes=(found.shape,),
        )
        raise at_user_line(error)
    return p.reshape(found, [n for i, n in enumerate(found.shape) if i not in axes])


@covers("broadcast_to")
def broadcast_to(x: Any, shape: Any) -> Array:
    """x repeated to a shape."""
    found = as_array(x)
    target = (shape,) if isinstance(shape, int) else tuple(shape)
    if broadcast_shapes(found.shape, target, function="broadcast_to") != target:
        error = ShapeMismatchError.of(
            "broadcast_to",
            "the array has sizes that the shape lacks",
            got=f"{found.aval} to {target}",
            need="sizes 1 or equal",
            shapes=(found.shape, target),
        )
        raise at_user_line(error)
    return stretch(found, target)


def _of_one_dtype(xs: Sequence[Any], function: str) -> list[Array]:
    """Arrays of the joint dtype; here a number is an array of rank 0, and not weak."""
    arrays = [as_array(x) for x in xs]
    if not arrays:
        raise at_user_line(ValueError(f"{function}: need at least one array"))
    dtype = arrays[0].dtype
    for x in arrays[1:]:
        dtype = promote_dtypes(dtype, x.dtype)
    return [cast(x, dtype) for x in arrays]


@covers("concatenate", "concat")
def concatenate(xs: Sequence[Any], axis: int | None = 0, *, dtype: Any = None) -> Array:
    """Arrays joined along an axis; with ``axis=None``, flattened first."""
    arrays = _of_one_dtype(tuple(xs), "concatenate")
    if axis is None:
        arrays, axis = [ravel(x) for x in arrays], 0
    joined = p.concatenate(arrays, normalize_axis(axis, arrays[0].ndim, "concatenate"))
    return joined if dtype is None else cast(joined, dtype)


@covers("stack")
def stack(xs: Sequence[Any], axis: int = 0) -> Array:
    """Arrays of one shape joined along a new axis."""
    return concatenate([expand_dims(x, axis) for x in _of_one_dtype(tuple(xs), "stack")], axis)


@covers("vstack")
def vstack(xs: Sequence[Any]) -> Array:
    """Arrays joined along the first axis; rank 1 becomes rows."""
    return concatenate([_at_least(x, 2) for x in xs], 0)


@covers("hstack")
def hstack(xs: Sequence[Any]) -> Array:
    """Arrays joined along the second axis, or along the only one."""
    arrays = [_at_least(x, 1) for x in xs]
    return concatenate(arrays, 1 if arrays and arrays[0].ndim > 1 else 0)


def _at_least(x: Any, ndim: int) -> Array:
    found = as_array(x)
    return found if found.ndim >= ndim else reshape(found, (1,) * (ndim - found.ndim) + found.shape)


@covers("flip")
def flip(x: Any, axis: Any = None) -> Array:
    """x with the order of elements reversed along axes."""
    found = as_array(x)
    return p.reverse(found, normalize_axes(axis, found.ndim, "flip"))

"""Changing shapes, and the two ways to join: NumPy's names over the primitives.

Results never alias. Read next: ``joining.py``, ``splitting.py``, ``rearranging.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._out import into
from tenferro.arrays.handle.array import SCALARS, Array, another_handle
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.handle.views import view_of
from tenferro.arrays.numpy_protocols.writing import check_cast
from tenferro.arrays.promotion.broadcast import (
    axis_error,
    cast,
    common_dtype,
    integers,
    normalize_axes,
    normalize_axis,
    reduced_axes,
    weak_or_array,
)
from tenferro.arrays.registry import covers
from tenferro.primitives import (
    DType,
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
    """Give an array a new shape with as many elements; one size may be −1.

    ``order="F"`` reads and writes columns first; "A" is "C", since results have no other layout.

    Raises ShapeMismatchError: if the number of elements differs.

    >>> import tenferro as tn
    >>> tn.reshape(tn.asarray(1.0), (1, -1)).shape
    (1, 1)
    """
    if sizes and isinstance(sizes[-1], str):  # NumPy's function takes the order as the third
        *sizes, order = sizes  # type: ignore[assignment]
    _check_no_view(copy)
    found = as_array(x)
    given = (sizes[0] if len(sizes) == 1 else sizes) if shape is None else shape
    whole = _fill_in(integers(given), found)
    if not _is_columns_first("reshape", order, "CFA"):
        return _viewed(found, p.reshape(found, whole))
    return _reversed(p.reshape(_reversed(found), whole[::-1]))


def _check_no_view(copy: bool | None) -> None:
    if copy is False:
        raise at_user_line(ValueError("reshape: a result never aliases; leave out copy=False"))


def _is_columns_first(function: str, order: str, known: str) -> bool:
    """Return True if ``order`` asks for the first axis to vary fastest."""
    if order not in tuple(known):
        error = InvalidParameterError.of(
            function, "unknown order", got=f"order={order!r}", need=f"one of {', '.join(known)}",
            parameter="order", value=order,
        )  # fmt: skip
        raise at_user_line(error)
    return order == "F"


def _reversed(x: Array) -> Array:
    return p.transpose(x, range(x.ndim)[::-1])


def _fill_in(shape: Shape, x: Array) -> Shape:
    """Replace −1 in a shape by the size that remains."""
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


@covers("flatten")
def flatten(x: Any, order: str = "C") -> Array:
    """Return x as an array of one axis; orders "A" and "K" mean "C"."""
    return another_handle(ravel(x, order))


@covers("ravel")
def ravel(x: Any, order: str = "C") -> Array:
    """Return x as an array of one axis; orders "A" and "K" mean "C"."""
    found = as_array(x)
    columns_first = _is_columns_first("ravel", order, "CFAK")
    if columns_first:
        return p.reshape(_reversed(found), (found.size,))
    return _viewed(found, p.reshape(found, (found.size,)))


def _viewed(x: Array, y: Array) -> Array:
    """y, marked as a view of x unless x is one itself: then NumPy may have copied."""
    return y if x.is_taken else view_of(x, y)


@covers("transpose", "permute_dims")
def transpose(x: Any, *numbers: Any, axes: Any = None) -> Array:
    """Permute the axes of an array; by default, reverse them."""
    found = as_array(x)
    given = (numbers[0] if len(numbers) == 1 else numbers or None) if axes is None else axes
    if given is None:
        order = tuple(reversed(range(found.ndim)))
    else:
        order = tuple(_axis_list(given, found.ndim, "transpose"))
    return view_of(found, p.transpose(found, order))


@covers("swapaxes")
def swapaxes(x: Any, axis1: int, axis2: int) -> Array:
    """Exchange two axes of an array."""
    found = as_array(x)
    order = list(range(found.ndim))
    i, j = (normalize_axis(a, found.ndim, "swapaxes") for a in (axis1, axis2))
    order[i], order[j] = order[j], order[i]
    return view_of(found, p.transpose(found, order))


@covers("matrix_transpose")
def matrix_transpose(x: Any) -> Array:
    """Exchange the last two axes of an array.

    x: [*B,m,n]   →   y: [*B,n,m]

    Raises ValueError: for rank below 2.

    >>> import tenferro as tn
    >>> tn.matrix_transpose([[1, 2], [3, 4]])
    array([[1, 3],
           [2, 4]])
    """
    if as_array(x).ndim < 2:
        raise at_user_line(ValueError("matrix_transpose: need rank 2 or more"))
    return swapaxes(x, -1, -2)


@covers("rollaxis")
def rollaxis(x: Any, axis: int, start: int = 0) -> Array:
    """Move an axis before the axis ``start``."""
    ndim = as_array(x).ndim
    source = normalize_axis(axis, ndim, "rollaxis")
    place = start + ndim if start < 0 else start
    if not 0 <= place <= ndim:
        raise axis_error("rollaxis", start, ndim, "start out of range")
    return moveaxis(x, source, place - 1 if source < place else place)


@covers("moveaxis")
def moveaxis(x: Any, source: Any, destination: Any) -> Array:
    """Move axes to new places; the others keep their order."""
    found = as_array(x)
    sources, places = (_axis_list(a, found.ndim, "moveaxis") for a in (source, destination))
    if len(sources) != len(places):
        raise axis_error(
            "moveaxis", (source, destination), found.ndim, "not as many places as axes"
        )
    order = [axis for axis in range(found.ndim) if axis not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return view_of(found, p.transpose(found, order))


def _axis_list(axis: Any, ndim: int, function: str) -> list[int]:
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    return [normalize_axis(a, ndim, function) for a in given]


@covers("expand_dims")
def expand_dims(x: Any, axis: Any) -> Array:
    """Insert new axes of size 1 into the shape of x."""
    found = as_array(x)
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    ndim = found.ndim + len(given)
    places = normalize_axes(given, ndim, "expand_dims")
    sizes = iter(found.shape)
    y = p.reshape(found, [1 if i in places else next(sizes) for i in range(ndim)])
    return view_of(found, y)


@covers("squeeze")
def squeeze(x: Any, axis: Any = None) -> Array:
    """Remove axes of size 1: all of them, or the given ones.

    Raises ShapeMismatchError: if a named axis has another size.
    """
    found = as_array(x)
    if axis is None:
        y = p.reshape(found, [n for n in found.shape if n != 1])
        return view_of(found, y)
    axes = reduced_axes(axis, found.ndim, "squeeze")
    if any(found.shape[a] != 1 for a in axes):
        error = ShapeMismatchError.of(
            "squeeze",
            "an axis to drop does not have size 1",
            got=f"{found.aval}, axis={axis}",
            need="axes of size 1",
            shapes=(found.shape,),
        )
        raise at_user_line(error)
    y = p.reshape(found, [n for i, n in enumerate(found.shape) if i not in axes])
    return view_of(found, y)


def _of_one_dtype(xs: Sequence[Any], function: str) -> list[Array]:
    """Return arrays of the joint dtype; a Python number is an array of rank 0 here, and not
    weak.
    """
    arrays = [as_array(x) for x in xs]
    if not arrays:
        raise at_user_line(ValueError(f"{function}: need at least one array"))
    dtype = arrays[0].dtype
    for x in arrays[1:]:
        dtype = promote_dtypes(dtype, x.dtype)
    return [cast(x, dtype) for x in arrays]


@covers("concatenate", "concat")
def concatenate(
    arrays: Sequence[Any],
    axis: int | None = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: str = "same_kind",
) -> Array:
    """Join arrays along an existing axis; with ``axis=None``, flatten them first.

    >>> import tenferro as tn
    >>> tn.concatenate([tn.asarray(1.0), tn.asarray(2)], axis=None).shape
    (2,)
    """
    if axis is None:
        parts, axis = _flattened(tuple(arrays)), 0
    else:
        parts = _of_one_dtype(tuple(arrays), "concatenate")
    if len({x.ndim for x in parts}) > 1:
        need = "arrays of one rank; `np.stack` makes a new axis, axis=None flattens"
        raise _differing("concatenate", "ranks differ", parts, need)
    joined = p.concatenate(parts, normalize_axis(axis, parts[0].ndim, "concatenate"))
    if dtype is not None:
        check_cast(joined.dtype, DType.of(dtype), casting, "concatenate", "the result")
        joined = cast(joined, DType.of(dtype))
    return joined if out is None else into(out, joined, "concatenate", casting)


def _flattened(xs: Sequence[Any]) -> list[Array]:
    """Return arrays of rank 1 and the joint dtype, to which a Python number yields."""
    if not xs:
        return _of_one_dtype(xs, "concatenate")
    given = [x if type(x) in SCALARS else as_array(x) for x in xs]
    dtype = common_dtype(given)
    return [ravel(cast(weak_or_array(x, dtype), dtype)) for x in given]


def _differing(name: str, fact: str, parts: Sequence[Array], need: str) -> ShapeMismatchError:
    error = ShapeMismatchError.of(
        name,
        fact,
        got=", ".join(str(x.aval) for x in parts),
        need=need,
        shapes=tuple(x.shape for x in parts),
    )
    return at_user_line(error)


@covers("stack")
def stack(
    arrays: Sequence[Any],
    axis: int = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: str = "same_kind",
) -> Array:
    """Join arrays of one shape along a new axis."""
    given = _of_one_dtype(tuple(arrays), "stack")
    if len({x.shape for x in given}) > 1:
        need = "arrays of one shape; `np.concatenate` joins along an axis that exists"
        raise _differing("stack", "shapes differ", given, need)
    parts = [expand_dims(x, axis) for x in given]
    return concatenate(parts, axis, out, dtype=dtype, casting=casting)

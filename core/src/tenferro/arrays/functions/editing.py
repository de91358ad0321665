"""Elements that are put in, left out or repeated until a shape is full.

NumPy itself says what goes where, on an array of positions; elements are gathered there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._known import elements, found_of, known, numpy_module
from tenferro.arrays.functions.creation import zeros
from tenferro.arrays.functions.indexing import getitem
from tenferro.arrays.functions.structural import concatenate, ravel
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.handle.views import view_of
from tenferro.arrays.promotion.broadcast import fitted, integers, normalize_axes, normalize_axis
from tenferro.arrays.registry import covers
from tenferro.primitives import int64

_STATIC = "an index of Python or NumPy"


def rearranged(x: Array, function: str, places: Callable[[Any, Any], Any]) -> Array:
    """Return the elements of x at the positions that ``places(numpy, positions of x)`` returns."""
    numpy = numpy_module(function)
    positions = numpy.arange(x.size).reshape(x.shape)
    return elements(ravel(x), places(numpy, positions))


def _index_of_insert(obj: Any) -> Any:
    return obj if isinstance(obj, slice) else known(_integers_if_empty(obj), "insert", _STATIC)


def _integers_if_empty(obj: Any) -> Any:
    """Return an index; an empty list, which has no dtype of its own, holds integers."""
    return zeros(0, int64) if isinstance(obj, (list, tuple)) and not len(obj) else obj


@covers("delete")
def delete(arr: Any, obj: Any, axis: int | None = None) -> Array:
    """Return an array without the elements at an index; without an axis it is flattened.

    Raises ConcretizationError: for a traced index; a static one is fine.
    """
    found = ravel(arr) if axis is None else as_array(arr)
    along = 0 if axis is None else normalize_axis(axis, found.ndim, "delete")
    numpy, size = numpy_module("delete"), found.shape[along]

    def find(entry: Any) -> Any:
        return (numpy.delete(numpy.arange(size), entry),)

    if isinstance(obj, slice):
        (places,) = find(obj)
    else:
        (places,) = found_of([_integers_if_empty(obj)], find, "delete", _STATIC)
    return elements(found, places, along)


@covers("insert")
def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Array:
    """Insert values before the elements at an index or a slice.

    Raises ConcretizationError: for a traced index; a static one is fine.
    """
    found, entry = as_array(arr), _index_of_insert(obj)
    new = fitted(values, found.dtype, "insert")
    both = concatenate([ravel(found), ravel(new)])

    def places(numpy: Any, positions: Any) -> Any:
        old = positions[: found.size].reshape(found.shape)
        return numpy.insert(old, entry, positions[found.size :].reshape(new.shape), axis)

    return rearranged(both, "insert", places)


@covers("resize")
def resize(a: Any, new_shape: Any) -> Array:
    """Return an array of a new shape, filled with repeated copies of a; zeros if a is empty."""
    found = ravel(a)
    shape = integers(new_shape)
    if not found.size:
        return zeros(shape, found.dtype)
    return rearranged(found, "resize", lambda numpy, positions: numpy.resize(positions, shape))


@covers("trim_zeros")
def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Array:
    """Remove zeros at the front ("f") and the back ("b") of an array, along all axes or some.

    Raises ConcretizationError: under ``jit``; slice by fixed positions there.
    """
    found = as_array(filt)
    if not found.ndim:
        return view_of(found, found)
    axes = normalize_axes(axis, found.ndim, "trim_zeros")
    sides = trim.lower()
    if not sides or set(sides) - set("fb"):
        raise at_user_line(ValueError(f"trim_zeros: trim consists of 'f' and 'b', got {trim!r}"))

    def find(value: Any) -> list[int]:
        bounds = zip(value.nonzero(), value.shape, strict=True)
        spans = [_span(where, n, sides) for where, n in bounds]
        return [end for span in spans for end in (span.start, span.stop)]

    ends = found_of([found], find, "trim_zeros", "slice by fixed positions, or mask with np.where")
    spans = [slice(*ends[2 * d : 2 * d + 2]) for d in range(found.ndim)]
    return getitem(found, tuple([x if d in axes else slice(None) for d, x in enumerate(spans)]))


def _span(where: Any, n: int, sides: str) -> slice:
    """Return the slice from the first to the last position, trimmed on the given sides."""
    if not where.size:
        return slice(0, 0)
    first = int(where.min()) if "f" in sides else 0
    return slice(first, int(where.max()) + 1 if "b" in sides else n)

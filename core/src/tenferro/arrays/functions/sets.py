"""Arrays as sets: distinct values, membership, unions and differences.

How many values there are depends on the values, so these need them; NumPy finds the positions,
and the values are gathered there, so that derivatives flow. Under ``jit`` only ``isin`` works.
"""

from __future__ import annotations

from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.functions._known import elements, found_of, known, numpy_module
from tenferro.arrays.functions.comparison import logical_not
from tenferro.arrays.functions.reduction import any as some
from tenferro.arrays.functions.structural import concatenate, ravel, reshape
from tenferro.arrays.handle.array import Array, evaluable
from tenferro.arrays.handle.convert import as_array, asarray
from tenferro.arrays.promotion.broadcast import cast, together
from tenferro.arrays.registry import covers

_MAX_PAIRWISE_COMPARISONS = 2**16  # comparisons
_STATIC = "work on a fixed number of elements: np.sort, np.isin, np.where"


class UniqueAll(NamedTuple):
    """Result of ``unique_all``."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """Result of ``unique_counts``."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """Result of ``unique_inverse``."""

    values: Array
    inverse_indices: Array


class _Found(NamedTuple):
    values: Array
    index: Any
    inverse: Any
    counts: Any


def _distinct(x: Array, function: str, axis: int | None = None, equal_nan: bool = True) -> _Found:
    """Return the distinct values and their positions, as NumPy finds them."""
    numpy = numpy_module(function)

    def find(value: Any) -> Any:
        return numpy.unique(value, True, True, True, axis, equal_nan=equal_nan)[1:]

    index, inverse, counts = found_of([x], find, function, _STATIC)
    values = elements(ravel(x), index) if axis is None else elements(x, index, axis)
    return _Found(values, index, inverse, counts)


@covers("unique")
def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """Find the sorted distinct elements; optionally their first positions, inverse and counts.

    The derivative of a value is that of its first occurrence.

    Raises ConcretizationError: under ``jit``.

    >>> import tenferro as tn
    >>> tn.unique(tn.asarray(1.0)).shape
    (1,)
    """
    found = _distinct(as_array(ar), "unique", axis, equal_nan)
    wanted = (return_index, return_inverse, return_counts)
    more = [as_array(x) for x, is_wanted in zip(found[1:], wanted, strict=True) if is_wanted]
    return (found.values, *more) if more else found.values


@covers("unique_all")
def unique_all(x: Any) -> UniqueAll:
    """Return distinct values, first positions, inverse and counts; each NaN is distinct."""
    found = _distinct(as_array(x), "unique_all", equal_nan=False)
    return UniqueAll(found.values, *(as_array(part) for part in found[1:]))


@covers("unique_counts")
def unique_counts(x: Any) -> UniqueCounts:
    """Return distinct values and how often each occurs; each NaN is distinct."""
    found = _distinct(as_array(x), "unique_counts", equal_nan=False)
    return UniqueCounts(found.values, as_array(found.counts))


@covers("unique_inverse")
def unique_inverse(x: Any) -> UniqueInverse:
    """Return distinct values and, for each element, the index of its value; each NaN is
    distinct.
    """
    found = _distinct(as_array(x), "unique_inverse", equal_nan=False)
    return UniqueInverse(found.values, as_array(found.inverse))


@covers("unique_values")
def unique_values(x: Any) -> Array:
    """Return the distinct values; each NaN is distinct."""
    return _distinct(as_array(x), "unique_values", equal_nan=False).values


def _set(x: Any, function: str, is_unique: bool) -> tuple[Array, Any]:
    """Return the distinct values of an array, and their positions in the flattened array."""
    flat = ravel(asarray(x))
    if is_unique:
        return flat, numpy_module(function).arange(flat.size)
    found = _distinct(flat, function)
    return found.values, found.index


@covers("intersect1d")
def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """Return the sorted values that are in both arrays; optionally their positions in both."""
    a, b = together_flat("intersect1d", ar1, ar2)
    numpy = numpy_module("intersect1d")

    def find(x: Any, y: Any) -> Any:
        return numpy.intersect1d(x, y, assume_unique, return_indices=True)[1:]

    first, second = found_of([a, b], find, "intersect1d", _STATIC)
    common = elements(a, first)
    return (common, as_array(first), as_array(second)) if return_indices else common


def together_flat(function: str, *xs: Any) -> list[Array]:
    """Flatten arrays and cast them to one dtype."""
    arrays = [ravel(asarray(x)) for x in xs]
    dtype = concatenate([x[:0] for x in arrays]).dtype
    return [cast(x, dtype) for x in arrays]


@covers("union1d")
def union1d(ar1: Any, ar2: Any) -> Array:
    """Return the sorted distinct values of both arrays."""
    return _distinct(concatenate([ar1, ar2], axis=None), "union1d").values


@covers("setdiff1d")
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Array:
    """Return the values of the first array that are not in the second, sorted unless
    ``assume_unique``.
    """
    values, _ = _set(ar1, "setdiff1d", assume_unique)
    numpy = numpy_module("setdiff1d")

    def find(x: Any, others: Any) -> Any:
        return numpy.isin(x, others, invert=True).nonzero()

    (places,) = found_of([values, asarray(ar2)], find, "setdiff1d", _STATIC)
    return elements(values, places)


@covers("setxor1d")
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Array:
    """Return the sorted values that are in exactly one of the arrays; NaN equals nothing."""
    parts = [_set(x, "setxor1d", assume_unique)[0] for x in (ar1, ar2)]
    found = _distinct(concatenate(parts), "setxor1d", equal_nan=False)
    find = lambda counts: (counts == 1).nonzero()  # noqa: E731
    (places,) = found_of([found.counts], find, "setxor1d", _STATIC)
    return elements(found.values, places)


@covers("isin")
def isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> Array:
    """Test for each element whether it is among the test elements.

    Few are compared each with each, and so are those that are only traced; many are sorted by
    NumPy. ``kind`` and ``assume_unique`` are hints to NumPy.
    """
    x, others = asarray(element), ravel(asarray(test_elements))
    is_large = x.size * others.size > _MAX_PAIRWISE_COMPARISONS
    if is_large and evaluable(x.key) and evaluable(others.key):
        values = [known(part, "isin", "") for part in (x, others)]
        return as_array(numpy_module("isin").isin(*values, invert=invert))
    a, b = together("isin", reshape(x, (*x.shape, 1)), others)
    found = some(a == b, axis=-1)
    return logical_not(found) if invert else found

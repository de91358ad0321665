"""Counts of values: ``bincount`` and the histograms.

Counts of elements carry no derivative; sums of weights do, and so do edges that come from the
smallest and the largest element. Elements beyond the edges are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from operator import index
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._known import found_of, known, numpy_module
from tenferro.arrays.functions.comparison import logical_and, where
from tenferro.arrays.functions.creation import full, ones_like, zeros
from tenferro.arrays.functions.ranges import arange
from tenferro.arrays.functions.reduction import max as largest
from tenferro.arrays.functions.reduction import min as smallest
from tenferro.arrays.functions.reduction import sum
from tenferro.arrays.functions.searching import searchsorted
from tenferro.arrays.functions.splitting import unstack
from tenferro.arrays.functions.structural import concatenate, ravel, reshape, stack, transpose
from tenferro.arrays.handle.array import Array, another_handle, evaluable
from tenferro.arrays.handle.convert import as_array, asarray
from tenferro.arrays.promotion.broadcast import cast, common_dtype
from tenferro.arrays.registry import covers
from tenferro.primitives import float64, int64, promote_dtypes, scatter_add

_FIXED = "np.histogram, or np.zeros_like(y) and y.at[x].add(w), have a fixed size"


def counted(places: Array, weights: Array, size: int) -> Array:
    """Sum the weights at each place below ``size``; places beyond it are dropped."""
    if not size:
        return zeros(0, weights.dtype)
    return scatter_add(
        zeros(size, weights.dtype),
        reshape(places, (places.size, 1)),
        ravel(weights),
        update_window_dims=(),
        inserted_window_dims=(0,),
        scatter_dims_to_operand_dims=(0,),
        mode="drop",
    )


@covers("bincount")
def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Array:
    """Count how often each of 0, 1, 2, … occurs, or sum their weights.

    Raises ConcretizationError: under ``jit``, where the largest element is not known.

    >>> import tenferro as tn
    >>> tn.bincount([2, 0, 2])
    array([1, 0, 2])
    """
    places = asarray(x)
    if places.ndim != 1 or not (places.dtype.is_integer or places.dtype.is_bool or not places.size):
        raise at_user_line(TypeError(f"bincount: need integers of rank 1, not {places.aval}"))
    if index(minlength) < 0:
        raise at_user_line(ValueError("bincount: minlength must not be negative"))
    (size,) = found_of([places], _bins, "bincount", _FIXED)
    size = max(size, index(minlength))
    places = cast(places, int64)
    if weights is None:
        return counted(places, ones_like(places), size)
    return counted(places, _weights_like(cast(_real(as_array(weights)), float64), places), size)


def _bins(values: Any) -> tuple[int]:
    if values.size and values.min() < 0:
        raise at_user_line(ValueError("bincount: need non-negative integers"))
    return (int(values.max()) + 1 if values.size else 0,)


def _real(x: Array) -> Array:
    if x.dtype.is_complex:
        raise at_user_line(TypeError("bincount: weights must be real"))
    return x


def _weights_like(weights: Array, x: Array) -> Array:
    if weights.shape != x.shape:
        raise at_user_line(ValueError(f"weights {weights.aval} for {x.aval}: need one shape"))
    return weights


@covers("histogram_bin_edges")
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Array:
    """Compute the edges of histogram bins.

    ``bins`` holds edges, a number of bins of equal width, or the name of one of NumPy's rules.

    A rule needs the values, and its edges carry no derivative.

    Raises ConcretizationError: for a rule under ``jit``; a number of bins is fine.
    """
    found = ravel(a)
    if isinstance(bins, str):
        if weights is not None:
            raise at_user_line(TypeError("histogram: the rules for bins do not support weights"))
        value = known(found, "histogram_bin_edges", "give the number of bins")
        edges = numpy_module("histogram_bin_edges").histogram_bin_edges(value, bins, range)
        return as_array(edges)
    given = asarray(bins)
    if given.ndim == 1:
        _check_increasing(given)
        return another_handle(given)
    if given.ndim:
        raise at_user_line(ValueError("histogram: bins have rank 1"))
    count = index(bins)
    if count < 1:
        raise at_user_line(ValueError("histogram: need one bin or more"))
    return _equal(found, count, range)


def _check_increasing(edges: Array) -> None:
    if evaluable(edges.key):
        value = known(edges, "histogram", "").tolist()
        if not all([a <= b for a, b in pairwise(value)]):
            raise at_user_line(ValueError("histogram: bins increase"))


def _equal(x: Array, count: int, limits: Any) -> Array:
    """Return edges of bins of equal width. A single value gets bins of total width 1."""
    first, last = _limits(x, limits)
    kind = common_dtype([x, first, last])
    kind = kind if kind.is_inexact else promote_dtypes(kind, float64)
    wide = cast(as_array(first), float64), cast(as_array(last), float64)
    is_point = wide[0] == wide[1]
    low, high = (
        where(is_point, x, y) for x, y in zip((wide[0] - 0.5, wide[1] + 0.5), wide, strict=True)
    )
    steps = low + cast(arange(count), float64) * ((high - low) / count)
    return cast(concatenate([steps, reshape(high, (1,))]), kind)


def _limits(x: Array, limits: Any) -> tuple[Any, Any]:
    """Return the first and the last edge: Arrays, or Python numbers that decide no dtype."""
    if limits is not None:
        low, high = limits
    else:
        low, high = (smallest(x), largest(x)) if x.size else (0, 1)
    ends = [as_array(value) for value in (low, high)]
    if all([evaluable(end.key) for end in ends]):
        a, b = (float(known(end, "histogram", "")) for end in ends)
        if not (a <= b and b - a < float("inf")):
            raise at_user_line(ValueError(f"histogram: no finite range from {a} to {b}"))
    return low, high


@covers("histogram")
def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Array, Array]:
    """Compute a histogram: counts or weights per bin, and the edges of the bins.

    Every bin contains its left end, the last one its right end too.
    """
    found = ravel(a)
    edges = histogram_bin_edges(found, bins, range, weights)
    size = max(edges.size - 1, 0)
    if weights is None:
        each = ones_like(found, int64)
    else:
        each = _weights_like(as_array(weights), as_array(a))
    counts = counted(_bin(found, edges), each, size)
    if density:
        widths = cast(edges[1:] - edges[:-1], float64)
        return counts / widths / sum(counts), edges
    return counts, edges


def _bin(x: Array, edges: Array) -> Array:
    """Return the bin of each element; elements beyond the edges get an invalid bin."""
    if edges.size < 2:
        return full(x.shape, edges.size, int64)
    places = searchsorted(edges, x, "right") - 1
    on_edge = x == edges[-1]
    places = where(on_edge, edges.size - 2, places)
    inside = logical_and(places >= 0, places < edges.size - 1)
    result: Array = where(inside, places, edges.size)
    return result


@covers("histogramdd")
def histogramdd(
    sample: Any,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: Any = None,
) -> tuple[Array, tuple[Array, ...]]:
    """Compute a histogram of points in d dimensions: counts or weights per box, and the edges.

    sample: [n, d], or a sequence of d arrays of n coordinates
    """
    columns = _columns(sample)
    each = _for_each(bins, len(columns))
    given = [None] * len(columns) if range is None else range
    limits = [None if pair is None else [as_array(end) for end in pair] for pair in given]
    edges = [
        histogram_bin_edges(x, b, limit) for x, b, limit in zip(columns, each, limits, strict=True)
    ]
    sizes = [max(edge.size - 1, 0) for edge in edges]
    places = _boxes([_bin(x, edge) for x, edge in zip(columns, edges, strict=True)], sizes)
    w = full(places.shape, 1.0) if weights is None else cast(as_array(weights), float64)
    counts = reshape(counted(places, _weights_like(w, places), prod(sizes)), sizes)
    return (_density(counts, edges) if density else counts), tuple(edges)


def _columns(sample: Any) -> Sequence[Array]:
    if isinstance(sample, (tuple, list)):
        found = stack([asarray(x) for x in sample]) if len(sample) else as_array(0)
    else:
        found = transpose(at_least_matrix(as_array(sample)))
    if found.ndim != 2:
        raise at_user_line(ValueError(f"histogramdd: need coordinates of points, not {found.aval}"))
    return unstack(found)


def at_least_matrix(x: Array) -> Array:
    """Return numbers as a matrix of points with one coordinate."""
    return x if x.ndim > 1 else reshape(x, (x.size, 1))


def _for_each(bins: Any, count: int) -> list[Any]:
    """Return one entry of bins per axis, from one number or from one entry per axis."""
    if isinstance(bins, (tuple, list)) or getattr(bins, "ndim", 0) > 0:
        if len(bins) != count:
            raise at_user_line(ValueError(f"histogramdd: {len(bins)} bins for {count} axes"))
        return list(bins)
    return [bins] * count


def _boxes(places: Sequence[Array], sizes: Sequence[int]) -> Array:
    """Return positions in the flattened grid; a point outside gets a position beyond the grid."""
    flat, inside = places[0] * 0, places[0] >= 0
    for place, n in zip(places, sizes, strict=True):
        flat = flat * n + place
        inside = logical_and(inside, place < n)
    result: Array = where(inside, flat, prod(sizes))
    return result


def _density(counts: Array, edges: Sequence[Array]) -> Array:
    result = counts / sum(counts)
    for axis, edge in enumerate(edges):
        shape = [-1 if i == axis else 1 for i in range(counts.ndim)]
        result = result / reshape(edge[1:] - edge[:-1], shape)
    return result


@covers("histogram2d")
def histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: Any = None,
) -> tuple[Array, Array, Array]:
    """Compute a histogram of points in the plane: counts per box, and the edges of both axes."""
    sample = [ravel(x), ravel(y)]
    both = _is_shared(bins)
    grid = [bins, bins] if both else bins
    counts, (first, second) = histogramdd(sample, grid, range, density, weights)
    return counts, first, second


def _is_shared(bins: Any) -> bool:
    """Return True if ``bins`` are edges for both axes."""
    return hasattr(bins, "__len__") and len(bins) not in (1, 2)

"""Medians, percentiles and quantiles: a sort, and elements gathered from it.

Derivatives flow to the elements next to a quantile, and to q. The methods are those of R. J.
Hyndman and Y. Fan, Sample quantiles in statistical packages, Am. Stat. 50 (1996) 361, and the
discontinuous four of NumPy. Read next: ``nan_functions.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._known import known
from tenferro.arrays.functions._out import into
from tenferro.arrays.functions.arithmetic import add, clip, divide, maximum, multiply, subtract
from tenferro.arrays.functions.broadcasting import broadcast_to
from tenferro.arrays.functions.comparison import isnan, logical_and, logical_not, where
from tenferro.arrays.functions.creation import full
from tenferro.arrays.functions.moments import mean, weights_of
from tenferro.arrays.functions.reduction import sum
from tenferro.arrays.functions.rounding import ceil, floor, remainder, rint
from tenferro.arrays.functions.sorting import positions
from tenferro.arrays.functions.structural import reshape, transpose
from tenferro.arrays.handle.array import Array, evaluable
from tenferro.arrays.handle.convert import as_array, asarray, weak_kind
from tenferro.arrays.promotion.broadcast import cast, floating, normalize_axes
from tenferro.arrays.registry import covers
from tenferro.computegraph import UNKNOWN
from tenferro.primitives import DTypeMismatchError, bool_, cumulative, float64, int64
from tenferro.primitives import sorting as p
from tenferro.primitives.indexing import gather, take_along_axis

CONTINUOUS = {  # α and β of Hyndman and Fan's position n q + α + q (1 − α − β), counted from 1
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "linear": (1.0, 1.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
METHODS = (
    *CONTINUOUS, "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "lower", "higher",
    "midpoint", "nearest",
)  # fmt: skip


class ReducedAxis(NamedTuple):
    """An array whose reduced axes are one, in front, and how to give the result its shape."""

    x: Array
    kept: tuple[int, ...]
    shape: tuple[int, ...]

    def shaped(self, result: Array, leading: Sequence[int], keepdims: bool) -> Array:
        """Reshape the result to have the axes of the quantiles in front."""
        return reshape(result, (*leading, *(self.shape if keepdims else self.kept)))


def line(x: Array, axis: Any, function: str) -> ReducedAxis:
    """Join the reduced axes of an array into one axis in front."""
    axes = normalize_axes(axis, x.ndim, function)
    rest = [i for i in range(x.ndim) if i not in axes]
    kept = tuple(x.shape[i] for i in rest)
    count = prod([x.shape[i] for i in axes])
    front = reshape(transpose(x, (*axes, *rest)), (count, *kept))
    return ReducedAxis(front, kept, tuple(1 if i in axes else n for i, n in enumerate(x.shape)))


def nan_where(mask: Array, x: Array) -> Array:
    """x, or NaN where a mask holds."""
    result: Array = where(mask, cast(as_array(float("nan")), x.dtype), x)
    return result


@covers("median")
def median(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False
) -> Array:
    """Compute the median over axes. If any element is NaN, the result is NaN.

    >>> import tenferro as tn
    >>> tn.median(tn.asarray(1.0)).shape
    ()
    """
    found = as_array(a)
    flat = line(found, axis, "median")
    n = flat.x.shape[0]
    ordered = p.sort([flat.x], 0)[0]
    middle = mean(ordered[max((n - 1) // 2, 0) : n // 2 + 1], 0)
    if n and found.dtype.is_inexact:
        middle = nan_where(isnan(ordered[-1]), middle)
    return into(out, flat.shaped(middle, (), keepdims), "median")


@covers("percentile")
def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Array:
    """Compute the q-th percentile over axes by one of NumPy's methods."""
    return quantile_of(a, q, axis, out, method, keepdims, weights, "percentile")


@covers("quantile")
def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Array:
    """Compute the q-th quantile over axes by one of NumPy's methods."""
    return quantile_of(a, q, axis, out, method, keepdims, weights, "quantile")


def quantile_of(
    a: Any,
    q: Any,
    axis: Any,
    out: Any,
    method: str,
    keepdims: bool,
    weights: Any,
    function: str,
) -> Array:
    """Compute ``quantile``, ``percentile``, ``nanquantile`` or ``nanpercentile`` over axes."""
    found = as_array(a)
    whole = 100 if function.endswith("percentile") else 1
    part = _fraction(q, found, whole, method, function)
    skips_nan = function.startswith("nan")
    result = _quantile(found, part, axis, method, keepdims, weights, skips_nan, function)
    return into(out, result, function)


def _fraction(q: Any, x: Array, whole: int, method: str, function: str) -> Array:
    """q as a part of 1; a Python number takes the dtype of a float array."""
    if x.dtype.is_complex:
        error = DTypeMismatchError.of(
            function, "complex numbers have no quantiles", got=x.aval, need="real numbers"
        )
        raise at_user_line(error)
    given = asarray(q)
    _check_range(given, whole, function)
    is_weak = weak_kind(q) in (int, float) and x.dtype.is_float
    kind = x.dtype if is_weak else given.dtype if given.dtype.is_inexact else float64
    if whole == 1:  # 0 and 1 as integers name elements, which keep their dtype
        names = given.dtype.is_integer and (method == "linear" or not is_weak)
        return given if names else cast(given, kind)
    return divide(cast(given, kind), whole)


def _check_range(q: Array, whole: int, function: str) -> None:
    """Refuse a q beyond the whole that is at hand; any other is clipped."""
    if q.size and q.key.operand is not UNKNOWN:
        value = known(q, function, "")
        if not (value.min() >= 0 and value.max() <= whole):
            raise at_user_line(ValueError(f"{function}: q lies outside 0 … {whole}"))


def _quantile(
    x: Array,
    q: Array,
    axis: Any,
    method: str,
    keepdims: bool,
    weights: Any,
    skips_nan: bool,
    function: str,
) -> Array:
    """Compute quantiles over axes. A NaN is skipped if ``skips_nan``, else it is the result."""
    if method not in METHODS:
        raise at_user_line(ValueError(f"{function}: method is one of {', '.join(METHODS)}"))
    flat = line(x, axis, function)
    if not flat.x.shape[0]:
        return _of_nothing(flat, q, keepdims, skips_nan, function)
    flat_q = reshape(q, (q.size,))
    ordered = p.sort([flat.x], 0)[0]
    if weights is not None:
        each = as_array(weights)
        _check_weights(each, function)
        w = line(broadcast_to(weights_of(each, x, axis), x.shape), axis, function).x
        result = _weighted(flat.x, w, flat_q, method, function)
    else:
        count: Any = flat.x.shape[0]
        if skips_nan:
            count = cast(sum(logical_not(isnan(flat.x)), 0), q.dtype)
        result = _between(ordered, count, flat_q, method)
    if x.dtype.is_inexact:
        result = nan_where(isnan(ordered[0 if skips_nan else -1]), result)
    return flat.shaped(result, q.shape, keepdims)


def _check_weights(weights: Array, function: str) -> None:
    """Refuse known weights that order no elements; weights that are only traced pass."""
    if weights.dtype.is_complex or not evaluable(weights.key):
        return
    value = known(weights, function, "")
    if not ((value >= 0).all() and 0 < value.sum() < float("inf")):
        text = f"{function}: weights are finite and not negative, and not all of them are 0"
        raise at_user_line(ValueError(text))


def _of_nothing(
    flat: ReducedAxis, q: Array, keepdims: bool, skips_nan: bool, function: str
) -> Array:
    """NaN where NaN is left out, since nothing may be left; otherwise a mistake, as in NumPy."""
    if not skips_nan:
        raise at_user_line(IndexError(f"{function}: no element among {flat.x.aval}"))
    kind = flat.x.dtype if flat.x.dtype.is_inexact else float64
    return flat.shaped(full((q.size, *flat.kept), float("nan"), kind), q.shape, keepdims)


def _between(ordered: Array, count: Any, q: Array, method: str) -> Array:
    """Return elements of a sorted axis at the positions of q, interpolated if the method does
    so.
    """
    q = reshape(q, (q.size, *[1] * (ordered.ndim - 1))) if isinstance(count, Array) else q
    last = count - 1
    place, weight = _position(count, q, method)
    top = maximum(last, 0)
    before = _taken(ordered, clip(place, 0, top))
    if weight is None:
        return before
    after = _taken(ordered, clip(place + 1, 0, top))
    weight = reshape(weight, (*weight.shape, *[1] * (before.ndim - weight.ndim)))
    return _interpolated(before, after, weight)


def _interpolated(before: Array, after: Array, weight: Array) -> Array:
    """Interpolate between two elements, starting from the nearer one, as NumPy rounds it."""
    step = subtract(after, before)
    from_below, from_above = add(before, step * weight), subtract(after, step * (1 - weight))
    result: Array = where(weight < 0.5, from_below, from_above)
    return result


def _taken(ordered: Array, places: Array) -> Array:
    """Take elements at the same positions everywhere, or at one position per line."""
    whole = cast(places, int64)
    if whole.ndim > 1:
        every = broadcast_to(whole, (len(whole), *ordered.shape[1:]))
        return take_along_axis(ordered, every, 0, mode="clip")
    return gather(
        ordered,
        reshape(whole, (len(whole), 1)),
        offset_dims=range(1, ordered.ndim),
        collapsed_slice_dims=(0,),
        start_index_map=(0,),
        slice_sizes=(1, *ordered.shape[1:]),
        mode="clip",
    )


def _position(n: Any, q: Array, method: str) -> tuple[Array, Array | None]:
    """Return the position before a quantile, counted from 0, and the weight of the next element.

    Without a weight the element is the quantile, in its own dtype.
    """
    if q.dtype.is_integer and method == "linear":
        return multiply(q, n - 1), None
    q = floating(q)
    if method in CONTINUOUS or method in ("averaged_inverted_cdf", "midpoint"):
        virtual = _virtual(n, q, method)
        before = floor(virtual)
        weight = virtual - before
        if method == "averaged_inverted_cdf":
            weight = where(weight == 0, cast(as_array(0.5), q.dtype), cast(as_array(1.0), q.dtype))
        return before, weight
    if method in _ROUNDINGS:
        return _ROUNDINGS[method]((n - 1) * q), None
    virtual = n * q - (1 if method == "inverted_cdf" else 1.5)
    before = floor(virtual)
    stays = before == virtual
    if method == "closest_observation":
        stays = logical_and(stays, remainder(before, 2) == 1)
    return where(stays, before, before + 1), None


_ROUNDINGS = {"lower": floor, "higher": ceil, "nearest": rint}


def _virtual(n: Any, q: Array, method: str) -> Array:
    """Return the fractional position of a quantile among the elements, counted from 0."""
    if method == "linear":
        return multiply(q, n - 1)
    if method == "midpoint":
        return (floor((n - 1) * q) + ceil((n - 1) * q)) * 0.5
    if method == "averaged_inverted_cdf":
        return subtract(multiply(q, n), 1)
    alpha, beta = CONTINUOUS[method]
    return subtract(multiply(q, n) + (alpha + q * (1 - alpha - beta)), 1)


def _weighted(x: Array, w: Array, q: Array, method: str, function: str) -> Array:
    """Return the first element at which the cumulative weight reaches q; NaNs have weight 0."""
    if method != "inverted_cdf":
        raise at_user_line(ValueError(f"{function}: weights need method='inverted_cdf'"))
    w = cast(w, float64) if not w.dtype.is_inexact else w
    w = where(isnan(x), cast(as_array(0), w.dtype), w)
    order = positions(x, 0)
    sums = cumulative.cumsum(take_along_axis(w, order, 0), 0)
    reached = sums / sums[-1:]
    reached = where(reached == 0, -1.0, reached)
    asked = reshape(q, (1, q.size, *[1] * (x.ndim - 1)))
    before = sum(cast(reshape(reached, (x.shape[0], 1, *x.shape[1:])) < asked, bool_), 0)
    places = take_along_axis(order, clip(before, 0, x.shape[0] - 1), 0)
    return take_along_axis(x, places, 0)

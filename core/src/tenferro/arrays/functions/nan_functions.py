"""Reductions that leave out NaN, whose derivative there is 0 and never NaN.

A NaN is replaced, before anything is computed, by what changes nothing; where a line holds nothing
else, the result is NaN (sums: 0, products: 1), as in NumPy. Read next: ``quantiles.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions import cumulative, moments, reduction
from tenferro.arrays.functions._known import known
from tenferro.arrays.functions._out import into
from tenferro.arrays.functions.arithmetic import divide, maximum, minimum, sqrt
from tenferro.arrays.functions.comparison import isnan, logical_and, logical_not
from tenferro.arrays.functions.moments import squared_modulus
from tenferro.arrays.functions.quantiles import line, median, nan_where, quantile_of
from tenferro.arrays.functions.reduction import spread
from tenferro.arrays.functions.structural import concatenate
from tenferro.arrays.handle.array import Array, evaluable
from tenferro.arrays.handle.convert import as_array, scalar
from tenferro.arrays.promotion.broadcast import cast, mask_of, reduced_axes
from tenferro.arrays.registry import covers
from tenferro.primitives import DType, int64, select
from tenferro.primitives import sorting as p
from tenferro.primitives.indexing import take_along_axis


def replaced(x: Array, filler: float) -> Array:
    """x with a number instead of every NaN."""
    if not x.dtype.is_inexact:
        return x
    return select(isnan(x), spread(scalar(filler, x.dtype), x), x)


def _valid(x: Array, where: Any) -> Any:
    """Return the mask of elements that count: not NaN, and selected by ``where``."""
    if not x.dtype.is_inexact:
        return where
    mask = logical_not(isnan(x))
    return mask if where is True else logical_and(mask, mask_of(where, "nanmean"))


@covers("nansum")
def nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """Return the sum of array elements over the given axes, ignoring NaNs.

    >>> import tenferro as tn
    >>> tn.nansum(tn.asarray(float("nan"))).shape
    ()
    """
    return reduction.sum(replaced(as_array(a), 0), axis, dtype, out, keepdims, initial, where)


@covers("nanprod")
def nanprod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """Return the product of array elements over the given axes, ignoring NaNs."""
    return reduction.prod(replaced(as_array(a), 1), axis, dtype, out, keepdims, initial, where)


@covers("nanmax")
def nanmax(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """Return the maximum over the given axes, ignoring NaNs."""
    result = _extremum(reduction.max, as_array(a), -1, axis, keepdims, initial, where)
    return into(out, result, "nanmax")


@covers("nanmin")
def nanmin(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """Return the minimum over the given axes, ignoring NaNs."""
    result = _extremum(reduction.min, as_array(a), 1, axis, keepdims, initial, where)
    return into(out, result, "nanmin")


def _extremum(
    function: Any, x: Array, sign: int, axis: Any, keepdims: bool, initial: Any, where: Any
) -> Array:
    full = replaced(x, sign * float("inf"))
    result: Array = function(full, axis, None, keepdims, initial, where)
    if not x.dtype.is_inexact or initial is not None:
        return result
    return nan_where(reduction.all(isnan(x), axis, keepdims=keepdims), result)


def _checked(x: Array, axis: Any, dtype: Any, name: str) -> Any:
    """Return the axes, after checking that the mean of floats is not asked for as integers."""
    if not x.dtype.is_inexact:
        return axis
    if dtype is not None and not DType.of(dtype).is_inexact:
        raise at_user_line(TypeError(f"{name}: the dtype of {x.aval} cannot become {dtype}"))
    return axis if x.ndim else reduced_axes(axis, 0, name)


@covers("nanmean")
def nanmean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> Array:
    """Compute the arithmetic mean over the given axes, ignoring NaNs."""
    found = as_array(a)
    axis = _checked(found, axis, dtype, "nanmean")
    valid = _valid(found, where)
    return moments.mean(replaced(found, 0), axis, dtype, out, keepdims, where=valid)


@covers("nanvar")
def nanvar(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> Array:
    """Compute the variance over the given axes, ignoring NaNs; NaN if too few elements remain."""
    ddof = moments.one_name(ddof, correction)
    found = as_array(a)
    axis = _checked(found, axis, dtype, "nanvar")
    valid = _valid(found, where)
    if valid is where:
        return moments.var(found, axis, dtype, out, ddof, keepdims, where=where, mean=mean)
    kind = found.dtype if dtype is None else DType.of(dtype)
    full = replaced(found, 0)
    if mean is None:
        mean = moments.mean(full, axis, kind, keepdims=True, where=valid)
    squares = squared_modulus(reduction.among(full - as_array(mean), valid, 0, "nanvar"))
    total = reduction.sum(squares, axis, kind.real_dtype, keepdims=keepdims)
    count = cast(reduction.sum(valid, axis, keepdims=keepdims), kind.real_dtype)
    left = count - ddof
    spread = divide(total, maximum(left, 1e-3))
    spread = nan_where(left <= 0, cast(spread, kind.real_dtype))
    return into(out, cast(spread, moments.kind_of_spread(dtype, spread.dtype)), "nanvar")


@covers("nanstd")
def nanstd(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> Array:
    """Compute the standard deviation over the given axes, ignoring NaNs."""
    spread = nanvar(
        a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction
    )
    return into(out, cast(sqrt(spread), spread.dtype), "nanstd")


@covers("nancumsum")
def nancumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
    """Return the cumulative sum along an axis, treating NaNs as 0."""
    return cumulative.cumsum(replaced(as_array(a), 0), axis, dtype, out)


@covers("nancumprod")
def nancumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
    """Return the cumulative product along an axis, treating NaNs as 1."""
    return cumulative.cumprod(replaced(as_array(a), 1), axis, dtype, out)


@covers("nanargmax")
def nanargmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Array:
    """Return the indices of the first maximum along an axis, ignoring NaNs.

    Raises ValueError: if known elements are all NaN; where they are only traced it gives 0.
    """
    found = _some(as_array(a), axis, "nanargmax")
    return reduction.argmax(replaced(found, -float("inf")), axis, out, keepdims=keepdims)


@covers("nanargmin")
def nanargmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Array:
    """Return the indices of the first minimum along an axis, ignoring NaNs.

    Raises ValueError: if known elements are all NaN; where they are only traced it gives 0.
    """
    found = _some(as_array(a), axis, "nanargmin")
    return reduction.argmin(replaced(found, float("inf")), axis, out, keepdims=keepdims)


def _some(x: Array, axis: int | None, function: str) -> Array:
    """x, found to have something else than NaN on every line."""
    if x.dtype.is_inexact and evaluable(x.key):
        if known(reduction.all(isnan(x), axis if x.ndim else None), function, "").any():
            raise at_user_line(ValueError(f"{function}: all elements along a line are NaN"))
    return x


@covers("nanmedian")
def nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False
) -> Array:
    """Compute the median over the given axes, ignoring NaNs."""
    found = as_array(a)
    flat = line(found, axis, "nanmedian")
    if not flat.x.shape[0] or not found.dtype.is_inexact:
        return median(found, axis, out, keepdims=keepdims)
    count = reduction.sum(logical_not(isnan(flat.x)), 0, int64, keepdims=True)
    ordered, last = p.sort([flat.x], 0)[0], flat.x.shape[0] - 1
    places = [maximum(count - 1, 0) // 2, minimum(count // 2, last)]
    middle = [take_along_axis(ordered, place, 0, mode="clip") for place in places]
    result = moments.mean(concatenate(middle), 0)
    return into(out, flat.shaped(result, (), keepdims), "nanmedian")


@covers("nanpercentile")
def nanpercentile(
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
    """Compute the q-th percentile over the given axes, ignoring NaNs."""
    return quantile_of(a, q, axis, out, method, keepdims, weights, "nanpercentile")


@covers("nanquantile")
def nanquantile(
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
    """Compute the q-th quantile over the given axes, ignoring NaNs."""
    return quantile_of(a, q, axis, out, method, keepdims, weights, "nanquantile")

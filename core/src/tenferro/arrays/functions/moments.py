"""Means, variances and covariances, with weights and masks.

A variance of 0 has the derivative 0; that of the standard deviation there is NaN, the product of
the square root's inf with 0: take ``np.sqrt(np.var(x) + eps)`` where that can happen.
Read next: ``quantiles.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._known import known
from tenferro.arrays.functions._out import into
from tenferro.arrays.functions.arithmetic import clip, divide, maximum, mean_dtype, multiply, sqrt
from tenferro.arrays.functions.broadcasting import at_least, broadcast_to
from tenferro.arrays.functions.complex import conj, imag, real
from tenferro.arrays.functions.contraction import matmul
from tenferro.arrays.functions.reduction import among, keep, sum
from tenferro.arrays.functions.structural import concatenate, reshape, transpose
from tenferro.arrays.handle.array import Array, evaluable
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import cast, flag, mask_of, normalize_axes, reduced_axes
from tenferro.arrays.registry import covers
from tenferro.primitives import (
    DType,
    ShapeMismatchError,
    arithmetic,
    float32,
    float64,
    promote_dtypes,
    reduce_sum,
)
from tenferro.primitives import complex as complex_of


@covers("mean")
def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> Array:
    """Compute the arithmetic mean over axes.

    Integers are averaged in float64, half-precision floats in float32.

    >>> import tenferro as tn
    >>> tn.mean(tn.asarray(2.0)).shape
    ()
    """
    found = as_array(a)
    kind = mean_dtype(found.dtype) if dtype is None else DType.of(dtype)
    is_half = dtype is None and kind.bits == 16  # their sums overflow early
    wide = cast(found, float32 if is_half else kind)
    axes = _counted_axes(axis, found.ndim, "mean")
    keepdims = flag(keepdims, "keepdims", "mean")
    total = _total(among(wide, where, 0, "mean"), axes, keepdims)
    result = cast(divide(total, _count(found, axes, keepdims, where, wide.dtype)), kind)
    return into(out, result, "mean") if out is not None else result


def _counted_axes(axis: Any, ndim: int, function: str) -> tuple[int, ...]:
    """Return the axes whose elements are counted. A number has none, as in NumPy."""
    find = reduced_axes if ndim else normalize_axes
    return find(axis, ndim, function)


def _total(x: Array, axes: Sequence[int], keepdims: bool) -> Array:
    result = reduce_sum(x, axes)
    return keep(result, x, axes) if keepdims else result


def _count(x: Array, axes: Sequence[int], keepdims: bool, where: Any, kind: DType) -> Any:
    """Return the number of reduced elements, as an array if a mask decides."""
    if where is True:
        return prod([x.shape[i] for i in axes])
    mask = broadcast_to(mask_of(where, "mean"), x.shape)
    return cast(sum(mask, axes, keepdims=keepdims), kind.real_dtype)


@covers("var")
def var(
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
    """Compute the variance over axes: Σ |x − mean|² / (n − ddof).

    ``correction`` is the Array API's name of ``ddof``; ``mean`` is one that is known already, with
    its axes kept.
    """
    ddof = one_name(ddof, correction)
    found = as_array(a)
    kind = mean_dtype(found.dtype) if dtype is None else DType.of(dtype)
    axis = _counted_axes(axis, found.ndim, "var")
    keepdims = flag(keepdims, "keepdims", "var")
    center = _mean(found, axis, kind, keepdims=True, where=where) if mean is None else mean
    squares = squared_modulus(among(found - as_array(center), where, 0, "var"))
    kind = kind.real_dtype
    total = _total(cast(squares, kind), axis, keepdims)
    count = _count(found, axis, keepdims, where, kind)
    left = maximum(count - ddof, 0) if isinstance(count, Array) else _positive(count - ddof)
    return into(out, cast(divide(total, left), kind_of_spread(dtype, kind)), "var")


_mean = mean


def kind_of_spread(dtype: Any, kind: DType) -> DType:
    """Return the dtype of a variance that is computed in a real one; the asked dtype wins."""
    return kind if dtype is None else DType.of(dtype)


def _positive(count: float) -> float:
    return count if count > 0 else 0


def one_name(ddof: float, correction: Any) -> float:
    """Return the value of a parameter that has two names. At most one of them may be given."""
    if correction is None:
        return ddof
    if ddof != 0:
        raise at_user_line(ValueError("var: give ddof or correction, not both"))
    return float(correction)


def squared_modulus(x: Array) -> Array:
    """|x|²."""
    if x.dtype.is_complex:
        return real(arithmetic.mul(x, conj(x)))
    return arithmetic.square(x)


@covers("std")
def std(
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
    """Compute the standard deviation over axes. Where it is 0, its derivative is NaN."""
    spread = var(
        a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction
    )
    return into(out, cast(sqrt(spread), spread.dtype), "std")


@covers("average")
def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False
) -> Any:
    """Compute the weighted average over axes; with ``returned``, also the sum of the weights.

    weights: of the shape of a, or of the axes that are averaged

    Weights that sum to 0 give NaN or inf.
    """
    found, axis = as_array(a), tuple(axis) if isinstance(axis, list) else axis
    if weights is None:
        result = mean(found, axis, keepdims=keepdims)
        axes = normalize_axes(axis, found.ndim, "average")
        total: Any = cast(as_array(prod([found.shape[i] for i in axes])), result.dtype)
    else:
        w = weights_of(as_array(weights), found, axis)
        kind = promote_dtypes(found.dtype, w.dtype)
        kind = kind if found.dtype.is_inexact else promote_dtypes(kind, float64)
        total = sum(broadcast_to(w, found.shape), axis, kind, keepdims=keepdims)
        result = sum(multiply(cast(found, kind), cast(w, kind)), axis, keepdims=keepdims) / total
    return (result, broadcast_to(total, result.shape)) if returned else result


def weights_of(w: Array, x: Array, axis: Any) -> Array:
    """Reshape weights to have one axis for each axis of x."""
    if w.shape == x.shape:
        return w
    given = () if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = [i % x.ndim for i in given]
    if w.shape != tuple(x.shape[i] for i in axes) or not axes:
        error = ShapeMismatchError.of(
            "average", "weights do not fit", got=f"weights {w.aval}, a {x.aval}, axis={axis}",
            need="the shape of a, or of its axes that are averaged", shapes=(x.shape, w.shape),
        )  # fmt: skip
        raise at_user_line(error)
    ordered = transpose(w, sorted(range(len(axes)), key=axes.__getitem__))
    return reshape(ordered, [n if i in axes else 1 for i, n in enumerate(x.shape)])


@covers("cov")
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Array:
    """Estimate the covariance matrix of variables in rows, or in columns if ``rowvar`` is False.

    Observations may be repeated (``fweights``) or weighted (``aweights``). Weights are float64, and
    so is the result, as in NumPy, whatever ``dtype`` the variables have.

    Raises ValueError: if ``ddof`` is not an integer.
    """
    if ddof is not None and ddof != int(ddof):
        raise at_user_line(ValueError("cov: ddof must be an integer"))
    x = _variables(m, y, rowvar, dtype)
    w = _product(fweights, aweights, x)
    free = (0 if bias else 1) if ddof is None else ddof
    if w is None:
        total: Any = x.shape[1]
        left: Any = total - free
        centered = x - mean(x, 1, keepdims=True)
        weighted = centered
    else:
        total = sum(w)
        centered = cast(x - sum(x * w, 1, keepdims=True) / total, x.dtype)
        weighted = centered * w
        centered = cast(centered, weighted.dtype)
        lost = free if aweights is None else sum(w * as_array(aweights)) * free / total
        left = total - lost
    factor = maximum(left, 0) if isinstance(left, Array) else _positive(left)
    result = divide(matmul(weighted, conj(transpose(centered))), factor)
    return reshape(result, [n for n in result.shape if n != 1])


def _variables(m: Any, y: Any, rowvar: bool, dtype: Any) -> Array:
    """Return all variables as rows of floats."""
    given = [m] if y is None else [m, y]
    parts = [as_array(x) for x in given]
    kind = float64
    for x in parts:
        _refuse_high_rank(x)
        kind = promote_dtypes(kind, x.dtype)
    kind = kind if dtype is None else DType.of(dtype)
    rows = [_rows(cast(x, kind), rowvar) for x in parts]
    return rows[0] if len(rows) == 1 else concatenate(rows)


def _rows(x: Array, rowvar: bool) -> Array:
    rows = at_least(x, 2)
    return rows if rowvar or x.ndim < 2 else transpose(rows)


def _refuse_high_rank(x: Array) -> None:
    if x.ndim > 2:
        raise at_user_line(
            ShapeMismatchError.of(
                "cov", "more than two axes", got=x.aval, need="rank 2 or less", shapes=(x.shape,)
            )
        )


def _product(fweights: Any, aweights: Any, x: Array) -> Array | None:
    """Return the product of the given weights."""
    given = [as_array(w) for w in (fweights, aweights) if w is not None]
    if fweights is not None and not given[0].dtype.is_integer:
        raise at_user_line(TypeError("cov: fweights must be integers"))
    if fweights is not None and evaluable(given[0].key) and (known(given[0], "cov", "") < 0).any():
        raise at_user_line(ValueError("cov: fweights must not be negative"))
    if not given:
        return None
    w = given[0] if len(given) == 1 else multiply(*given)
    if w.shape != x.shape[1:]:
        error = ShapeMismatchError.of(
            "cov", "weights do not fit", got=f"{w.aval} for {x.shape[1]} observations",
            need="one weight for each observation", shapes=(w.shape, x.shape),
        )  # fmt: skip
        raise at_user_line(error)
    return cast(w, float64)


@covers("corrcoef")
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Array:
    """Return the matrix of Pearson correlation coefficients, clipped to [−1, 1]."""
    c = cov(x, y, rowvar, dtype=dtype)
    if not c.ndim:
        return c / c
    deviation = sqrt(real(_diagonal(c)))
    scaled = c / reshape(deviation, (-1, 1)) / deviation
    return _limited(scaled)


def _diagonal(c: Array) -> Array:
    n = c.shape[0]
    return reshape(c, (n * n,))[:: n + 1]


def _limited(c: Array) -> Array:
    """Clip rounding errors beyond ±1. At a bound the derivative is 0."""
    if c.dtype.is_complex:
        return complex_of(_limited(real(c)), _limited(imag(c)))
    return clip(c, -1, 1)

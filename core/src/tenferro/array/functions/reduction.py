"""Reductions of arrays: NumPy's names, ``axis`` and ``keepdims``, over the primitives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.array._array import Array
from tenferro.array._broadcast import cast, normalize_axes, normalize_axis
from tenferro.array._convert import as_array
from tenferro.array._registry import covers
from tenferro.array.functions.arithmetic import mean_dtype, sqrt, sum_dtype
from tenferro.primitives import DType, arithmetic, bool_, float32, int64, structural
from tenferro.primitives import reduction as p
from tenferro.primitives.complex import conj, real

_Reduce = Callable[[Array, Sequence[int]], Array]


def _reduce(function: _Reduce, x: Array, axis: Any, keepdims: bool, name: str) -> Array:
    axes = normalize_axes(axis, x.ndim, name)
    result = function(x, axes)
    return _keep(result, x, axes) if keepdims else result


def _keep(result: Array, x: Array, axes: Sequence[int]) -> Array:
    shape = [1 if i in axes else n for i, n in enumerate(x.shape)]
    return structural.reshape(result, shape)


@covers("sum")
def sum(x: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Array:
    """The sum over axes; small integers and bools are summed as 64-bit integers.

    >>> sum(as_array(2.0)).shape
    ()
    """
    found = as_array(x)
    kind = sum_dtype(found.dtype) if dtype is None else DType.of(dtype)
    return _reduce(p.reduce_sum, cast(found, kind), axis, keepdims, "sum")


@covers("prod")
def prod(x: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Array:
    """The product over axes; its derivatives are right where elements are zero."""
    found = as_array(x)
    kind = sum_dtype(found.dtype) if dtype is None else DType.of(dtype)
    return _reduce(p.reduce_prod, cast(found, kind), axis, keepdims, "prod")


@covers("max", "amax")
def max(x: Any, axis: Any = None, *, keepdims: bool = False) -> Array:
    """The largest element over axes; NaN wins. Ties share the derivative equally."""
    return _reduce(p.reduce_max, as_array(x), axis, keepdims, "max")


@covers("min", "amin")
def min(x: Any, axis: Any = None, *, keepdims: bool = False) -> Array:
    """The smallest element over axes; NaN wins. Ties share the derivative equally."""
    return _reduce(p.reduce_min, as_array(x), axis, keepdims, "min")


@covers("mean")
def mean(x: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Array:
    """The mean over axes; integers are averaged as float64, half floats in float32."""
    found = as_array(x)
    kind = mean_dtype(found.dtype) if dtype is None else DType.of(dtype)
    is_half = dtype is None and kind.bits == 16  # their sums overflow early
    wide = cast(found, float32 if is_half else kind)
    count = _count(found, axis, "mean")
    return cast(sum(wide, axis, keepdims=keepdims) / count, kind)


def _count(x: Array, axis: Any, name: str) -> int:
    count = 1
    for a in normalize_axes(axis, x.ndim, name):
        count *= x.shape[a]
    return count


@covers("var")
def var(
    x: Any, axis: Any = None, dtype: Any = None, *, ddof: float = 0, keepdims: bool = False
) -> Array:
    """The mean of |x − mean|² over axes, with n − ddof in the place of n."""
    found = as_array(x)
    found = cast(found, mean_dtype(found.dtype) if dtype is None else DType.of(dtype))
    count = _count(found, axis, "var") - ddof
    deviation = found - mean(found, axis, keepdims=True)
    squares = _squared_modulus(deviation)
    return sum(squares, axis, keepdims=keepdims) / (count if count > 0 else 0)


def _squared_modulus(x: Array) -> Array:
    if x.dtype.is_complex:
        return real(arithmetic.mul(x, conj(x)))
    return arithmetic.square(x)


@covers("std")
def std(
    x: Any, axis: Any = None, dtype: Any = None, *, ddof: float = 0, keepdims: bool = False
) -> Array:
    """The square root of ``var``."""
    return sqrt(var(x, axis, dtype=dtype, ddof=ddof, keepdims=keepdims))


@covers("any")
def any(x: Any, axis: Any = None, *, keepdims: bool = False) -> Array:
    """Whether some element over axes is not zero."""
    ones = cast(cast(as_array(x), bool_), int64)
    return _reduce(p.reduce_sum, ones, axis, keepdims, "any") > 0


@covers("all")
def all(x: Any, axis: Any = None, *, keepdims: bool = False) -> Array:
    """Whether no element over axes is zero."""
    zeros = cast(as_array(x) == 0, int64)
    return _reduce(p.reduce_sum, zeros, axis, keepdims, "all") == 0


@covers("argmax")
def argmax(x: Any, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """Position of the first largest element along an axis, or in the flattened array."""
    return _position(p.argmax, x, axis, keepdims, "argmax")


@covers("argmin")
def argmin(x: Any, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """Position of the first smallest element along an axis, or in the flattened array."""
    return _position(p.argmin, x, axis, keepdims, "argmin")


def _position(function: Any, x: Any, axis: int | None, keepdims: bool, name: str) -> Array:
    found = as_array(x)
    flat = found if axis is not None else structural.reshape(found, (found.size,))
    along = 0 if axis is None else normalize_axis(axis, found.ndim, name)
    result: Array = function(flat, along, int64)
    if not keepdims:
        return result
    return _keep(result, found, range(found.ndim) if axis is None else (along,))

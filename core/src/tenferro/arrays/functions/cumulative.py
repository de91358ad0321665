"""Sums and products of the elements up to each one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._out import into
from tenferro.arrays.functions.arithmetic import sum_dtype
from tenferro.arrays.functions.broadcasting import at_least
from tenferro.arrays.functions.creation import full
from tenferro.arrays.functions.structural import concatenate, ravel
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import cast, normalize_axis
from tenferro.arrays.registry import covers
from tenferro.primitives import DType
from tenferro.primitives import cumulative as p


@covers("cumsum")
def cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
    """Return the cumulative sum of elements along an axis; without an axis, of the flattened array.

    >>> import tenferro as tn
    >>> tn.cumsum(tn.asarray(1.0)).shape
    (1,)
    """
    return into(out, _scan(p.cumsum, a, axis, dtype, "cumsum"), "cumsum")


@covers("cumprod")
def cumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
    """Return the cumulative product along an axis. Its derivatives are right even at zeros."""
    return into(out, _scan(p.cumprod, a, axis, dtype, "cumprod"), "cumprod")


def _scan(function: Callable[..., Array], a: Any, axis: int | None, dtype: Any, name: str) -> Array:
    found = as_array(a)
    if axis is None or (axis in (0, -1) and not found.ndim):  # NumPy sees one element here
        found, axis = ravel(found), 0
    along = normalize_axis(axis, found.ndim, name)
    kind = sum_dtype(found.dtype) if dtype is None else DType.of(dtype)
    return function(cast(found, kind), along)


@covers("cumulative_sum")
def cumulative_sum(
    x: Any,
    *,
    axis: int | None = None,
    dtype: Any = None,
    out: Any = None,
    include_initial: bool = False,
) -> Array:
    """Return the cumulative sum along an axis; ``include_initial`` inserts a leading 0."""
    axis = _only_axis(x, axis, "cumulative_sum")
    sums = cumsum(at_least(x, 1), axis, dtype)
    return into(out, _begun(sums, axis, 0) if include_initial else sums, "cumulative_sum")


@covers("cumulative_prod")
def cumulative_prod(
    x: Any,
    *,
    axis: int | None = None,
    dtype: Any = None,
    out: Any = None,
    include_initial: bool = False,
) -> Array:
    """Return the cumulative product along an axis; ``include_initial`` inserts a leading 1."""
    axis = _only_axis(x, axis, "cumulative_prod")
    products = cumprod(at_least(x, 1), axis, dtype)
    return into(out, _begun(products, axis, 1) if include_initial else products, "cumulative_prod")


def _only_axis(x: Any, axis: int | None, function: str) -> int:
    ndim = at_least(x, 1).ndim
    if axis is None and ndim > 1:
        raise at_user_line(ValueError(f"{function}: name an axis of an array of rank {ndim}"))
    return normalize_axis(0 if axis is None else axis, ndim, function)


def _begun(x: Array, axis: int, start: int) -> Array:
    shape = [1 if i == axis else n for i, n in enumerate(x.shape)]
    return concatenate([full(shape, start, x.dtype), x], axis)

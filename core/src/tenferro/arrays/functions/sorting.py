"""Sorted arrays and the permutations that sort. Equal elements keep their order, NaN comes last.

Every sort is stable, whatever ``kind`` says, and a partition is a whole sort: results that NumPy
leaves open are those of a sort here. Derivatives follow the elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.arrays.errors import UnsupportedFunctionError, at_user_line
from tenferro.arrays.functions.splitting import unstack
from tenferro.arrays.functions.structural import ravel
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import cast, integers, normalize_axis
from tenferro.arrays.registry import covers
from tenferro.primitives import complex64, complex128, int64, iota
from tenferro.primitives import sorting as p

_SORTS = ("quicksort", "q", "mergesort", "m", "heapsort", "h", "stable", "s")


def _line(
    a: Any,
    axis: int | None,
    function: str,
    order: Any,
    kind: str | None,
    stable: bool | None = None,
) -> tuple[Array, int]:
    """Return the array, and the axis along which it is sorted."""
    if order is not None:
        error = UnsupportedFunctionError(
            f"np.{function}: arrays have no fields, so there is no `order` of them",
            function=function, nearest=function, keyword="order",
        )  # fmt: skip
        raise at_user_line(error)
    if kind is not None and kind.lower() not in (*_SORTS, "introselect"):
        raise at_user_line(ValueError(f"{function}: kind is one of {_SORTS}, not {kind!r}"))
    if kind is not None and stable is not None:
        raise at_user_line(ValueError(f"{function}: give `kind` or `stable`, not both"))
    found = as_array(a)
    if axis is None:
        return ravel(found), 0
    return found, normalize_axis(axis, found.ndim, function)


@covers("sort")
def sort(
    a: Any,
    axis: int | None = -1,
    kind: str | None = None,
    order: None = None,
    *,
    stable: bool | None = None,
    descending: bool = False,
) -> Array:
    """Sort an array along an axis, increasing or decreasing; derivatives are permuted alike.

    NaN comes last either way, and equal elements keep their order, as in NumPy from 2.5 on.

    >>> import tenferro as tn
    >>> tn.sort([[3.0, 1.0], [2.0, 4.0]])
    array([[1., 3.],
           [2., 4.]])
    """
    found, along = _line(a, axis, "sort", order, kind, stable)
    if descending:
        return p.sort([_opposite(found), found], along)[1]
    return p.sort([found], along)[0]


@covers("argsort")
def argsort(
    a: Any,
    axis: int | None = -1,
    kind: str | None = None,
    order: None = None,
    *,
    stable: bool | None = None,
    descending: bool = False,
) -> Array:
    """Return the indices that sort an array along an axis, stably, with NaNs last."""
    if axis is not None and not as_array(a).ndim:
        normalize_axis(axis, 1, "argsort")
        axis = None  # NumPy sorts the positions of a single number
    found, along = _line(a, axis, "argsort", order, kind, stable)
    return positions(_opposite(found) if descending else found, along)


def _opposite(x: Array) -> Array:
    """Map elements to the opposite order without overflow; NaNs stay last, as in NumPy."""
    return -x if x.dtype.is_inexact else ~x


def positions(x: Array, axis: int) -> Array:
    """Return the permutation that sorts along an axis."""
    return p.sort([x, Array(iota(x.shape, axis, int64).key)], axis)[1]


@covers("partition")
def partition(
    a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: None = None
) -> Array:
    """Return a partitioned array; it is sorted completely along the axis."""
    found, along = _line(a, axis, "partition", order, kind)
    _check_kth(kth, found, along, "partition")
    return p.sort([found], along)[0]


@covers("argpartition")
def argpartition(
    a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: None = None
) -> Array:
    """Return the indices that partition an array; they sort it completely."""
    found, along = _line(a, axis, "argpartition", order, kind)
    _check_kth(kth, found, along, "argpartition")
    return positions(found, along)


def _check_kth(kth: Any, x: Array, axis: int, function: str) -> None:
    for k in integers(kth):
        if not -x.shape[axis] <= k < x.shape[axis]:
            raise at_user_line(ValueError(f"{function}: kth={k} of {x.shape[axis]} elements"))


@covers("lexsort")
def lexsort(keys: Any, axis: int = -1) -> Array:
    """Return the indices that sort by the last key, ties by the key before it, and so on."""
    rows = _keys(keys)
    along = normalize_axis(axis, rows[0].ndim, "lexsort")
    counted = Array(iota(rows[0].shape, along, int64).key)
    return p.sort([*rows[::-1], counted], along, len(rows))[-1]


def _keys(keys: Any) -> list[Array]:
    if isinstance(keys, (tuple, list)):
        rows: Sequence[Array] = [as_array(key) for key in keys]
    else:
        rows = unstack(as_array(keys))
    if not rows:
        raise at_user_line(TypeError("lexsort: need one key or more"))
    return list(rows)


@covers("sort_complex")
def sort_complex(a: Any) -> Array:
    """Sort along the last axis by real part, then by imaginary part, as complex numbers."""
    ordered = sort(a)
    dtype = ordered.dtype
    if dtype.is_complex:
        return ordered
    return cast(ordered, complex64 if dtype.is_integer and dtype.bits <= 16 else complex128)

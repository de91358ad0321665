"""Norms of vectors and matrices, of every order that NumPy has.

A norm is a length: where it is 0 its derivative is 0, as |x|'(0) = 0, and stays 0 at every order.
So it is where a single part of it has none: an element 0 under a root, a singular value 0. Ties
share equally: of elements, of columns, of singular values that are the largest together.
Read next: ``powers.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._known import parameter
from tenferro.arrays.functions.arithmetic import absolute, power, sqrt
from tenferro.arrays.functions.comparison import where
from tenferro.arrays.functions.data_types import finfo
from tenferro.arrays.functions.elementwise import stop_gradient
from tenferro.arrays.functions.moments import squared_modulus
from tenferro.arrays.functions.reduction import any_empty, keep, max, min, sum
from tenferro.arrays.functions.structural import moveaxis
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import (
    cast,
    double_if_exact,
    normalize_axes,
    normalize_axis,
)
from tenferro.arrays.registry import FUNCTIONS, covers
from tenferro.primitives import InvalidParameterError

_FROBENIUS = (None, "fro", "f")


@covers("linalg.norm")
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    """Compute the norm of vectors along one axis, or of matrices in a pair of axes.

    Without an axis x is one vector or one matrix; without an order too it is a vector, whatever its
    shape.

    >>> import tenferro as tn
    >>> float(tn.linalg.norm([3.0, -4.0]))
    5.0
    """
    found, ord = double_if_exact(x), parameter(ord, "norm")
    if axis is None and ord is None:
        return _vector(found, 2, range(found.ndim), keepdims)
    axes = _given_axes(axis, found.ndim)
    if len(axes) == 1:
        return _vector(found, ord, axes, keepdims)
    if len(axes) == 2:
        return _matrix(found, ord, axes, keepdims)
    raise _refuse(f"norm over {len(axes)} axes", "one axis, or two of them", "axis", axis)


@covers("linalg.vector_norm")
def vector_norm(x: Any, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """Compute the vector norm Σ(|x|^ord)^(1/ord) over the given axes, by default over all.

    x: [*s]   →   y: f[s without axes]

    ord: a number, also fractional or negative; 0 counts what is not zero, ±inf is the largest or
    smallest modulus

    Raises AxisError: for no axis of x.

    >>> import tenferro as tn
    >>> tn.linalg.vector_norm([[3.0, -4.0], [0.0, 2.0]], axis=1)
    array([5., 2.])
    """
    found, ord = double_if_exact(x), parameter(ord, "vector_norm")
    return _vector(found, ord, normalize_axes(axis, found.ndim, "vector_norm"), keepdims)


@covers("linalg.matrix_norm")
def matrix_norm(x: Any, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """Compute the norm of the matrices in the last two axes.

    x: [*B,m,n]   →   y: f[*B]

    ord: "fro" √Σ|x|², "nuc" Σσ, 2 and −2 the largest and smallest σ, 1 and −1 the largest and
    smallest sum of moduli of a column, ±inf of a row

    Raises InvalidParameterError: for rank below 2, or another ord.

    >>> import tenferro as tn
    >>> float(tn.linalg.matrix_norm([[3.0, 0.0], [0.0, -4.0]], ord="nuc"))
    7.0
    """
    found, ord = double_if_exact(x), parameter(ord, "matrix_norm")
    if found.ndim < 2:
        raise _refuse(f"matrix_norm of {found.aval}", "rank 2 or more", "x", found.shape)
    return _matrix(found, ord, (found.ndim - 2, found.ndim - 1), keepdims)


def _given_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return axes in the order in which they are given: rows, then columns."""
    if axis is None:
        return tuple(range(ndim))
    given = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    normalize_axes(given, ndim, "norm")  # none is named twice
    return tuple(normalize_axis(a, ndim, "norm") for a in given)


# ---- vectors ---------------------------------------------------------------------------------


def _vector(x: Array, ord: Any, axes: Sequence[int], keepdims: bool) -> Array:
    """Compute the norm of x as one vector along all of the axes."""
    if isinstance(ord, str):
        raise _refuse(f"ord={ord!r} for vectors", "a number", "ord", ord)
    axes = tuple(axes)
    if ord is None or ord == 2:
        return _length(sum(squared_modulus(x), axes, keepdims=keepdims))
    if ord == inf:
        return _largest(absolute(x), axes, keepdims)
    if ord == -inf:
        return min(absolute(x), axes, keepdims=keepdims)
    if ord == 0:
        return sum(cast(x != 0, x.dtype.real_dtype), axes, keepdims=keepdims)
    if ord == 1:
        return sum(absolute(x), axes, keepdims=keepdims)
    order = float(ord)
    return _power(sum(_power(absolute(x), order), axes, keepdims=keepdims), 1 / order)


def _length(squares: Array) -> Array:
    """√s; its derivative at 0 is 0, and the root is never taken there."""
    at_zero = squares == 0
    return where(at_zero, 0.0, sqrt(where(at_zero, 1.0, squares)))  # type: ignore[no-any-return]


def _power(x: Array, exponent: float) -> Array:
    """x^exponent of x ≥ 0; at 0 and inf, where a derivative is infinite or none, it is 0."""
    at_zero, at_infinity = (0.0, inf) if exponent > 0 else (inf, 0.0)
    is_zero = x == 0
    is_edge = is_zero | (x == inf)
    inside = power(where(is_edge, 1.0, x), exponent)
    return where(is_edge, where(is_zero, cast(as_array(at_zero), x.dtype), at_infinity), inside)  # type: ignore[no-any-return]


def _largest(x: Array, axes: Sequence[int], keepdims: bool) -> Array:
    """Return the largest modulus; 0 if there are no elements."""
    if any_empty(x, axes):
        return sum(x, axes, keepdims=keepdims)
    return max(x, tuple(axes), keepdims=keepdims)


# ---- matrices --------------------------------------------------------------------------------


def _matrix(x: Array, ord: Any, axes: Sequence[int], keepdims: bool) -> Array:
    """Compute the norm of the matrices with these axes as rows and columns."""
    rows, columns = axes
    if ord in _FROBENIUS:
        return _length(sum(squared_modulus(x), (rows, columns), keepdims=keepdims))
    if ord in (2, -2, "nuc"):
        result = _OF_SINGULAR_VALUES[ord](_singular_values(moveaxis(x, axes, (-2, -1))))
    elif ord in (1, -1):
        result = _of_sums(x, rows, columns, ord > 0)
    elif ord in (inf, -inf):
        result = _of_sums(x, columns, rows, ord > 0)
    else:
        need = 'None, "fro", "nuc", 1, -1, 2, -2, inf or -inf'
        raise _refuse(f"ord={ord!r} for matrices", need, "ord", ord)
    return keep(result, x, axes) if keepdims else result


def _of_sums(x: Array, summed: int, chosen: int, is_largest: bool) -> Array:
    """Return the largest or smallest sum of moduli along one axis."""
    sums = sum(absolute(x), summed)
    axes = (chosen - (chosen > summed),)
    return _largest(sums, axes, False) if is_largest else min(sums, axes)


def _singular_values(x: Array) -> Array:
    """Compute singular values; one that is 0 up to rounding becomes a norm of 0 with derivative
    0.
    """
    values: Array = FUNCTIONS["linalg.svdvals"](x)
    if not values.size:
        return values
    rows, columns = x.shape[-2:]
    rounding = (rows if rows > columns else columns) * finfo(values.dtype).eps
    is_zero = values <= rounding * stop_gradient(max(values, -1, keepdims=True))
    return where(is_zero, stop_gradient(values), values)  # type: ignore[no-any-return]


_OF_SINGULAR_VALUES: dict[Any, Callable[[Array], Array]] = {
    2: lambda values: _largest(values, (values.ndim - 1,), False),
    -2: lambda values: min(values, -1),
    "nuc": lambda values: sum(values, -1),
}


def _refuse(got: str, need: str, parameter: str, value: Any) -> InvalidParameterError:
    error = InvalidParameterError.of(
        "norm", "unknown norm", got=got, need=need, parameter=parameter, value=value
    )
    return at_user_line(error)

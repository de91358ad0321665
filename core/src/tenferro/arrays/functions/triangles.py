"""Diagonals and triangles of matrices, and the positions of their elements."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.creation import on_device, zeros_like
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array, asarray
from tenferro.arrays.promotion.broadcast import cast, stretch
from tenferro.arrays.registry import FUNCTIONS, covers
from tenferro.primitives import (
    DType,
    ShapeMismatchError,
    bool_,
    float64,
    int64,
    iota,
    promote_dtypes,
)
from tenferro.primitives.comparison import eq, ge, gt, select
from tenferro.primitives.structural import pad

_Compare = Callable[[Array, Array], Array]


def _positions(rows: int, columns: int, k: int, compare: _Compare) -> Array:
    """Compare row + k with column: bool[rows, columns].

    Comparisons of rows with columns themselves are known when the program is compiled.
    """
    row = Array(iota((rows, columns), 0, int64).key)
    if (k, compare) in _OF_INTEGERS:
        k, compare = 0, _OF_INTEGERS[k, compare]
    return compare(row + k if k else row, Array(iota((rows, columns), 1, int64).key))


#: row - 1 >= column says that row > column, and row + 1 > column that row >= column
_OF_INTEGERS: dict[tuple[int, _Compare], _Compare] = {(-1, ge): gt, (1, gt): ge}


@covers("eye")
def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = None,
    order: str = "C",
    *,
    device: Any = None,
) -> Array:
    """Return an N × M matrix with ones on the k-th diagonal and zeros elsewhere.

    >>> import tenferro as tn
    >>> tn.eye(2)
    Array([[1., 0.],
           [0., 1.]])
    """
    places = _positions(index(N), index(N if M is None else M), index(k), eq)
    return on_device(cast(places, float64 if dtype is None else DType.of(dtype)), device)


@covers("identity")
def identity(n: int, dtype: Any = None) -> Array:
    """Return the n × n identity matrix."""
    return eye(n, dtype=dtype)


@covers("tri")
def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = float) -> Array:
    """Return an N × M matrix with ones on and below the k-th diagonal."""
    places = _positions(index(N), index(N if M is None else M), index(k), ge)
    return cast(places, DType.of(dtype))


@covers("tril")
def tril(x: Any, k: int = 0) -> Array:
    """Replace elements above the k-th diagonal of the last two axes by zeros."""
    found = _matrix(x, "tril")
    places = _positions(found.shape[-2], found.shape[-1], index(k), ge)
    return select(stretch(places, found.shape), found, zeros_like(found))


@covers("triu")
def triu(x: Any, k: int = 0) -> Array:
    """Replace elements below the k-th diagonal of the last two axes by zeros."""
    found = _matrix(x, "triu")
    places = _positions(found.shape[-2], found.shape[-1], index(k), gt)
    return select(stretch(places, found.shape), zeros_like(found), found)


def _matrix(x: Any, name: str) -> Array:
    """Return an array with matrices in its last axes; a vector stands for equal rows."""
    found = asarray(x)
    if not found.ndim:
        error = ShapeMismatchError.of(
            name, "a number has no triangle", got=found.aval, need="rank 1 or more",
            shapes=(found.shape,),
        )  # fmt: skip
        raise at_user_line(error)
    return stretch(found, (found.size, found.size)) if found.ndim == 1 else found


@covers("diag")
def diag(x: Any, k: int = 0) -> Array:
    """Extract the k-th diagonal of a matrix, or build a matrix from a vector on that diagonal."""
    found = asarray(x)
    if found.ndim == 1:
        return diagflat(found, k)
    if found.ndim == 2:
        return FUNCTIONS["diagonal"](found, k)  # type: ignore[no-any-return]
    raise at_user_line(ValueError(f"diag: rank 1 or 2, not {found.aval}"))


@covers("diagflat")
def diagflat(x: Any, k: int = 0) -> Array:
    """Build a matrix with the elements of x on its k-th diagonal."""
    found, offset = FUNCTIONS["ravel"](x), index(k)
    size = found.size + abs(offset)
    if not offset:
        values = stretch(FUNCTIONS["reshape"](found, (1, size)), (size, size))
        return select(_positions(size, size, 0, eq), values, zeros_like(values))
    first = max(offset, 0) + size * max(-offset, 0)  # in the order of memory
    length = 1 + (found.size - 1) * (size + 1) if found.size else 0
    flat = pad(found, 0, (first,), (size**2 - first - length,), (size,))
    matrix: Array = FUNCTIONS["reshape"](flat, (size, size))
    return matrix


# ---- positions -----------------------------------------------------------------------------------


def _found(places: Array) -> tuple[Array, ...]:
    return FUNCTIONS["nonzero"](places)  # type: ignore[no-any-return]


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, ...]:
    """Return the indices of the elements on and below the k-th diagonal."""
    return _found(cast(tri(n, m, k), bool_))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, ...]:
    """Return the indices of the elements on and above the k-th diagonal."""
    below = _positions(index(n), index(n if m is None else m), index(k), gt)
    return _found(FUNCTIONS["logical_not"](below))


@covers("tril_indices_from")
def tril_indices_from(arr: Any, k: int = 0) -> tuple[Array, ...]:
    """Return the indices of a matrix's elements on and below its k-th diagonal."""
    rows, columns = as_array(arr).shape
    return tril_indices(rows, k, columns)


@covers("triu_indices_from")
def triu_indices_from(arr: Any, k: int = 0) -> tuple[Array, ...]:
    """Return the indices of a matrix's elements on and above its k-th diagonal."""
    rows, columns = as_array(arr).shape
    return triu_indices(rows, k, columns)


def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """Return the indices of the main diagonal of an array with ``ndim`` axes of size n."""
    return (Array(iota((index(n),), 0, int64).key),) * ndim


@covers("diag_indices_from")
def diag_indices_from(arr: Any) -> tuple[Array, ...]:
    """Return the indices of the main diagonal of an array whose axes have equal sizes."""
    found = as_array(arr)
    if found.ndim < 2 or len(set(found.shape)) > 1:
        raise at_user_line(ValueError(f"diag_indices_from: axes of one size, not {found.aval}"))
    return diag_indices(found.shape[0], found.ndim)


def mask_indices(n: int, mask_func: Callable[..., Any], k: Any = 0) -> tuple[Array, ...]:
    """Return the indices of an n × n matrix that a function such as ``triu`` keeps."""
    return _found(cast(mask_func(FUNCTIONS["ones"]((n, n), int), k), bool_))


covers("tril_indices")(tril_indices)
covers("triu_indices")(triu_indices)
covers("diag_indices")(diag_indices)
covers("mask_indices")(mask_indices)


@covers("vander")
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Array:
    """Return a Vandermonde matrix: the powers of a vector in columns, the highest first by
    default.
    """
    found = asarray(x)
    if found.ndim != 1:
        raise at_user_line(ValueError(f"vander: a vector, not {found.aval}"))
    count = found.size if N is None else index(N)
    found = cast(found, promote_dtypes(found.dtype, int64))
    columns = [FUNCTIONS["ones_like"](found)]
    for _ in range(1, count):
        columns.append(columns[-1] * found if columns[1:] else found)
    columns = columns[:count]
    if not columns:
        return FUNCTIONS["zeros"]((found.size, 0), found.dtype)  # type: ignore[no-any-return]
    return FUNCTIONS["stack"](columns if increasing else columns[::-1], axis=1)  # type: ignore[no-any-return]

"""Products with sums: matmul and its relatives, over ``dot_general``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.arithmetic import multiply
from tenferro.arrays.functions.complex import conj
from tenferro.arrays.functions.structural import expand_dims, moveaxis, ravel, reshape, squeeze
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import (
    axis_error,
    broadcast_shapes,
    cast,
    normalize_axis,
    stretch,
)
from tenferro.arrays.registry import FUNCTIONS, covers
from tenferro.primitives import (
    InvalidParameterError,
    ShapeMismatchError,
    bool_,
    int64,
    promote_dtypes,
)
from tenferro.primitives.contraction import dot_general


def _dot(
    a: Array,
    b: Array,
    left: Sequence[int],
    right: Sequence[int],
    left_batch: Sequence[int] = (),
    right_batch: Sequence[int] = (),
) -> Array:
    """``dot_general``; of bools the "or" of "and", as in NumPy."""
    if not a.dtype.is_bool:
        return dot_general(a, b, left, right, left_batch, right_batch)
    counts = dot_general(cast(a, int64), cast(b, int64), left, right, left_batch, right_batch)
    return cast(counts, bool_)


def _conj(x: Array) -> Array:
    return conj(x) if x.dtype.is_complex else x


def _pair(x: Any, y: Any) -> tuple[Array, Array]:
    a, b = as_array(x), as_array(y)
    if a.dtype is b.dtype:
        return a, b
    dtype = promote_dtypes(a.dtype, b.dtype)
    return cast(a, dtype), cast(b, dtype)


@covers("linalg.matmul")
@covers("matmul", ufunc=True)
def matmul(x: Any, y: Any) -> Array:
    """Compute the matrix product; leading axes broadcast, and an operand of rank 1 is a vector.

    x: [*B,m,k]   y: [*B,k,n]   →   z: [*B,m,n]

    Raises ShapeMismatchError: for rank 0, or if the contracted sizes differ.

    >>> import tenferro as tn
    >>> tn.matmul([[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0])
    array([3., 7.])
    """
    a, b = _pair(x, y)
    left, right = a.shape, b.shape
    if not left or not right:
        error = ShapeMismatchError.of(
            "matmul", "an operand has rank 0", got=f"{a.aval}, {b.aval}", need="rank 1 or more",
            shapes=(a.shape, b.shape),
        )  # fmt: skip
        raise at_user_line(error)
    contracted = len(right) - 2 if len(right) > 1 else 0
    if left[-1] != right[contracted]:
        raise _differing_sizes("matmul", a, b, len(left) - 1, contracted)
    if len(left) <= 2 and len(right) <= 2:
        return _dot(a, b, (len(left) - 1,), (0,))
    return _batched(a, b)


def _batched(a: Array, b: Array) -> Array:
    """Compute a matmul in which an operand has leading axes."""
    if b.ndim == 1:  # vectors have no leading axes to broadcast
        return _dot(a, b, (a.ndim - 1,), (0,))
    if a.ndim == 1:
        return _dot(a, b, (0,), (b.ndim - 2,))
    if b.ndim == 2:
        return _dot(a, b, (a.ndim - 1,), (0,))
    lead = broadcast_shapes(a.shape[:-2], b.shape[:-2], function="matmul")
    a, b = stretch(a, lead + a.shape[-2:]), stretch(b, lead + b.shape[-2:])
    batch, n = tuple(range(len(lead))), len(lead)
    return _dot(a, b, (n + 1,), (n,), batch, batch)


def _differing_sizes(name: str, a: Array, b: Array, i: int, j: int) -> ShapeMismatchError:
    error = ShapeMismatchError.of(
        name,
        "contracted sizes differ",
        got=f"lhs {a.aval} axis {i} = {a.shape[i]},  rhs {b.aval} axis {j} = {b.shape[j]}",
        need=f"lhs axis {i} == rhs axis {j}",
        shapes=(a.shape, b.shape),
    )
    return at_user_line(error)


@covers("dot")
def dot(x: Any, y: Any) -> Array:
    """Compute NumPy's dot product.

    It multiplies by a scalar; otherwise it sums over the last axis of x and the last but one of y.
    """
    a, b = _pair(x, y)
    if not a.ndim or not b.ndim:
        return multiply(a, b)
    i, j = a.ndim - 1, max(b.ndim - 2, 0)
    if a.shape[i] != b.shape[j]:
        raise _differing_sizes("dot", a, b, i, j)
    return _dot(a, b, (i,), (j,))


@covers("inner")
def inner(x: Any, y: Any) -> Array:
    """Compute the sum of products over the last axes of both arrays."""
    a, b = _pair(x, y)
    if not a.ndim or not b.ndim:
        return multiply(a, b)
    if a.shape[-1] != b.shape[-1]:
        raise _differing_sizes("inner", a, b, a.ndim - 1, b.ndim - 1)
    return _dot(a, b, (a.ndim - 1,), (b.ndim - 1,))


@covers("vdot")
def vdot(x: Any, y: Any) -> Array:
    """Compute Σ conj(x) y over all elements."""
    return inner(ravel(_conj(as_array(x))), ravel(y))


@covers("outer")
def outer(x: Any, y: Any) -> Array:
    """Compute the outer product of two vectors: a matrix of all products of two elements.

    x: of m elements   y: of n elements   →   z: [m,n]; other arrays are flattened

    >>> import tenferro as tn
    >>> tn.outer([1, 2], [3, 4])
    array([[3, 4],
           [6, 8]])
    """
    a, b = ravel(x), ravel(y)
    return multiply(reshape(a, (a.size, 1)), b)


@covers("tensordot")
def tensordot(x: Any, y: Any, axes: Any = 2) -> Array:
    """Compute the sum of products over pairs of axes.

    An integer n pairs the last n axes of x with the first n axes of y.

    x: [*a,*k]   y: [*k,*b]   →   z: [*a,*b]

    Raises ShapeMismatchError: if paired sizes differ; AxisError: for an axis that is not there;
    InvalidParameterError: if x and y have unequally many of these axes.

    >>> import tenferro as tn
    >>> float(tn.tensordot([[1.0, 2.0], [3.0, 4.0]], [[1.0, 0.0], [0.0, 1.0]]))
    5.0
    """
    a, b = _pair(x, y)
    left, right = _summed(axes, a, b)
    if len(left) != len(right):
        error = InvalidParameterError.of(
            "tensordot", "the axes of x and of y are not in pairs", got=f"axes={axes!r}",
            need="as many axes of x as of y", parameter="axes", value=axes,
        )  # fmt: skip
        raise at_user_line(error)
    for i, j in zip(left, right, strict=True):
        if a.shape[i] != b.shape[j]:
            raise _differing_sizes("tensordot", a, b, i, j)
    return _dot(a, b, left, right)


def _summed(axes: Any, a: Array, b: Array) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the axes of both operands that ``axes=`` pairs."""
    if hasattr(axes, "tolist"):  # an array of NumPy, or a number of its
        axes = axes.tolist()
    if not isinstance(axes, int):
        if isinstance(axes, str) or not hasattr(axes, "__len__") or len(axes) != 2:
            need = "a number of axes, or the axes of x and those of y"
            error = InvalidParameterError.of(
                "tensordot", "the axes cannot be paired", got=f"axes={axes!r:.60}", need=need,
                parameter="axes", value=axes,
            )  # fmt: skip
            raise at_user_line(error)
        left, right = axes
        return _axes(left, a), _axes(right, b)
    if not 0 <= axes <= min(a.ndim, b.ndim):
        raise axis_error("tensordot", axes, min(a.ndim, b.ndim), "more axes than there are")
    return tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))


def _axes(given: Any, x: Array) -> tuple[int, ...]:
    given = given.tolist() if hasattr(given, "tolist") else given
    return tuple(
        normalize_axis(a, x.ndim, "tensordot")
        for a in (given if isinstance(given, (tuple, list)) else (given,))
    )


@covers("vecdot", ufunc=True)
def vecdot(x: Any, y: Any, *, axis: int = -1) -> Array:
    """Compute Σ conj(x) y over one axis; the others broadcast.

    x: [*B,n]   y: [*B,n]   →   z: [*B]

    Raises ShapeMismatchError: if the vectors differ in length.

    >>> import tenferro as tn
    >>> tn.vecdot([[1.0, 2.0], [3.0, 4.0]], [1.0, -1.0])
    array([-1., -1.])
    """
    a, b = (_vectors_last(v, axis) for v in _pair(x, y))
    return squeeze(matmul(_conj(_row(a)), _column(b)), (-2, -1))


covers("linalg.vecdot")(vecdot)


@covers("matvec", ufunc=True)
def matvec(x: Any, y: Any) -> Array:
    """Multiply matrices by vectors; leading axes broadcast.

    x: [*B,m,n]   y: [*B,n]   →   z: [*B,m]
    """
    a, b = _pair(x, y)
    _at_least(a, 2, "matvec")
    _at_least(b, 1, "matvec")
    return squeeze(matmul(a, _column(b)), -1)


@covers("vecmat", ufunc=True)
def vecmat(x: Any, y: Any) -> Array:
    """Multiply conjugated vectors by matrices; leading axes broadcast.

    x: [*B,n]   y: [*B,n,m]   →   z: [*B,m]
    """
    a, b = _pair(x, y)
    _at_least(a, 1, "vecmat")
    _at_least(b, 2, "vecmat")
    return squeeze(matmul(_conj(_row(a)), b), -2)


def _row(x: Array) -> Array:
    return expand_dims(x, -2)


def _column(x: Array) -> Array:
    return expand_dims(x, -1)


def _vectors_last(x: Array, axis: int) -> Array:
    """Move the axis of the vectors of ``vecdot`` to the end."""
    _at_least(x, 1, "vecdot")
    return x if axis == -1 else moveaxis(x, axis, -1)


def _at_least(x: Array, ndim: int, name: str) -> None:
    if x.ndim < ndim:
        error = ShapeMismatchError.of(
            name, "an operand has too few axes", got=x.aval, need=f"rank {ndim} or more",
            shapes=(x.shape,),
        )  # fmt: skip
        raise at_user_line(error)


@covers("kron")
def kron(x: Any, y: Any) -> Array:
    """Compute the Kronecker product: each element of x times all of y.

    >>> import tenferro as tn
    >>> tn.kron(tn.arange(2), tn.arange(3))
    Array([0, 0, 0, 0, 1, 2])
    """
    a, b = _pair(x, y)
    rank = max(a.ndim, b.ndim)
    a, b = (reshape(v, (1,) * (rank - v.ndim) + v.shape) for v in (a, b))
    left = reshape(a, [n for size in a.shape for n in (size, 1)])
    right = reshape(b, [n for size in b.shape for n in (1, size)])
    sizes = [i * j for i, j in zip(a.shape, b.shape, strict=True)]
    return reshape(multiply(left, right), sizes)


@covers("trace")
def trace(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Array:
    """Return the sum along a diagonal of two axes.

    x: [*s]   →   y: [s without the two axes]

    Raises AxisError: for an axis that is not there.
    """
    diagonal = FUNCTIONS["diagonal"](x, offset, axis1, axis2)
    return FUNCTIONS["sum"](diagonal, axis=-1, dtype=dtype)  # type: ignore[no-any-return]


@covers("linalg.tensordot")
def linalg_tensordot(x: Any, y: Any, *, axes: Any = 2) -> Array:
    """Compute the sum of products over pairs of axes.

    Shapes and errors are those of ``tn.tensordot``.

    >>> import tenferro as tn
    >>> float(tn.linalg.tensordot([1.0, 2.0], [3.0, 4.0], axes=1))
    11.0
    """
    return tensordot(x, y, axes)


@covers("linalg.trace")
def linalg_trace(x: Any, *, offset: int = 0, dtype: Any = None) -> Array:
    """Return the sum along a diagonal of the last two axes.

    x: [*B,m,n]   →   y: [*B]

    Raises AxisError: for rank below 2.

    >>> import tenferro as tn
    >>> float(tn.linalg.trace([[1.0, 2.0], [3.0, 4.0]]))
    5.0
    """
    return trace(x, offset, -2, -1, dtype)


@covers("linalg.diagonal")
def linalg_diagonal(x: Any, *, offset: int = 0) -> Array:
    """Return a diagonal of the last two axes.

    x: [*B,m,n]   →   y: [*B,k]   with k = min(m, n) for offset 0

    Raises AxisError: for rank below 2.

    >>> import tenferro as tn
    >>> tn.linalg.diagonal([[1, 2], [3, 4]], offset=1)
    array([2])
    """
    return FUNCTIONS["diagonal"](x, offset, -2, -1)  # type: ignore[no-any-return]


@covers("linalg.outer")
def linalg_outer(x: Any, y: Any) -> Array:
    """Compute the outer product of two vectors.

    x: [m]   y: [n]   →   z: [m,n]

    Raises ShapeMismatchError: if an operand is not a vector.

    >>> import tenferro as tn
    >>> tn.linalg.outer([1, 2], [3, 4])
    array([[3, 4],
           [6, 8]])
    """
    a, b = as_array(x), as_array(y)
    if a.ndim != 1 or b.ndim != 1:
        error = ShapeMismatchError.of(
            "linalg.outer", "an operand is not a vector", got=f"{a.aval}, {b.aval}", need="rank 1",
            shapes=(a.shape, b.shape),
        )  # fmt: skip
        raise at_user_line(error)
    return outer(a, b)

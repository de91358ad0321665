"""Products with sums: matmul and its relatives, over ``dot_general``."""

from __future__ import annotations

from typing import Any

from tenferro.array._array import Array
from tenferro.array._broadcast import axis_error, broadcast_shapes, cast, normalize_axis, stretch
from tenferro.array._convert import as_array
from tenferro.array._errors import at_user_line
from tenferro.array._registry import covers
from tenferro.array.functions.arithmetic import multiply
from tenferro.array.functions.complex import conj
from tenferro.array.functions.structural import ravel, reshape
from tenferro.primitives import ShapeMismatchError, promote_dtypes
from tenferro.primitives.contraction import dot_general


def _pair(x: Any, y: Any) -> tuple[Array, Array]:
    a, b = as_array(x), as_array(y)
    dtype = promote_dtypes(a.dtype, b.dtype)
    return cast(a, dtype), cast(b, dtype)


@covers("matmul")
def matmul(x: Any, y: Any) -> Array:
    """The matrix product; leading axes broadcast, rank 1 is a vector.

    x: [*B,m,k]   y: [*B,k,n]   →   z: [*B,m,n]

    Raises ShapeMismatchError: for rank 0, or if the contracted sizes differ.

    >>> matmul(as_array(1.0).reshape(1, 1), as_array(2.0).reshape(1, 1)).shape
    (1, 1)
    """
    a, b = _pair(x, y)
    if not a.ndim or not b.ndim:
        error = ShapeMismatchError.of(
            "matmul", "an operand has rank 0", got=f"{a.aval}, {b.aval}", need="rank 1 or more",
            shapes=(a.shape, b.shape),
        )  # fmt: skip
        raise at_user_line(error)
    contracted = a.shape[-1], b.shape[max(b.ndim - 2, 0)]
    if contracted[0] != contracted[1]:
        raise _differing_sizes("matmul", a, b, a.ndim - 1, max(b.ndim - 2, 0))
    if a.ndim <= 2 and b.ndim <= 2:
        return dot_general(a, b, (a.ndim - 1,), (0,))
    return _batched(a, b)


def _batched(a: Array, b: Array) -> Array:
    """A matmul in which an operand has leading axes."""
    if b.ndim == 1:  # vectors have no leading axes to broadcast
        return dot_general(a, b, (a.ndim - 1,), (0,))
    if a.ndim == 1:
        return dot_general(a, b, (0,), (b.ndim - 2,))
    if b.ndim == 2:
        return dot_general(a, b, (a.ndim - 1,), (0,))
    lead = broadcast_shapes(a.shape[:-2], b.shape[:-2], function="matmul")
    a, b = stretch(a, lead + a.shape[-2:]), stretch(b, lead + b.shape[-2:])
    batch, n = tuple(range(len(lead))), len(lead)
    return dot_general(a, b, (n + 1,), (n,), batch, batch)


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
    """NumPy's dot: a product with a scalar, else a sum over the last axis of x and the last but
    one of y.
    """
    a, b = _pair(x, y)
    if not a.ndim or not b.ndim:
        return multiply(a, b)
    i, j = a.ndim - 1, max(b.ndim - 2, 0)
    if a.shape[i] != b.shape[j]:
        raise _differing_sizes("dot", a, b, i, j)
    return dot_general(a, b, (i,), (j,))


@covers("inner")
def inner(x: Any, y: Any) -> Array:
    """The sum over the last axes of both."""
    a, b = _pair(x, y)
    if not a.ndim or not b.ndim:
        return multiply(a, b)
    if a.shape[-1] != b.shape[-1]:
        raise _differing_sizes("inner", a, b, a.ndim - 1, b.ndim - 1)
    return dot_general(a, b, (a.ndim - 1,), (b.ndim - 1,))


@covers("vdot")
def vdot(x: Any, y: Any) -> Array:
    """Σ conj(x) y over all elements."""
    return inner(ravel(conj(x)), ravel(y))


@covers("outer")
def outer(x: Any, y: Any) -> Array:
    """All products of an element of x with one of y, as a matrix."""
    a, b = ravel(x), ravel(y)
    return multiply(reshape(a, (a.size, 1)), b)


@covers("tensordot")
def tensordot(x: Any, y: Any, axes: Any = 2) -> Array:
    """The sum over pairs of axes; an integer n pairs the last n of x with the first n of y."""
    a, b = _pair(x, y)
    if isinstance(axes, int):
        if not 0 <= axes <= min(a.ndim, b.ndim):
            raise axis_error("tensordot", axes, min(a.ndim, b.ndim), "more axes than there are")
        left, right = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
    else:
        left, right = (_axes(given, z) for given, z in zip(axes, (a, b), strict=True))
    for i, j in zip(left, right, strict=True):
        if a.shape[i] != b.shape[j]:
            raise _differing_sizes("tensordot", a, b, i, j)
    return dot_general(a, b, left, right)


def _axes(given: Any, x: Array) -> tuple[int, ...]:
    return tuple(
        normalize_axis(a, x.ndim, "tensordot")
        for a in (given if isinstance(given, (tuple, list)) else (given,))
    )

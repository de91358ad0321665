"""Reductions on XLA: sums, products, extrema and their positions, and, or.

``lax.reduce_max`` of floats drops a nan once the array is large enough to be vectorized on the
CPU, so the extrema of floats find out in a second reduction whether there is one. Read next:
``contraction.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import Array, lax

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.reduction import (
    Argmax,
    Argmin,
    ReduceAnd,
    ReduceMax,
    ReduceMin,
    ReduceOr,
    ReduceProd,
    ReduceSum,
)
from tenferro_xla._mesh import mesh_in_force
from tenferro_xla.lowerings._numeric import is_nan, widened

lowerings = Lowerings()
Comparison = Callable[[Any, Any], Array]


@lowerings.register(ReduceSum)
def reduce_sum(op: ReduceSum, x: Array) -> Array:
    """Sum over axes; half precision is added up in float32."""
    return in_float32(lambda x: lax.reduce_sum(x, op.axes))(x)


@lowerings.register(ReduceProd)
def reduce_prod(op: ReduceProd, x: Array) -> Array:
    """Multiply over axes; half precision is multiplied in float32."""
    return in_float32(lambda x: lax.reduce_prod(x, op.axes))(x)


@lowerings.register(ReduceMax)
def reduce_max(op: ReduceMax, x: Array) -> Array:
    """Take the largest over axes; nan wins."""
    if x.dtype.kind in "biu":
        return lax.reduce_max(x, op.axes)
    return _extremum(x, lax.max, lax.ge, -np.inf, op.axes)


@lowerings.register(ReduceMin)
def reduce_min(op: ReduceMin, x: Array) -> Array:
    """Take the smallest over axes; nan wins."""
    if x.dtype.kind in "biu":
        return lax.reduce_min(x, op.axes)
    return _extremum(x, lax.min, lax.le, np.inf, op.axes)


def in_float32(reduce: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Reduce half-precision floats in float32, which is faster and rounds once; others as is."""
    return lambda x: reduce(x) if x.dtype.kind in "biu" else widened(reduce)(x)


def _extremum(
    x: Array, better: Comparison, wins: Comparison, start: float, axes: tuple[int, ...]
) -> Array:
    """Reduce by ``max`` or ``min``, and give nan where an element was one.

    One reduction of pairs reads the operand once, and its loop is vectorized if it runs over the
    last axis, in float32 alone of the narrow dtypes. Two reductions are faster over other axes, and
    then in half precision. Devices of a mesh can only do reductions of single arrays together. JAX
    has no derivative of a reduction of pairs (``as_jax`` asks for one), so it gets another form for
    that.
    """
    if x.ndim - 1 not in axes:
        return _in_two(x, better, start, axes)
    if mesh_in_force() is not None:
        return in_float32(lambda x: _in_two(x, better, start, axes))(x)
    return in_float32(lambda x: _of_pairs(x, better, wins, start, axes))(x)


def _in_two(x: Array, better: Comparison, start: float, axes: tuple[int, ...]) -> Array:
    found = lax.reduce(x, np.array(start, x.dtype), better, axes)
    return _nan_where(lax.reduce_or(is_nan(x), axes), found)


def _of_pairs(
    x: Array, better: Comparison, wins: Comparison, start: float, axes: tuple[int, ...]
) -> Array:
    initial = np.array(start, x.dtype)

    @jax.custom_jvp
    def reduce(x: Array) -> Array:
        def both(a: Any, b: Any) -> Any:
            return better(a[0], b[0]), lax.bitwise_or(a[1], b[1])

        found, has_nan = lax.reduce((x, is_nan(x)), (initial, np.array(False)), both, axes)
        return _nan_where(has_nan, found)

    @reduce.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        def one_by_one(a: Any, b: Any) -> Any:
            return lax.select(lax.bitwise_or(wins(a, b), is_nan(a)), a, b)

        return jax.jvp(lambda x: lax.reduce(x, initial, one_by_one, axes), primals, tangents)

    result: Array = reduce(x)
    return result


def _nan_where(has_nan: Array, found: Array) -> Array:
    return lax.select(has_nan, lax.full_like(found, np.nan), found)


@lowerings.register(ReduceAnd)
def reduce_and(op: ReduceAnd, x: Array) -> Array:
    """Find whether it holds everywhere."""
    return lax.reduce_and(x, op.axes)


@lowerings.register(ReduceOr)
def reduce_or(op: ReduceOr, x: Array) -> Array:
    """Find whether it holds anywhere."""
    return lax.reduce_or(x, op.axes)


@lowerings.register(Argmax)
def argmax(op: Argmax, x: Array) -> Array:
    """Find the first of the largest, or the first nan."""
    return _position(lax.argmax, x, op)


@lowerings.register(Argmin)
def argmin(op: Argmin, x: Array) -> Array:
    """Find the first of the smallest, or the first nan."""
    return _position(lax.argmin, x, op)


def _position(find: Callable[..., Array], x: Array, op: Argmax | Argmin) -> Array:
    """Return a position along an axis, in the dtype that the operation asks for."""
    return find(x, op.axis, np.dtype(op.dtype.name))

"""`dot_general` for a NumPy-shaped namespace: matrix products over views, never a naive einsum.

Axes are permuted and merged, which copies only where strides forbid a view; what has no batch axes
is one `dot`, what has them one `matmul`, and what contracts nothing one broadcast product.
Read next: `indexing.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like._common import Axes, aligned, blas_ready, cast
from tenferro.primitives.contraction import DotGeneral

__all__ = ["contract", "register", "register_contraction"]


Cast = Callable[[Any, Any, Any], Any]
Contract = Callable[[Any, Any, Any, Axes, Axes], Any]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the contraction family."""
    register_contraction(lowerings, xp, cast, contract)


def register_contraction(lowerings: Lowerings, xp: Any, cast: Cast, contract: Contract) -> None:
    """Register `dot_general`, given `cast(xp, x, dtype)` and a function with the parameters of
    `contract`.
    """

    @lowerings.register(DotGeneral)
    def dot_general(op: DotGeneral, lhs: Any, rhs: Any) -> Any:
        if op.preferred is not None:
            lhs, rhs = cast(xp, lhs, op.preferred), cast(xp, rhs, op.preferred)
        left = Axes.of(lhs.ndim, op.lhs_batch, op.lhs_contract)
        right = Axes.of(rhs.ndim, op.rhs_batch, op.rhs_contract)
        return contract(xp, lhs, rhs, left, right)


def contract(xp: Any, lhs: Any, rhs: Any, left: Axes, right: Axes) -> Any:
    """Σ lhs·rhs over the contracted axes; axes of the result: batch, lhs free, rhs free."""
    left, right = aligned(lhs, rhs, left, right)
    batch, rows, columns = _sizes(lhs, left.batch), _sizes(lhs, left.free), _sizes(rhs, right.free)
    if not left.contracted:
        a = _permuted(xp, lhs, left.batch + left.free, (*batch, *rows, *[1] * len(columns)))
        b = _permuted(xp, rhs, right.batch + right.free, (*batch, *[1] * len(rows), *columns))
        return xp.multiply(a, b)
    depth = prod(_sizes(lhs, left.contracted))
    a_axes = left.batch + left.free + left.contracted
    b_axes = right.batch + right.contracted + right.free
    if not batch:
        a = _permuted(xp, lhs, a_axes, (prod(rows), depth) if rows else (depth,))
        b = _permuted(xp, rhs, b_axes, (depth, prod(columns)) if columns else (depth,))
        product = xp.dot(a, b)
    else:
        a = _permuted(xp, lhs, a_axes, (*batch, prod(rows), depth))
        b = _permuted(xp, rhs, b_axes, (*batch, depth, prod(columns)))
        product = xp.matmul(blas_ready(xp, a), blas_ready(xp, b))
    return xp.reshape(product, batch + rows + columns)


def _sizes(x: Any, axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([x.shape[axis] for axis in axes])


def _permuted(xp: Any, x: Any, axes: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """Permute the operand's axes and merge them into this shape; a view if possible."""
    if axes != tuple(range(len(axes))):
        x = xp.transpose(x, axes)
    return x if x.shape == shape else xp.reshape(x, shape)

"""`dot_general` for a namespace of the Array API standard: one `matmul` of merged axes.

What contracts nothing is one broadcast product. Read next: `reduction.py`.
"""

from __future__ import annotations

from math import prod
from typing import Any

from tenferro.backend.array_api_like._common import cast
from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like._common import Axes
from tenferro.backend.numpy_like.contraction import register_contraction

__all__ = ["contract", "register"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the contraction family."""
    register_contraction(lowerings, xp, cast, contract)


def contract(xp: Any, lhs: Any, rhs: Any, left: Axes, right: Axes) -> Any:
    """Σ lhs·rhs over the contracted axes; axes of the result: batch, lhs free, rhs free."""
    batch = tuple([lhs.shape[axis] for axis in left.batch])
    rows = tuple([lhs.shape[axis] for axis in left.free])
    columns = tuple([rhs.shape[axis] for axis in right.free])
    depth = prod([lhs.shape[axis] for axis in left.contracted])
    a = xp.permute_dims(lhs, left.batch + left.free + left.contracted)
    b = xp.permute_dims(rhs, right.batch + right.contracted + right.free)
    if not left.contracted:
        a = xp.reshape(a, (*batch, *rows, *[1] * len(columns)))
        b = xp.reshape(b, (*batch, *[1] * len(rows), *columns))
        return xp.multiply(a, b)
    a = xp.reshape(a, (*batch, prod(rows), depth))
    b = xp.reshape(b, (*batch, depth, prod(columns)))
    return xp.reshape(xp.matmul(a, b), batch + rows + columns)

"""Constants for a namespace of the Array API standard.

A constant and an iota are views of one element or one vector. Read next: `structural.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.array_api_like._common import cast, native_dtype
from tenferro.backend.lowering import Lowerings
from tenferro.primitives.constants import Constant, Iota, Table

__all__ = ["register"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the constants family."""

    @lowerings.register(Constant)
    def constant(op: Constant) -> Any:
        element = xp.asarray(op.value, dtype=native_dtype(xp, op.dtype))
        return xp.broadcast_to(element, op.shape)

    @lowerings.register(Iota)
    def iota(op: Iota) -> Any:
        column = [1] * len(op.shape)
        column[op.dimension] = -1
        counted = cast(xp, xp.arange(op.shape[op.dimension], dtype=xp.int64), op.dtype)
        return xp.broadcast_to(xp.reshape(counted, tuple(column)), op.shape)

    @lowerings.register(Table)
    def table(op: Table) -> Any:
        exact = xp.uint64 if max(op.values, default=0) >= 1 << 63 else xp.int64
        written = xp.asarray(list(op.values), dtype=exact)
        return xp.reshape(cast(xp, written, op.dtype), op.shape)

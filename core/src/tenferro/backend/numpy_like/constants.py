"""Constants for a NumPy-shaped namespace.

The primitives have no inputs, so that an executor may evaluate them once and keep them. A constant
and an iota are views of one element or one vector, which cost no memory. Read next:
`structural.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like._common import cast, native_dtype
from tenferro.primitives.constants import Constant, Iota, Table

__all__ = ["register"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the constants family."""

    @lowerings.register(Constant)
    def constant(op: Constant) -> Any:
        element = xp.full((), op.value, native_dtype(xp, op.dtype))
        return xp.broadcast_to(element, op.shape) if op.shape else element

    @lowerings.register(Iota)
    def iota(op: Iota) -> Any:
        column = [1] * len(op.shape)
        column[op.dimension] = -1
        counted = cast(xp, xp.arange(op.shape[op.dimension]), op.dtype)
        return xp.broadcast_to(xp.reshape(counted, tuple(column)), op.shape)

    @lowerings.register(Table)
    def table(op: Table) -> Any:
        exact = "uint64" if max(op.values, default=0) >= 1 << 63 else "int64"
        written = xp.asarray(op.values, dtype=exact)
        return xp.reshape(cast(xp, written, op.dtype), op.shape)

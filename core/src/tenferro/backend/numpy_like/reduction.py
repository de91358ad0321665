"""Reductions for a NumPy-shaped namespace.

The dtype of the operand is kept, also for narrow integers, which the namespaces would widen. NaN
wins in `max`, `min` and their positions, and of equal values the first.
Read next: `contraction.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like._common import cast
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

__all__ = ["register"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the reduction family."""

    @lowerings.register(ReduceSum)
    def reduce_sum(op: ReduceSum, x: Any) -> Any:
        return xp.sum(x, op.axes, x.dtype) if op.axes else xp.array(x)

    @lowerings.register(ReduceProd)
    def reduce_prod(op: ReduceProd, x: Any) -> Any:
        return xp.prod(x, op.axes, x.dtype) if op.axes else xp.array(x)

    @lowerings.register(ReduceMax)
    def reduce_max(op: ReduceMax, x: Any) -> Any:
        return xp.max(x, op.axes) if op.axes else xp.array(x)

    @lowerings.register(ReduceMin)
    def reduce_min(op: ReduceMin, x: Any) -> Any:
        return xp.min(x, op.axes) if op.axes else xp.array(x)

    @lowerings.register(ReduceAnd)
    def reduce_and(op: ReduceAnd, x: Any) -> Any:
        return xp.all(x, op.axes) if op.axes else xp.array(x)

    @lowerings.register(ReduceOr)
    def reduce_or(op: ReduceOr, x: Any) -> Any:
        return xp.any(x, op.axes) if op.axes else xp.array(x)

    _register_position(lowerings, xp, Argmax, xp.argmax)
    _register_position(lowerings, xp, Argmin, xp.argmin)


def _register_position(
    lowerings: Lowerings, xp: Any, primitive: Any, find: Callable[..., Any]
) -> None:
    @lowerings.register(primitive)
    def position(op: Any, x: Any) -> Any:
        return cast(xp, find(x, op.axis), op.dtype)

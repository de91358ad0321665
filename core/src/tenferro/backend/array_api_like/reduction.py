"""Reductions for a namespace of the Array API standard.

The dtype of the operand is kept, also for narrow integers, which the standard would widen. A
reduction over no axis is the operand; the standard leaves open what `axis=()` means.
Read next: `contraction.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.backend.array_api_like._common import cast
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

__all__ = ["register"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the reduction family."""
    lowerings.register(ReduceSum)(_accumulating(xp.sum))
    lowerings.register(ReduceProd)(_accumulating(xp.prod))
    lowerings.register(ReduceMax)(_choosing(xp.max))
    lowerings.register(ReduceMin)(_choosing(xp.min))
    lowerings.register(ReduceAnd)(_choosing(xp.all))
    lowerings.register(ReduceOr)(_choosing(xp.any))
    lowerings.register(Argmax)(_position(xp, xp.argmax))
    lowerings.register(Argmin)(_position(xp, xp.argmin))


def _accumulating(function: Callable[..., Any]) -> Callable[..., Any]:
    def lower(op: Any, x: Any) -> Any:
        return function(x, axis=op.axes, dtype=x.dtype) if op.axes else x

    return lower


def _choosing(function: Callable[..., Any]) -> Callable[..., Any]:
    def lower(op: Any, x: Any) -> Any:
        return function(x, axis=op.axes) if op.axes else x

    return lower


def _position(xp: Any, find: Callable[..., Any]) -> Callable[..., Any]:
    def lower(op: Any, x: Any) -> Any:
        return cast(xp, find(x, axis=op.axis), op.dtype)

    return lower

"""Positions of extremes on CuPy: of several NaN the first wins, as NumPy has it.

CuPy compares NaN pairwise in parallel, so that any of them may win there. Read next: `indexing.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.backend.extend import cast
from tenferro.backend.lowering import Lowerings
from tenferro.primitives.reduction import Argmax, Argmin

__all__ = ["register"]


def register(lowerings: Lowerings, cupy: Any) -> None:
    """Register what replaces the shared lowerings."""
    _register_position(lowerings, cupy, Argmax, cupy.argmax)
    _register_position(lowerings, cupy, Argmin, cupy.argmin)


def _register_position(
    lowerings: Lowerings, cupy: Any, primitive: Any, find: Callable[..., Any]
) -> None:
    @lowerings.register(primitive)
    def position(op: Any, x: Any) -> Any:
        found = find(x, op.axis)
        if x.dtype.kind == "f":
            nan = cupy.isnan(x)
            found = cupy.where(cupy.any(nan, op.axis), cupy.argmax(nan, op.axis), found)
        return cast(cupy, found, op.dtype)

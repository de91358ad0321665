"""Lowerings that are one function of ``jax.lax`` without parameters, as a table.

Only what agrees with the definition of the primitive in every corner may stand in such a table;
everything else is written out in its family file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.tidu import Primitive

Function = Callable[..., Any]


def register_direct(lowerings: Lowerings, table: Mapping[type[Primitive], Function]) -> None:
    """Register each function as the lowering of its primitive, dropping the operation."""
    for primitive, function in table.items():
        lowerings.register(primitive)(_without_operation(function))


def _without_operation(function: Function) -> Function:
    def lower(operation: Primitive, *operands: Any) -> Any:
        return function(*operands)

    lower.__name__ = lower.__qualname__ = getattr(function, "__name__", "lower")
    return lower

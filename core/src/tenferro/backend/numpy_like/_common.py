"""Code that all families share: registration of plain functions, native dtypes, casts.

Also the refusal of dtypes that a backend lacks. Nothing here knows a primitive.
Read next: `arithmetic.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.primitives import DType

__all__ = ["cast", "native_dtype", "register_pointwise"]


def register_pointwise(
    lowerings: Lowerings, table: Iterable[tuple[Any, Callable[..., Any]]]
) -> None:
    """Register functions of the operands alone, for primitives without parameters."""
    for primitive, function in table:
        lowerings.register(primitive)(_without_operation(function))


def _without_operation(function: Callable[..., Any]) -> Callable[..., Any]:
    def lowered(op: Any, *operands: Any) -> Any:
        return function(*operands)

    return lowered


def native_dtype(xp: Any, dtype: DType) -> Any:
    """Return the dtype object that `xp` uses for one of ours."""
    found = getattr(xp, dtype.name, None)
    return xp.dtype(dtype.name) if found is None else xp.dtype(found)


def cast(xp: Any, x: Any, dtype: DType) -> Any:
    """Copy to another dtype: complex to real takes the real part, anything to bool is `!= 0`."""
    if dtype.is_bool:
        return xp.not_equal(x, 0)
    if x.dtype.kind == "c" and not dtype.is_complex:
        x = x.real
    return x.astype(native_dtype(xp, dtype))

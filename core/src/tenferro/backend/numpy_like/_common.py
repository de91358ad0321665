"""Code that families and backends share: registration of plain functions, native dtypes, casts.

Also the axes of products, which each backend arranges for its own calls. Nothing here knows a
primitive.
Read next: `arithmetic.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.backend.lowering import Lowerings
from tenferro.primitives import DType

__all__ = ["Axes", "aligned", "blas_ready", "cast", "native_dtype", "register_pointwise"]


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


class Axes(NamedTuple):
    """The axes of one operand by what becomes of them."""

    batch: tuple[int, ...]
    free: tuple[int, ...]
    contracted: tuple[int, ...]

    @classmethod
    def of(cls, ndim: int, batch: Sequence[int], contracted: Sequence[int]) -> Axes:
        """Return the axes of an operand of this rank; those neither batch nor contracted are
        free.
        """
        taken = {*batch, *contracted}
        free = tuple(axis for axis in range(ndim) if axis not in taken)
        return cls(tuple(batch), free, tuple(contracted))


def aligned(lhs: Any, rhs: Any, left: Axes, right: Axes) -> tuple[Axes, Axes]:
    """Order the contracted axes as in the larger operand."""
    if len(left.contracted) < 2:
        return left, right
    side = 0 if lhs.size >= rhs.size else 1
    pairs = sorted(zip(left.contracted, right.contracted, strict=True), key=lambda p: p[side])
    lhs_axes, rhs_axes = zip(*pairs, strict=True)
    return left._replace(contracted=lhs_axes), right._replace(contracted=rhs_axes)


def blas_ready(xp: Any, x: Any) -> Any:
    """Copy the stack of matrices if its layout is not one that BLAS reads; a loop would be slow."""
    unit, (rows, columns), (down, across) = x.dtype.itemsize, x.shape[-2:], x.strides[-2:]
    by_rows = across == unit and down >= columns * unit
    by_columns = down == unit and across >= rows * unit
    return x if by_rows or by_columns else xp.ascontiguousarray(x)

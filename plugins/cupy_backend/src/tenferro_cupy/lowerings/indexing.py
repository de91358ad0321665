"""Scatter-add on CuPy: atomic additions of the types that CUDA has, or sorted sums.

Atomic additions come in any order, so floating sums may differ in the last bits from run to run;
with `deterministic=True` updates are sorted and summed in order instead. Nothing waits.
Read next: `cumulative.py`.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like import indexing as shared
from tenferro.backend.numpy_like.scattering import by_place
from tenferro.primitives.indexing import ScatterAdd

__all__ = ["DETERMINISTIC", "add_at", "register"]

#: Whether the program that is running asked for sums that do not depend on the order of threads.
DETERMINISTIC: ContextVar[bool] = ContextVar("tenferro_cupy_deterministic", default=False)

_ATOMIC = frozenset({"float32", "float64", "int32", "uint32", "uint64"})
_COUNTED_AS = {"int64": "uint64"}  # two's complement: the same bits
_SUMMED_AS = {
    "float16": "float32",
    "int8": "int32",
    "int16": "int32",
    "uint8": "uint32",
    "uint16": "uint32",
}


def register(lowerings: Lowerings, cupy: Any) -> None:
    """Register what replaces the shared lowerings."""

    @lowerings.register(ScatterAdd)
    def scatter_add(op: ScatterAdd, x: Any, indices: Any, updates: Any) -> Any:
        return shared.scatter_add(cupy, op, x, indices, updates, add_at)


def add_at(cupy: Any, flat: Any, positions: Any, values: Any) -> None:
    """Add values at positions of a vector, in place; positions may repeat."""
    name = flat.dtype.name
    if flat.dtype.kind == "c":
        add_at(cupy, flat.real, positions, values.real)
        add_at(cupy, flat.imag, positions, values.imag)
    elif name in _COUNTED_AS:
        bits = _COUNTED_AS[name]
        add_at(cupy, flat.view(bits), positions, values.view(bits))
    elif name in _SUMMED_AS:
        wide = flat.astype(_SUMMED_AS[name])
        add_at(cupy, wide, positions, values.astype(wide.dtype))
        flat[...] = wide.astype(flat.dtype)
    elif name in _ATOMIC and not (DETERMINISTIC.get() and flat.dtype.kind == "f"):
        cupy.add.at(flat, positions, values)
    else:
        _add_sorted(cupy, flat, positions, values)


def _add_sorted(cupy: Any, flat: Any, positions: Any, values: Any) -> None:
    """Add the sum of each position's values, which are combined in an order that is theirs."""
    order = cupy.argsort(positions, -1, "stable")
    where = positions[order]
    sums = by_place(cupy, cupy.add, where, values[order])
    flat[...] = shared.put_last(cupy, flat, where, flat[where] + sums)

"""Indexing on NumPy: `take` for rows, slices for dynamic slices, `np.add.at` on a flat array.

On the host the starts can be read, so that windows are views and need no index arrays.
Read next: `_plan.py` of the package.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like import indexing as shared
from tenferro.primitives import Aval
from tenferro.primitives.indexing import (
    DynamicSlice,
    DynamicUpdateSlice,
    Gather,
    Scatter,
    ScatterAdd,
)
from tenferro_numpy._expression import Expression, Function, Specialize, called

__all__ = ["EXPRESSIONS", "register"]


def register(lowerings: Lowerings) -> None:
    """Register what replaces the shared lowerings."""

    @lowerings.register(ScatterAdd)
    def scatter_add(op: ScatterAdd, x: Any, indices: Any, updates: Any) -> Any:
        return shared.scatter_add(np, op, x, indices, updates, _add_at)

    @lowerings.register(Scatter)
    def scatter(op: Scatter, x: Any, indices: Any, updates: Any) -> Any:
        return shared.scatter_with(np, op, x, indices, updates, _replaced)

    @lowerings.register(DynamicSlice)
    def dynamic_slice(op: DynamicSlice, x: Any, *starts: Any) -> Any:
        return x[_window(starts, op.sizes, x.shape)]

    @lowerings.register(DynamicUpdateSlice)
    def dynamic_update_slice(op: DynamicUpdateSlice, x: Any, update: Any, *starts: Any) -> Any:
        out = np.array(x)
        out[_window(starts, update.shape, x.shape)] = update
        return out


def _add_at(xp: Any, flat: Any, positions: Any, values: Any) -> None:
    np.add.at(flat, positions, values)


def _replaced(flat: Any, positions: Any, values: Any) -> Any:
    """NumPy assigns in turn, so that the last value remains (numpy.org/doc, "Indexing")."""
    out = np.array(flat)
    out[positions] = values
    return out


def _window(starts: Sequence[Any], sizes: Sequence[int], shape: Sequence[int]) -> tuple[slice, ...]:
    """The window that begins at the starts, moved so that it lies within the shape."""
    window = []
    for start, size, full in zip(starts, sizes, shape, strict=True):
        begin = min(max(int(start), 0), full - size)
        window.append(slice(begin, begin + size))
    return tuple(window)


def _gather(op: Gather, avals: tuple[Aval, ...], result: Aval, lowering: Function) -> Expression:
    x, indices = avals
    if not _takes_along_one_axis(op, x) or op.mode == "fill" or indices.dtype.name == "uint64":
        return called(op, 2, lowering, shares=not op.start_index_map)
    axis, batch = op.start_index_map[0], indices.shape[:-1]
    bound: list[Any] = [batch, axis]
    text = "{0}.take({1}.reshape({p0}), {p1})"
    if op.mode == "clip":
        text = "{0}.take({1}.reshape({p0}), {p1}, None, {p2})"
        bound.append("clip")
    order = _order_after_take(op, axis, len(batch))
    if order != tuple(range(len(order))):
        text += f".transpose({{p{len(bound)}}})"
        bound.append(order)
    return Expression(text, tuple(bound))


def _takes_along_one_axis(op: Gather, x: Aval) -> bool:
    """Whether the slices are single elements of one axis and everything of the others."""
    if len(op.start_index_map) != 1 or op.collapsed_slice_dims != op.start_index_map:
        return False
    axis = op.start_index_map[0]
    whole = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    return tuple(op.slice_sizes) == whole and prod(x.shape) > 0


def _order_after_take(op: Gather, axis: int, batch_count: int) -> tuple[int, ...]:
    """The permutation from `take`'s axes (batch axes in the place of `axis`) to the result's."""
    rank = batch_count + len(op.offset_dims)
    batch_axes = iter(range(axis, axis + batch_count))
    window_axes = iter([*range(axis), *range(axis + batch_count, rank)])
    return tuple(next(window_axes if d in op.offset_dims else batch_axes) for d in range(rank))


def _new_array(op: Any, avals: tuple[Aval, ...], result: Aval, lowering: Function) -> Expression:
    return called(op, len(avals), lowering, shares=False)


EXPRESSIONS: dict[type, Specialize] = {
    Gather: _gather,
    Scatter: _new_array,
    ScatterAdd: _new_array,
    DynamicUpdateSlice: _new_array,
}

"""Gather, dynamic slices and scatter-add for a namespace of the Array API standard.

An index vector says where a window starts. Windows become positions of the flattened operand, which
one `take` reads. The standard cannot add at repeated positions, so a backend hands in the function
that does: `register_scatter_add`. Read next: `reduction.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import prod
from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.indexing import interleaved
from tenferro.primitives.indexing import DynamicSlice, DynamicUpdateSlice, Gather, ScatterAdd

__all__ = ["register", "register_scatter_add"]

Shape = tuple[int, ...]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the indexing family, without what writes at repeated positions."""

    @lowerings.register(Gather)
    def lower_gather(op: Gather, x: Any, indices: Any) -> Any:
        return _gather(xp, op, x, indices)

    @lowerings.register(DynamicSlice)
    def dynamic_slice(op: DynamicSlice, x: Any, *starts: Any) -> Any:
        return x[_window(starts, op.sizes, x.shape)]

    @lowerings.register(DynamicUpdateSlice)
    def dynamic_update_slice(op: DynamicUpdateSlice, x: Any, update: Any, *starts: Any) -> Any:
        out = xp.asarray(x, copy=True)
        out[_window(starts, update.shape, x.shape)] = update
        return out


def register_scatter_add(
    lowerings: Lowerings, xp: Any, add_at: Callable[[Any, Any, Any], Any]
) -> None:
    """Register scatter-add, given `add_at(vector, positions, values)`.

    It returns a new vector, in which values at equal positions add up.
    """

    @lowerings.register(ScatterAdd)
    def scatter_add(op: ScatterAdd, x: Any, indices: Any, updates: Any) -> Any:
        windows, batch, sizes = _as_windows(xp, op, x.ndim, updates)
        mapped = op.scatter_dims_to_operand_dims
        room = [x.shape[axis] - sizes[axis] for axis in mapped]
        if prod(windows.shape) == 0 or (op.mode == "drop" and min(room, default=0) < 0):
            return xp.asarray(x, copy=True)
        starts = _columns(xp, indices)
        positions = _positions(
            xp, x.shape, _placed(xp, op.mode, starts, room), batch, sizes, mapped
        )
        positions, windows = xp.reshape(positions, (-1,)), xp.reshape(windows, (-1,))
        inside = _inside(xp, starts, room) if op.mode == "drop" else None
        if inside is not None:
            kept = xp.broadcast_to(xp.reshape(inside, batch + (1,) * x.ndim), batch + sizes)
            kept = xp.reshape(kept, (-1,))
            positions, windows = positions[kept], windows[kept]
        return xp.reshape(add_at(xp.reshape(x, (-1,)), positions, windows), x.shape)


def _window(starts: Sequence[Any], sizes: Sequence[int], shape: Shape) -> tuple[slice, ...]:
    """Return the window of these sizes, moved inside; the starts are read."""
    places = []
    for start, size, full in zip(starts, sizes, shape, strict=True):
        first = min(max(int(start), 0), full - size)
        places.append(slice(first, first + size))
    return tuple(places)


def _gather(xp: Any, op: Gather, x: Any, indices: Any) -> Any:
    """Read a window at each index vector; batch axes and window axes as `op.offset_dims` says."""
    sizes, mapped, batch = op.slice_sizes, op.start_index_map, tuple(indices.shape[:-1])
    starts = _columns(xp, indices)
    room = [x.shape[axis] - sizes[axis] for axis in mapped]
    if prod(sizes) == 0 or prod(batch) == 0 or prod(x.shape) == 0:
        windows = xp.zeros(batch + sizes, dtype=x.dtype)
    else:
        placed = _placed(xp, op.mode, starts, room)
        positions = _positions(xp, x.shape, placed, batch, sizes, mapped)
        read = xp.take(xp.reshape(x, (-1,)), xp.reshape(positions, (-1,)), axis=0)
        windows = xp.reshape(read, batch + sizes)
    inside = _inside(xp, starts, room) if op.mode == "fill" else None
    if inside is not None:
        mask = xp.reshape(inside, batch + (1,) * len(sizes))
        windows = xp.where(mask, windows, xp.zeros_like(windows))
    kept = tuple(n for axis, n in enumerate(sizes) if axis not in op.collapsed_slice_dims)
    windows = xp.reshape(windows, batch + kept)
    return xp.permute_dims(windows, interleaved(len(batch), op.offset_dims))


def _as_windows(xp: Any, op: ScatterAdd, ndim: int, updates: Any) -> tuple[Any, Shape, Shape]:
    """Return updates with axes batch, then all of the operand; the batch shape; window sizes."""
    window_axes = tuple(op.update_window_dims)
    batch_axes = tuple(d for d in range(updates.ndim) if d not in window_axes)
    batch = tuple(updates.shape[d] for d in batch_axes)
    given = iter(updates.shape[d] for d in window_axes)
    sizes = tuple(1 if d in op.inserted_window_dims else next(given) for d in range(ndim))
    ordered = xp.permute_dims(updates, batch_axes + window_axes)
    return xp.reshape(ordered, batch + sizes), batch, sizes


def _positions(
    xp: Any, shape: Shape, starts: Sequence[Any], batch: Shape, sizes: Shape, mapped: Shape
) -> Any:
    """Return where each element of each window lies in the flattened operand."""
    steps = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    terms = [
        xp.reshape(start * steps[axis], batch + (1,) * len(shape))
        for start, axis in zip(starts, mapped, strict=True)
    ]
    for axis, size in enumerate(sizes):
        along = [1] * len(shape)
        along[axis] = size
        terms.append(xp.reshape(xp.arange(size, dtype=xp.int64) * steps[axis], tuple(along)))
    total = reduce(xp.add, terms) if terms else xp.zeros((), dtype=xp.int64)
    return xp.broadcast_to(total, batch + sizes)


def _columns(xp: Any, indices: Any) -> list[Any]:
    """Return the components of the index vectors as int64; large unsigned values stay large."""
    if indices.dtype == getattr(xp, "uint64", None):
        indices = xp.minimum(indices, xp.full_like(indices, (1 << 63) - 1))
    whole = xp.astype(indices, xp.int64)
    return [whole[..., k] for k in range(whole.shape[-1])]


def _placed(xp: Any, mode: str, starts: Sequence[Any], room: Sequence[int]) -> Sequence[Any]:
    """Return the starts, moved so that windows lie inside unless that is promised."""
    if mode == "promise_in_bounds":
        return starts
    return [
        xp.minimum(xp.maximum(start, xp.zeros_like(start)), xp.full_like(start, most))
        for start, most in zip(starts, room, strict=True)
    ]


def _inside(xp: Any, starts: Sequence[Any], room: Sequence[int]) -> Any:
    """Test, per index vector, whether the whole window lies in the operand; `None`: all do."""
    fits = [
        xp.logical_and(start >= 0, start <= most) for start, most in zip(starts, room, strict=True)
    ]
    return reduce(xp.logical_and, fits) if fits else None

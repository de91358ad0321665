"""Gather, scatter and dynamic slices for a NumPy-shaped namespace, with XLA's semantics.

An index vector says where a window starts, in the operand's axes named by the primitive. Gather
reads windows by advanced indexing (one `take` where one axis is indexed by single elements);
scatter-add turns windows into positions of the flattened operand. The starts stay on the device:
nothing here reads an element. Read next: `plugins/numpy_backend`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from math import prod
from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.indexing import (
    DynamicSlice,
    DynamicUpdateSlice,
    Gather,
    IndexedUpdate,
    Scatter,
    ScatterAdd,
)

__all__ = [
    "add_at", "gather", "placements", "put_last", "register", "scatter_add", "scatter_with",
]  # fmt: skip


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the indexing family."""

    @lowerings.register(Gather)
    def lower_gather(op: Gather, x: Any, indices: Any) -> Any:
        return gather(xp, op, x, indices)

    @lowerings.register(ScatterAdd)
    def lower_scatter_add(op: ScatterAdd, x: Any, indices: Any, updates: Any) -> Any:
        return scatter_add(xp, op, x, indices, updates, add_at)

    @lowerings.register(Scatter)
    def scatter(op: Scatter, x: Any, indices: Any, updates: Any) -> Any:
        return scatter_with(xp, op, x, indices, updates, partial(_replace, xp))

    _register_slices(lowerings, xp)


def _register_slices(lowerings: Lowerings, xp: Any) -> None:
    @lowerings.register(DynamicSlice)
    def dynamic_slice(op: DynamicSlice, x: Any, *starts: Any) -> Any:
        for axis, (start, size) in enumerate(zip(starts, op.sizes, strict=True)):
            if size != x.shape[axis]:
                x = xp.take(x, _window(xp, start, size, x.shape[axis]), axis)
        return x

    @lowerings.register(DynamicUpdateSlice)
    def dynamic_update_slice(op: DynamicUpdateSlice, x: Any, update: Any, *starts: Any) -> Any:
        out = xp.array(x)
        windows = [
            xp.reshape(_window(xp, start, size, full), (-1, *[1] * (x.ndim - axis - 1)))
            for axis, (start, size, full) in enumerate(
                zip(starts, update.shape, x.shape, strict=True)
            )
        ]
        out[tuple(windows) or ...] = update
        return out


def gather(xp: Any, op: Gather, x: Any, indices: Any) -> Any:
    """Read a window at each index vector; batch axes and window axes as `op.offset_dims` says."""
    sizes, mapped = op.slice_sizes, op.start_index_map
    starts = _columns(xp, indices)
    batch = indices.shape[:-1]
    room = [x.shape[axis] - sizes[axis] for axis in mapped]
    inside = _inside(xp, starts, room) if op.mode == "fill" else None
    if op.mode != "promise_in_bounds":
        starts = [_clipped(xp, start, most) for start, most in zip(starts, room, strict=True)]
    if prod(sizes) == 0 or prod(batch) == 0:
        windows = xp.zeros(batch + sizes, x.dtype)
    else:
        windows = _read_windows(xp, x, starts, batch, sizes, mapped)
    if inside is not None:
        mask = xp.reshape(inside, batch + (1,) * len(sizes))
        windows = xp.where(mask, windows, xp.zeros_like(windows))
    kept = tuple(n for axis, n in enumerate(sizes) if axis not in op.collapsed_slice_dims)
    windows = xp.reshape(windows, batch + kept)
    return xp.transpose(windows, interleaved(len(batch), op.offset_dims))


def _read_windows(
    xp: Any,
    x: Any,
    starts: Sequence[Any],
    batch: tuple[int, ...],
    sizes: tuple[int, ...],
    mapped: tuple[int, ...],
) -> Any:
    """Return the windows with axes: batch, then all axes of the operand."""
    x = x[tuple(slice(None) if d in mapped else slice(0, n) for d, n in enumerate(sizes))]
    if len(mapped) == 1 and sizes[mapped[0]] == 1:
        axis = mapped[0]
        taken = xp.take(x, starts[0], axis)
        end = axis + len(batch)
        front_first = (*range(axis, end), *range(axis), *range(end, taken.ndim))
        return xp.reshape(xp.transpose(taken, front_first), batch + sizes)
    rest = tuple(axis for axis in range(x.ndim) if axis not in mapped)
    front = xp.transpose(x, mapped + rest)
    where = []
    for position, (start, axis) in enumerate(zip(starts, mapped, strict=True)):
        offsets = [1] * len(mapped)
        offsets[position] = sizes[axis]
        start = xp.reshape(start, batch + (1,) * len(mapped))
        where.append(start + xp.reshape(xp.arange(sizes[axis]), tuple(offsets)))
    read = front[tuple(where)] if where else xp.broadcast_to(front, batch + front.shape)
    order = mapped + rest
    back = tuple(len(batch) + order.index(axis) for axis in range(x.ndim))
    return xp.transpose(read, (*range(len(batch)), *back))


def interleaved(batch_count: int, offset_dims: tuple[int, ...]) -> tuple[int, ...]:
    """Return the permutation that puts window axes, which follow batch axes, at `offset_dims`."""
    rank = batch_count + len(offset_dims)
    batch_axes, window_axes = iter(range(batch_count)), iter(range(batch_count, rank))
    return tuple(next(window_axes if d in offset_dims else batch_axes) for d in range(rank))


def scatter_add(
    xp: Any, op: ScatterAdd, x: Any, indices: Any, updates: Any, accumulate: Callable[..., None]
) -> Any:
    """Add a window of `updates` at each index vector; `accumulate(xp, flat, positions, values)`."""
    windows, batch, sizes = _as_windows(xp, op, x.ndim, updates)
    mapped = op.scatter_dims_to_operand_dims
    starts = _columns(xp, indices)
    room = [x.shape[axis] - sizes[axis] for axis in mapped]
    out = xp.array(x, order="C")
    if windows.size == 0 or (op.mode == "drop" and min(room, default=0) < 0):
        return out
    inside = _inside(xp, starts, room) if op.mode == "drop" else None
    if inside is not None:
        mask = xp.reshape(inside, batch + (1,) * x.ndim)
        nothing = -0.0 if x.dtype.kind in "fc" else 0  # the zero that changes no sign
        windows = xp.where(mask, windows, xp.full_like(windows, nothing))
    if op.mode != "promise_in_bounds":
        starts = [_clipped(xp, start, most) for start, most in zip(starts, room, strict=True)]
    positions = _positions(xp, x.shape, starts, batch, sizes, mapped)
    accumulate(xp, xp.reshape(out, -1), xp.reshape(positions, -1), xp.reshape(windows, -1))
    return out


def scatter_with(
    xp: Any, op: IndexedUpdate, x: Any, indices: Any, updates: Any, update: Callable[..., Any]
) -> Any:
    """Update the operand by `update(flat, positions, values)`, which returns a new vector.

    Dropped values get a place behind the operand, which is cut off again.
    """
    positions, windows, inside = placements(xp, op, x.shape, indices, updates)
    if windows.size == 0:
        return xp.array(x)
    flat = xp.reshape(x, -1)
    if inside is not None:
        mask = xp.reshape(inside, inside.shape + (1,) * x.ndim)
        positions = xp.where(mask, positions, x.size)
        flat = xp.concatenate((flat, xp.zeros(1, x.dtype)))
    out = update(flat, xp.reshape(positions, -1), xp.reshape(windows, -1))
    return xp.reshape(out[: x.size], x.shape)


def placements(
    xp: Any, op: IndexedUpdate, shape: tuple[int, ...], indices: Any, updates: Any
) -> tuple[Any, Any, Any]:
    """Return each element's place in the flattened operand, the elements, and which windows are
    kept.

    The first two have the batch axes and then all axes of the operand; the third the batch axes,
    or is `None` where all are kept.
    """
    windows, batch, sizes = _as_windows(xp, op, len(shape), updates)
    mapped = op.scatter_dims_to_operand_dims
    starts = _columns(xp, indices)
    room = [shape[axis] - sizes[axis] for axis in mapped]
    inside = _inside(xp, starts, room) if op.mode == "drop" else None
    if op.mode != "promise_in_bounds":
        starts = [_clipped(xp, start, most) for start, most in zip(starts, room, strict=True)]
    return _positions(xp, shape, starts, batch, sizes, mapped), windows, inside


def _replace(xp: Any, flat: Any, positions: Any, values: Any) -> Any:
    """Return a copy of the vector with the last of the values for each position."""
    order = xp.argsort(positions * positions.size + xp.arange(positions.size))
    return put_last(xp, flat, positions[order], values[order])


def put_last(xp: Any, flat: Any, where: Any, what: Any) -> Any:
    """Return a copy of the vector with the last of the values for each place; places are sorted.

    The other values are put behind the vector, each into a place of its own.
    """
    goes_on = xp.concatenate((xp.equal(where[1:], where[:-1]), xp.zeros(1, "bool")))
    wide = xp.concatenate((flat, what))
    wide[xp.where(goes_on, flat.size + xp.arange(where.size), where)] = what
    return wide[: flat.size]


def _as_windows(
    xp: Any, op: IndexedUpdate, ndim: int, updates: Any
) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
    """Return updates with axes batch, then all of the operand; the batch shape; window sizes."""
    window_axes = op.update_window_dims
    batch_axes = tuple(d for d in range(updates.ndim) if d not in window_axes)
    batch = tuple(updates.shape[d] for d in batch_axes)
    given = iter(updates.shape[d] for d in window_axes)
    sizes = tuple(1 if d in op.inserted_window_dims else next(given) for d in range(ndim))
    ordered = xp.transpose(updates, batch_axes + tuple(window_axes))
    return xp.reshape(ordered, batch + sizes), batch, sizes


def _positions(
    xp: Any,
    shape: tuple[int, ...],
    starts: Sequence[Any],
    batch: tuple[int, ...],
    sizes: tuple[int, ...],
    mapped: tuple[int, ...],
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
        terms.append(xp.reshape(xp.arange(size) * steps[axis], tuple(along)))
    total = reduce(xp.add, terms) if terms else xp.zeros((), "int64")
    return xp.broadcast_to(total, batch + sizes)


def add_at(xp: Any, flat: Any, positions: Any, values: Any) -> None:
    """Add values at positions of a vector, in place; positions may repeat."""
    if flat.dtype.kind != "c":
        xp.add.at(flat, positions, values)
        return
    xp.add.at(flat.real, positions, values.real)
    xp.add.at(flat.imag, positions, values.imag)


def _columns(xp: Any, indices: Any) -> list[Any]:
    """Return the components of the index vectors as int64; large unsigned values stay large."""
    if indices.dtype.kind == "u" and indices.dtype.itemsize == 8:
        indices = xp.minimum(indices, (1 << 63) - 1)
    whole = indices.astype("int64")
    return [whole[..., k] for k in range(whole.shape[-1])]


def _clipped(xp: Any, start: Any, most: int) -> Any:
    return xp.minimum(xp.maximum(start, 0), most)


def _inside(xp: Any, starts: Sequence[Any], room: Sequence[int]) -> Any:
    """Test, per index vector, whether the whole window lies in the operand; `None`: all do."""
    fits = [
        xp.logical_and(xp.greater_equal(start, 0), xp.less_equal(start, most))
        for start, most in zip(starts, room, strict=True)
    ]
    return reduce(xp.logical_and, fits) if fits else None


def _window(xp: Any, start: Any, size: int, full: int) -> Any:
    """Return the positions of a window of this size, moved inside an axis of size `full`."""
    return _clipped(xp, start.astype("int64"), full - size) + xp.arange(size)

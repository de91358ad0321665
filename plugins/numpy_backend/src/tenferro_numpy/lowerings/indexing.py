"""Indexing on NumPy: `take` for rows, slices for dynamic slices, `np.add.at` on a flat array.

On the host the starts can be read, so that windows are views and need no index arrays.
Read next: `planner.py` of the package.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
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
from tenferro_numpy.ir.expression import Expression, Function, Specialize, called

__all__ = [
    "EXPRESSIONS", "are_inside", "combined_at", "on_copy", "points", "register", "taken",
    "updating",
]  # fmt: skip


def register(lowerings: Lowerings) -> None:
    """Register what replaces the shared lowerings."""
    for primitive, combine in ((ScatterAdd, np.add.at), (Scatter, _put)):
        lowerings.register(primitive)(on_copy(combined_at(combine)))

    @lowerings.register(DynamicSlice)
    def dynamic_slice(op: DynamicSlice, x: Any, *starts: Any) -> Any:
        return x[_window(starts, op.sizes, x.shape)]

    lowerings.register(DynamicUpdateSlice)(on_copy(_update_window))


def combined_at(combine: Callable[[Any, Any, Any], object]) -> Function:
    """Update windows of an array itself, by `combine(flat, positions, values)`."""

    def in_place(op: Any, x: Any, indices: Any, updates: Any) -> Any:
        flat = x.reshape(-1) if x.flags.c_contiguous else np.array(x, order="C").reshape(-1)
        if not (flat.size and updates.size):
            return flat.reshape(x.shape)
        axes = op.scatter_dims_to_operand_dims
        rows = _rows_of(op, x.shape, updates.shape)
        is_plain = rows is not None or (not op.update_window_dims and len(axes) == x.ndim > 0)
        if is_plain and (op.mode != "drop" or are_inside(indices, axes, x.shape)):
            found = _places(axes, indices, x.shape) if rows is None else rows.places(indices)
            combine(flat, found.reshape(-1), updates.reshape(-1))
            return flat.reshape(x.shape)
        positions, windows, inside = shared.placements(np, op, x.shape, indices, updates)
        if inside is not None:
            positions, windows = positions[inside], windows[inside]
        combine(flat, positions.reshape(-1), windows.reshape(-1))
        return flat.reshape(x.shape)

    return in_place


def _is_one_place(op: Any, x: Aval, indices: Aval, updates: Aval) -> bool:
    """Return True if one element, or one row of some axes, is updated."""
    axes = op.scatter_dims_to_operand_dims
    return (
        op.mode in ("drop", "clip")
        and indices.ndim == 1
        and x.size > 0
        and tuple(op.inserted_window_dims) == tuple(sorted(axes))
        and tuple(op.update_window_dims) == tuple(range(updates.ndim))
        and updates.ndim == x.ndim - len(axes)
    )


def _at_one_place(write: Callable[[Any, Any, Any], object]) -> Function:
    """Update one element, or one row of some axes, of an array itself."""

    def in_place(op: Any, x: Any, indices: Any, updates: Any) -> Any:
        where: list[Any] = [slice(None)] * x.ndim
        for axis, i in zip(op.scatter_dims_to_operand_dims, indices.tolist(), strict=True):
            size = x.shape[axis]
            if 0 <= i < size:
                where[axis] = i
            elif op.mode == "drop":
                return x
            else:
                where[axis] = 0 if i < 0 else size - 1
        write(x, tuple(where), updates)
        return x

    return in_place


def _set(x: Any, where: Any, updates: Any) -> None:
    x[where] = updates


def _add(x: Any, where: Any, updates: Any) -> None:
    x[where] += updates


def _places(axes: Sequence[int], indices: Any, shape: tuple[int, ...]) -> Any:
    """Return the places of single elements in the flat array, given index vectors over `axes`.

    The vectors are one array, or a tuple of arrays side by side.
    """
    parts = indices if type(indices) is tuple else (indices,)
    columns = [x[..., k] for x in map(_as_positions, parts) for k in range(x.shape[-1])]
    ordered = tuple([columns[axes.index(axis)] for axis in range(len(shape))])
    return np.ravel_multi_index(ordered, shape, mode="clip")


def are_inside(indices: Any, axes: Sequence[int], shape: tuple[int, ...]) -> bool:
    """Return True if each index vector over `axes` names an element of an array of this shape."""
    if len(axes) == 1:
        return not indices.size or _are_below(indices, shape[axes[0]])
    unsigned = indices.astype(np.uint64)  # negative ones are then larger than any size
    return bool((unsigned < [shape[axis] for axis in axes]).all())


def _are_below(indices: Any, size: int) -> bool:
    """Return True if integers are neither negative nor beyond a size; there is at least one."""
    is_int64 = indices.dtype == np.int64
    unsigned = indices.view(np.uint64) if is_int64 else indices.astype(np.uint64)
    # negative ones are now larger than any size; the place of the largest is found faster than it
    return bool(unsigned.item(unsigned.argmax()) < size)


def _as_positions(indices: Any) -> Any:
    """Return integers in the dtype of positions."""
    if indices.dtype == np.intp:
        return indices
    if indices.dtype == np.uint64:
        indices = np.minimum(indices, np.iinfo(np.int64).max)
    return indices.astype(np.intp)


class _Rows:
    """Rows along one axis of an array, whose elements have places in the flat array."""

    def __init__(
        self, shape: tuple[int, ...], axis: int, updates: tuple[int, ...], windows: tuple[int, ...]
    ) -> None:
        step = prod(shape[axis + 1 :])  # elements from a row to the next
        before = np.arange(prod(shape[:axis]))[:, None] * (step * shape[axis])
        within = before + np.arange(step)
        self.within = within.reshape([n if d in windows else 1 for d, n in enumerate(updates)])
        self.batch = tuple([1 if d in windows else n for d, n in enumerate(updates)])
        self.are_elements = within.size == 1  # of an array of rank 1
        self.step = np.array(step)  # NumPy combines arrays faster than Python's numbers
        self.count = shape[axis]

    def places(self, indices: Any) -> Any:
        """Return the places of the elements of these rows, in the order of the updates."""
        last = self.count - 1
        if indices.dtype.kind == "u":  # as large as they may be, they are no negative ones
            indices = np.minimum(indices, last)
        rows = indices.astype(np.intp, copy=False)
        if not _are_below(rows, self.count):
            rows = np.minimum(np.maximum(rows, 0), last)
        if self.are_elements:
            return rows.reshape(-1)
        starts = np.multiply(rows, self.step)
        return np.add(starts.reshape(self.batch), self.within).reshape(-1)


@lru_cache(maxsize=64)
def _rows_of(op: Any, shape: tuple[int, ...], updates: tuple[int, ...]) -> _Rows | None:
    """Return the rows along one axis that are updated whole; None if there are none."""
    axes, windows = op.scatter_dims_to_operand_dims, tuple(op.update_window_dims)
    if len(axes) != 1 or tuple(op.inserted_window_dims) != tuple(axes):
        return None
    axis = axes[0]
    whole = shape[:axis] + shape[axis + 1 :]
    if tuple([updates[d] for d in windows]) != whole:  # they increase, as the axes of whole do
        return None
    return _Rows(shape, axis, updates, windows)


def points(x: Any, indices: Any, axes: tuple[int, ...]) -> Any:
    """Return the single elements at the index vectors."""
    return x.reshape(-1).take(_places(axes, indices, x.shape))


def _put(flat: Any, positions: Any, values: Any) -> None:
    flat[positions] = values


def _update_window(op: DynamicUpdateSlice, x: Any, update: Any, *starts: Any) -> Any:
    x[_window(starts, update.shape, x.shape)] = update
    return x


def on_copy(in_place: Function) -> Function:
    """Make the same update of a copy of the first operand."""

    def update(op: Any, x: Any, *others: Any) -> Any:
        return in_place(op, np.array(x, order="C"), *others)

    return update


def _window(starts: Sequence[Any], sizes: Sequence[int], shape: Sequence[int]) -> tuple[slice, ...]:
    """Return the window that begins at the starts, moved inside the shape."""
    window = []
    for start, size, full in zip(starts, sizes, shape, strict=True):
        begin = min(max(int(start), 0), full - size)
        window.append(slice(begin, begin + size))
    return tuple(window)


def _gather(op: Gather, avals: tuple[Aval, ...], result: Aval, lowering: Function) -> Expression:
    x, indices = avals
    if _takes_points(op, x):
        quick = Expression("{p0}({0}, {1}, {p1})", (points, tuple(op.start_index_map)))
    elif _takes_along_one_axis(op, x) and indices.dtype.name != "uint64":
        quick = taken(op, indices.shape[:-1])
    else:
        return called(op, 2, lowering, shares=not op.start_index_map)
    if op.mode != "fill":
        return quick
    return _where_inside(quick, called(op, 2, lowering, shares=False), op, x)


def _where_inside(quick: Expression, general: Expression, op: Gather, x: Aval) -> Expression:
    """Return the quick line where all indices name elements, and otherwise the general one."""
    first = len(general.bound)
    text = re.sub(r"\{p(\d+)\}", lambda name: f"{{p{first + int(name[1])}}}", quick.template)
    bound = (*general.bound, *quick.bound, are_inside, tuple(op.start_index_map), x.shape)
    test, axes, shape = [f"{{p{i}}}" for i in range(len(bound) - 3, len(bound))]
    line = f"({text} if {test}({{1}}, {axes}, {shape}) else {general.template})"
    return Expression(line, bound)


def taken(op: Gather, batch: tuple[int, ...], *, is_reshaped: bool = False) -> Expression:
    """Return the line that takes slices along one axis at indices that have, or get, a shape."""
    axis = op.start_index_map[0]
    bound: list[Any] = [axis] if is_reshaped else [axis, batch]
    indices = "{1}" if is_reshaped else "{1}.reshape({p1})"
    text = f"{{0}}.take({indices}, {{p0}})"
    if op.mode == "clip":
        text = f"{{0}}.take({indices}, {{p0}}, None, {{p{len(bound)}}})"
        bound.append("clip")
    order = _order_after_take(op, axis, len(batch))
    if order != tuple(range(len(order))):
        text += f".transpose({{p{len(bound)}}})"
        bound.append(order)
    return Expression(text, tuple(bound))


def _takes_points(op: Gather, x: Aval) -> bool:
    """Return True if single elements are taken, by index vectors that name every axis."""
    return (
        x.ndim > 1
        and x.size > 0
        and len(op.start_index_map) == len(op.collapsed_slice_dims) == x.ndim
    )


def _takes_along_one_axis(op: Gather, x: Aval) -> bool:
    """Return True if slices are single elements of one axis and all of the others."""
    if len(op.start_index_map) != 1 or op.collapsed_slice_dims != op.start_index_map:
        return False
    axis = op.start_index_map[0]
    whole = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    return tuple(op.slice_sizes) == whole and prod(x.shape) > 0


def _order_after_take(op: Gather, axis: int, batch_count: int) -> tuple[int, ...]:
    """Return the permutation from `take`'s axes (batch axes instead of `axis`) to the result's."""
    rank = batch_count + len(op.offset_dims)
    batch_axes = iter(range(axis, axis + batch_count))
    window_axes = iter([*range(axis), *range(axis + batch_count, rank)])
    return tuple(next(window_axes if d in op.offset_dims else batch_axes) for d in range(rank))


def updating(in_place: Function) -> Specialize:
    """Update a new array, or the operand itself if it has no later reader."""

    def specialize(
        op: Any, avals: tuple[Aval, ...], result: Aval, lowering: Function
    ) -> Expression:
        copying = called(op, len(avals), lowering, shares=False)
        there = copying._replace(bound=(in_place, op), memory_of=0)
        return copying._replace(update=there)

    return specialize


def _scattering(in_place: Function, at_one_place: Function) -> Specialize:
    """Update an array, at one place without arrays of positions."""
    general = updating(in_place)

    def specialize(
        op: Any, avals: tuple[Aval, ...], result: Aval, lowering: Function
    ) -> Expression:
        found = general(op, avals, result, lowering)
        if not _is_one_place(op, *avals):
            return found
        there = found._replace(bound=(at_one_place, op), memory_of=0, update=None)
        return found._replace(bound=(on_copy(at_one_place), op), update=there)

    return specialize


def _dynamic_slice(
    op: DynamicSlice, avals: tuple[Aval, ...], result: Aval, lowering: Function
) -> Expression:
    places = ", ".join([f"{{{i}}}" for i in range(len(avals))])
    return Expression(f"{{p0}}({places})", (_reader(op.sizes, avals[0].shape),), shares=True)


def _dynamic_update_slice(
    op: DynamicUpdateSlice, avals: tuple[Aval, ...], result: Aval, lowering: Function
) -> Expression:
    in_place = _updater(avals[1].shape, avals[0].shape)
    found = called(op, len(avals), on_copy(in_place), shares=False)
    there = found._replace(bound=(in_place, op), memory_of=0)
    return found._replace(update=there)


@lru_cache(maxsize=1024)
def _reader(sizes: tuple[int, ...], shape: tuple[int, ...]) -> Function:
    """Return the function that reads a window of these sizes in an array of this shape."""
    window = _window_in(sizes, shape)

    def part(x: Any, *starts: Any) -> Any:
        return x[window(starts)]

    return part


@lru_cache(maxsize=1024)
def _updater(sizes: tuple[int, ...], shape: tuple[int, ...]) -> Function:
    """Return the function that replaces a window of these sizes in an array of this shape."""
    window = _window_in(sizes, shape)

    def in_place(op: DynamicUpdateSlice, x: Any, update: Any, *starts: Any) -> Any:
        x[window(starts)] = update
        return x

    return in_place


def _window_in(sizes: Sequence[int], shape: Sequence[int]) -> Callable[[Sequence[Any]], Any]:
    """``_window`` for windows of one size in one shape: axes that are taken whole are not asked."""
    each = enumerate(zip(sizes, shape, strict=True))
    moving = [(axis, size, full - size) for axis, (size, full) in each if size != full]
    whole = (slice(None),) * max([axis + 1 for axis, _, _ in moving], default=0)
    if len(moving) != 1:
        return lambda starts: _moved(whole, moving, starts)
    ((axis, size, most),) = moving
    before = whole[:-1]

    def window(starts: Sequence[Any]) -> tuple[slice, ...]:
        begin = int(starts[axis])
        begin = 0 if begin < 0 else min(begin, most)
        return (*before, slice(begin, begin + size))

    return window


def _moved(
    whole: tuple[slice, ...], moving: Sequence[tuple[int, int, int]], starts: Sequence[Any]
) -> tuple[slice, ...]:
    """Return a window that moves along several axes, or along none."""
    window = [*whole]
    for axis, size, most in moving:
        begin = int(starts[axis])
        begin = 0 if begin < 0 else min(begin, most)
        window[axis] = slice(begin, begin + size)
    return tuple(window)


EXPRESSIONS: dict[type, Specialize] = {
    Gather: _gather,
    Scatter: _scattering(combined_at(_put), _at_one_place(_set)),
    ScatterAdd: _scattering(combined_at(np.add.at), _at_one_place(_add)),
    DynamicSlice: _dynamic_slice,
    DynamicUpdateSlice: _dynamic_update_slice,
}

"""Windows at positions: how gather, scatter and dynamic slices move sets of bits.

Where the positions are known, each window is where it is; where they are not, it may be anywhere
along the axes that it does not cover whole. Read next: ``patterns/colouring.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.primitives._aval import Aval, Shape
from tenferro.primitives.indexing import DynamicSlice, DynamicUpdateSlice, Gather, Scatter
from tenferro.transforms.patterns.pattern_moves import (
    Bits,
    Operands,
    along,
    joined,
    only,
    places,
    repeated,
    spread,
    strides_of,
    summed,
)

Numbers = Sequence[Sequence[int] | None]  # per operand its integers, where they are known


def gather(
    op: Gather, operands: Operands, avals: Sequence[Aval], result: Aval, numbers: Numbers
) -> Bits:
    """Return the bits of the gathered windows."""
    shape, bits = avals[0].shape, only(operands)
    starts = starts_of(numbers[1], op.start_index_map, op.slice_sizes, shape, op.mode)
    if starts is None:
        return _gather_anywhere(op, bits, shape, result)
    window = places(along(op.slice_sizes, strides_of(shape)))
    nothing = [0] * len(window)
    flat: Bits = []
    for start in starts:
        flat += nothing if start is None else [bits[start + step] for step in window]
    batch = avals[1].shape[:-1]
    kept = [n for axis, n in enumerate(op.slice_sizes) if axis not in op.collapsed_slice_dims]
    strides = strides_of((*batch, *kept))
    batch_strides, window_strides = iter(strides[: len(batch)]), iter(strides[len(batch) :])
    order = [next(window_strides if axis in op.offset_dims else batch_strides)
             for axis in range(result.ndim)]  # fmt: skip
    return [flat[i] for i in places(along(result.shape, order))]


def _gather_anywhere(op: Gather, bits: Bits, shape: Shape, result: Aval) -> Bits:
    """Let any element be read along an axis that is indexed or not taken whole."""
    cut = [axis for axis, n in enumerate(shape) if op.slice_sizes[axis] != n]
    blurred = {*op.start_index_map, *cut}
    everywhere = spread(bits, shape, [*blurred])
    window = [axis for axis in range(len(shape)) if axis not in op.collapsed_slice_dims]
    strides, source = [0] * result.ndim, strides_of(shape)
    for place, axis in zip(op.offset_dims, window, strict=True):
        strides[place] = 0 if axis in blurred else source[axis]
    return [everywhere[i] for i in places(along(result.shape, strides))]


def starts_of(
    vectors: Sequence[int] | None,
    mapped: Sequence[int],
    sizes: Sequence[int],
    shape: Shape,
    mode: str,
) -> list[int | None] | None:
    """Return the start of each window in the flat array, ``None`` for one that is left out.

    Return ``None`` altogether if the starts are unknown or left open by the mode.
    """
    if vectors is None or not mapped:
        return None
    strides = strides_of(shape)
    found: list[int | None] = []
    for first in range(0, len(vectors), len(mapped)):
        start: int | None = 0
        for value, axis in zip(vectors[first : first + len(mapped)], mapped, strict=True):
            room = shape[axis] - sizes[axis]
            if not 0 <= value <= room:
                if mode == "promise_in_bounds" or room < 0:
                    return None
                start = start if mode == "clip" else None
            if start is not None:
                start += min(max(value, 0), room) * strides[axis]
        found.append(start)
    return found


def scatter(
    op: Any, operands: Operands, avals: Sequence[Aval], result: Aval, numbers: Numbers
) -> Bits:
    """Return the bits of the operand with windows added or written into it."""
    x, _, updates = operands
    found = [0] * result.size if x is None else [*x]
    of = avals[2].shape
    targets = targets_of(op, avals, numbers[1])
    if targets is None:
        return found if updates is None else _scatter_anywhere(op, found, updates, result.shape, of)
    replaces = type(op) is Scatter
    done: set[int] = set()
    for source, place in enumerate(targets):
        if place < 0:
            continue
        update = 0 if updates is None else updates[source]
        found[place] = update if replaces and place not in done else found[place] | update
        done.add(place)
    return found


def targets_of(op: Any, avals: Sequence[Aval], known: Sequence[int] | None) -> list[int] | None:
    """Return where each element of the updates goes, -1 for one that is left out; ``None`` if the
    positions are unknown.
    """
    shape, of = avals[0].shape, avals[2].shape
    window = [axis for axis in range(len(shape)) if axis not in op.inserted_window_dims]
    sizes = [1] * len(shape)
    for axis, place in zip(window, op.update_window_dims, strict=True):
        sizes[axis] = of[place]
    starts = starts_of(known, op.scatter_dims_to_operand_dims, sizes, shape, op.mode)
    if starts is None:
        return None
    steps, strides = places(along(sizes, strides_of(shape))), strides_of(of)
    inside = op.update_window_dims
    batch = [axis for axis in range(len(of)) if axis not in inside]
    sources = places(along([of[a] for a in inside], [strides[a] for a in inside]))
    firsts = places(along([of[a] for a in batch], [strides[a] for a in batch]))
    targets = [-1] * avals[2].size
    for start, first in zip(starts, firsts, strict=True):
        if start is None:
            continue
        for step, source in zip(steps, sources, strict=True):
            targets[first + source] = start + step
    return targets


def _scatter_anywhere(op: Any, found: Bits, updates: Bits, shape: Shape, of: Shape) -> Bits:
    """Let an update be anywhere along an axis that is indexed or not covered."""
    window = [axis for axis in range(len(shape)) if axis not in op.inserted_window_dims]
    whole = [  # (axis of the result, axis of the updates) that keep their elements separate
        (axis, place)
        for axis, place in zip(window, op.update_window_dims, strict=True)
        if axis not in op.scatter_dims_to_operand_dims and of[place] == shape[axis]
    ]
    lines = summed(updates, of, [place for _, place in whole])
    return joined(found, repeated(lines, shape, [axis for axis, _ in whole]))


def dynamic_slice(
    op: DynamicSlice, operands: Operands, avals: Sequence[Aval], result: Aval, numbers: Numbers
) -> Bits:
    """Return the bits of one window, moved so that it fits."""
    shape, bits = avals[0].shape, only(operands)
    window = places(along(result.shape, strides_of(shape)))
    start = start_of(numbers[1:], result.shape, shape)
    if start is None:
        blurred = [axis for axis, n in enumerate(shape) if result.shape[axis] != n]
        return [spread(bits, shape, blurred)[i] for i in window]
    return [bits[start + step] for step in window]


def start_of(numbers: Numbers, sizes: Shape, shape: Shape) -> int | None:
    """Return the start of a dynamic slice in the flat array; an axis taken whole starts at 0."""
    start = 0
    for given, size, n, stride in zip(numbers, sizes, shape, strides_of(shape), strict=True):
        if size == n:
            continue
        if given is None:
            return None
        start += min(max(given[0], 0), n - size) * stride
    return start


def dynamic_update_slice(
    op: DynamicUpdateSlice,
    operands: Operands,
    avals: Sequence[Aval],
    result: Aval,
    numbers: Numbers,
) -> Bits:
    """Return the bits of the operand with one window replaced."""
    x, update = operands[:2]
    found = [0] * result.size if x is None else [*x]
    shape, of = result.shape, avals[1].shape
    start = start_of(numbers[2:], of, shape)
    if start is not None:
        for i, step in enumerate(places(along(of, strides_of(shape)))):
            found[start + step] = 0 if update is None else update[i]
        return found
    if update is None:
        return found
    whole = [axis for axis, n in enumerate(shape) if of[axis] == n]
    return joined(found, repeated(summed(update, of, whole), shape, whole))

"""Indexing on XLA: gather scatter scatter_add dynamic_slice dynamic_update_slice.

Modes mean what the primitives say: ``fill`` reads 0 (``lax.gather`` alone would give nan or the
smallest integer), ``drop`` leaves out windows that are not wholly inside. Starts are clamped as
they are: ``lax.dynamic_slice`` alone would count negative ones from the end.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
from jax import Array, lax

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.indexing import (
    DynamicSlice,
    DynamicUpdateSlice,
    Gather,
    IndexedUpdate,
    Scatter,
    ScatterAdd,
)
from tenferro_xla._mesh import mesh_in_force, whole

lowerings = Lowerings()
MODES = {
    "promise_in_bounds": lax.GatherScatterMode.PROMISE_IN_BOUNDS,
    "clip": lax.GatherScatterMode.CLIP,
    "fill": lax.GatherScatterMode.FILL_OR_DROP,
    "drop": lax.GatherScatterMode.FILL_OR_DROP,
}


@lowerings.register(Gather)
def gather(op: Gather, x: Array, indices: Array) -> Array:
    """Read slices at positions."""
    dimensions = lax.GatherDimensionNumbers(
        offset_dims=op.offset_dims,
        collapsed_slice_dims=op.collapsed_slice_dims,
        start_index_map=op.start_index_map,
    )
    if op.start_index_map != op.collapsed_slice_dims or len(op.start_index_map) > 1:
        indices = whole(indices)  # see `together`

    def read(x: Array) -> Array:
        mode = MODES[op.mode]
        return lax.gather(x, indices, dimensions, op.slice_sizes, mode=mode, fill_value=0)

    return read(x) if mesh_in_force() is None else _by_bits(read, x)


def _by_bits(read: Callable[[Array], Array], x: Array) -> Array:
    """Read the bits of floats as integers, so that devices of a mesh keep the sign of -0.0.

    Each device has 0 for the entries of others, and all add what they have: 0.0 + -0.0 is 0.0.
    """
    if x.dtype.kind == "c":
        return lax.complex(_by_bits(read, lax.real(x)), _by_bits(read, lax.imag(x)))
    if x.dtype.kind in "biu":
        return read(x)
    bits = lax.bitcast_convert_type(x, {2: np.uint16, 4: np.uint32, 8: np.uint64}[x.dtype.itemsize])
    return lax.bitcast_convert_type(read(bits), x.dtype)


@lowerings.register(ScatterAdd)
def scatter_add(op: ScatterAdd, x: Array, indices: Array, updates: Array) -> Array:
    """Add windows at positions; what falls on one place accumulates."""
    x, indices, updates = together(op, x, indices, updates)
    return lax.scatter_add(x, indices, updates, dimensions_of(op), mode=MODES[op.mode])


def together(
    op: IndexedUpdate, x: Array, indices: Array, updates: Array
) -> tuple[Array, Array, Array]:
    """Return the operands of a scatter so that XLA's partitioner (jax 0.10.2) divides it rightly.

    It gives wrong numbers for windows in dimensions that are indexed and split, and refuses
    positions in several dimensions where these are split. Updates of whole rows stay as they are.
    """
    indexed, inserted = op.scatter_dims_to_operand_dims, op.inserted_window_dims
    if set(indexed) - set(inserted):
        return whole(x), whole(indices), whole(updates)
    if len(indexed) > 1:
        return x, whole(indices), whole(updates)
    return x, indices, updates


def dimensions_of(op: IndexedUpdate) -> lax.ScatterDimensionNumbers:
    """Return the parameters of a scatter in jax's form."""
    return lax.ScatterDimensionNumbers(
        update_window_dims=op.update_window_dims,
        inserted_window_dims=op.inserted_window_dims,
        scatter_dims_to_operand_dims=op.scatter_dims_to_operand_dims,
    )


@lowerings.register(Scatter)
def scatter(op: Scatter, x: Array, indices: Array, updates: Array) -> Array:
    """Put windows at positions; of several updates of one place the last remains.

    XLA leaves open which one does. So the elements of the updates are numbered in their order, each
    place finds its largest number, which no order of evaluation changes, and reads that element.
    """
    x, indices, updates = together(op, x, indices, updates)
    mode, size = MODES[op.mode], updates.size
    if prod(indices.shape[:-1]) == 1:
        return lax.scatter(x, indices, updates, dimensions_of(op), mode=mode)
    if size == 0 or x.size == 0:
        return x
    batch = [d for d in range(updates.ndim) if d not in op.update_window_dims]
    order = (*batch, *op.update_window_dims)
    shape = tuple(updates.shape[d] for d in order)
    counted = lax.iota(np.int64 if size >= 2**31 else np.int32, size)
    counted = lax.add(counted, lax.full_like(counted, 1))
    numbers = lax.transpose(lax.reshape(counted, shape), np.argsort(order))
    none = lax.full(x.shape, 0, numbers.dtype)
    last = lax.scatter_max(none, indices, numbers, dimensions_of(op), mode=mode)
    # read from parts, -0 would become 0: devices add what they have, and 0 for what they lack
    flat = whole(lax.reshape(lax.transpose(updates, order), (size,)))
    found = lax.reshape(_elements(flat, lax.reshape(last, (x.size, 1))), x.shape)
    return lax.select(lax.gt(last, none), found, x)


def _elements(flat: Array, numbers: Array) -> Array:
    """Return the elements of a vector by their numbers from 1; the first for 0."""
    dimensions = lax.GatherDimensionNumbers(
        offset_dims=(), collapsed_slice_dims=(0,), start_index_map=(0,)
    )
    where = lax.sub(numbers, lax.full_like(numbers, 1))
    return lax.gather(flat, where, dimensions, (1,), mode=MODES["clip"])


@lowerings.register(DynamicSlice)
def dynamic_slice(op: DynamicSlice, x: Array, *starts: Array) -> Array:
    """Read one window; its starts are clamped so that it lies inside."""
    return lax.dynamic_slice(x, starts, op.sizes, allow_negative_indices=False)


@lowerings.register(DynamicUpdateSlice)
def dynamic_update_slice(op: DynamicUpdateSlice, x: Array, update: Array, *starts: Array) -> Array:
    """Overwrite one window; its starts are clamped so that it lies inside."""
    return lax.dynamic_update_slice(x, update, starts, allow_negative_indices=False)

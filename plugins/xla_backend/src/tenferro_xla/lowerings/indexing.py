"""Indexing on XLA: gather scatter_add dynamic_slice dynamic_update_slice.

Modes mean what the primitives say: ``fill`` reads 0 (``lax.gather`` alone would give nan or the
smallest integer), ``drop`` leaves out windows that are not wholly inside. Starts are clamped as
they are: ``lax.dynamic_slice`` alone would count negative ones from the end.
"""

from __future__ import annotations

from jax import Array, lax

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.indexing import DynamicSlice, DynamicUpdateSlice, Gather, ScatterAdd

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
    return lax.gather(x, indices, dimensions, op.slice_sizes, mode=MODES[op.mode], fill_value=0)


@lowerings.register(ScatterAdd)
def scatter_add(op: ScatterAdd, x: Array, indices: Array, updates: Array) -> Array:
    """Add windows at positions; what falls on one place accumulates."""
    dimensions = lax.ScatterDimensionNumbers(
        update_window_dims=op.update_window_dims,
        inserted_window_dims=op.inserted_window_dims,
        scatter_dims_to_operand_dims=op.scatter_dims_to_operand_dims,
    )
    return lax.scatter_add(x, indices, updates, dimensions, mode=MODES[op.mode])


@lowerings.register(DynamicSlice)
def dynamic_slice(op: DynamicSlice, x: Array, *starts: Array) -> Array:
    """Read one window; its starts are clamped so that it lies inside."""
    return lax.dynamic_slice(x, starts, op.sizes, allow_negative_indices=False)


@lowerings.register(DynamicUpdateSlice)
def dynamic_update_slice(op: DynamicUpdateSlice, x: Array, update: Array, *starts: Array) -> Array:
    """Overwrite one window; its starts are clamped so that it lies inside."""
    return lax.dynamic_update_slice(x, update, starts, allow_negative_indices=False)

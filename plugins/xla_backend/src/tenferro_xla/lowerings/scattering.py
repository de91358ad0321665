"""Scatters on XLA that multiply or compare: scatter_mul scatter_max scatter_min.

Read next: ``sorting.py``.
"""

from __future__ import annotations

from jax import Array, lax

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.scattering import ScatterMax, ScatterMin, ScatterMul
from tenferro_xla.lowerings.indexing import MODES, dimensions_of, together

lowerings = Lowerings()


@lowerings.register(ScatterMul)
def scatter_mul(op: ScatterMul, x: Array, indices: Array, updates: Array) -> Array:
    """Multiply by windows at positions."""
    x, indices, updates = together(op, x, indices, updates)
    return lax.scatter_mul(x, indices, updates, dimensions_of(op), mode=MODES[op.mode])


@lowerings.register(ScatterMax)
def scatter_max(op: ScatterMax, x: Array, indices: Array, updates: Array) -> Array:
    """Raise to windows at positions; nan wins."""
    x, indices, updates = together(op, x, indices, updates)
    return lax.scatter_max(x, indices, updates, dimensions_of(op), mode=MODES[op.mode])


@lowerings.register(ScatterMin)
def scatter_min(op: ScatterMin, x: Array, indices: Array, updates: Array) -> Array:
    """Lower to windows at positions; nan wins."""
    x, indices, updates = together(op, x, indices, updates)
    return lax.scatter_min(x, indices, updates, dimensions_of(op), mode=MODES[op.mode])

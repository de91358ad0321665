"""Constants on XLA: constant iota. Both are made inside the program and never transferred."""

from __future__ import annotations

import numpy as np
from jax import Array, lax

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.constants import Constant, Iota

lowerings = Lowerings()


@lowerings.register(Constant)
def constant(op: Constant) -> Array:
    """Fill an array with one scalar."""
    return lax.full(op.shape, op.value, np.dtype(op.dtype.name))


@lowerings.register(Iota)
def iota(op: Iota) -> Array:
    """Count along a dimension."""
    return lax.broadcasted_iota(np.dtype(op.dtype.name), op.shape, op.dimension)

"""Constants on XLA: constant iota table.

They are made inside the program and never transferred, but for large tables (`_literals.py`).
"""

from __future__ import annotations

import numpy as np
from jax import Array, lax
from jax import numpy as jnp

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.constants import Constant, Iota, Table

lowerings = Lowerings()


@lowerings.register(Constant)
def constant(op: Constant) -> Array:
    """Fill an array with one scalar."""
    return lax.full(op.shape, op.value, np.dtype(op.dtype.name))


@lowerings.register(Iota)
def iota(op: Iota) -> Array:
    """Count along a dimension."""
    return lax.broadcasted_iota(np.dtype(op.dtype.name), op.shape, op.dimension)


@lowerings.register(Table)
def table(op: Table) -> Array:
    """Write out integers."""
    exact = np.uint64 if max(op.values, default=0) >= 1 << 63 else np.int64
    written = np.asarray(op.values, dtype=exact).astype(np.dtype(op.dtype.name))
    return jnp.asarray(written.reshape(op.shape))

"""QR decompositions on XLA: `jax.lax.linalg.qr`.

Read next: `svd.py`.
"""

from __future__ import annotations

from jax import Array, lax
from jax import numpy as jnp

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.linalg.qr import canonical_factors
from tenferro.primitives.linalg.qr import Qr

lowerings = Lowerings()


@lowerings.register(Qr)
def qr(op: Qr, a: Array) -> tuple[Array, Array]:
    """Decompose into orthonormal columns and an upper triangle."""
    q, r = lax.linalg.qr(a, full_matrices=op.full)
    return canonical_factors(jnp, q, r) if op.canonical else (q, r)

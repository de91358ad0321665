"""Singular value decompositions on XLA: `jax.lax.linalg.svd`.

Where LAPACK does not converge, the results are nan. Read next: `qr.py`.
"""

from __future__ import annotations

from jax import Array, lax
from jax import numpy as jnp

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.linalg.svd import canonical_pairs
from tenferro.primitives.linalg.svd import Svd, Svdvals

lowerings = Lowerings()


@lowerings.register(Svd)
def svd(op: Svd, a: Array) -> tuple[Array, Array, Array]:
    """Decompose by singular values."""
    u, s, vh = lax.linalg.svd(a, full_matrices=op.full)
    return canonical_pairs(jnp, u, s, vh) if op.gauge == "canonical" else (u, s, vh)


@lowerings.register(Svdvals)
def svdvals(op: Svdvals, a: Array) -> Array:
    """Find singular values."""
    found: Array = lax.linalg.svd(a, compute_uv=False)
    return found

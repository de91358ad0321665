"""Cholesky factors on XLA. What has none gives nan: XLA cannot refuse data.

Read next: `../indexing.py`.
"""

from __future__ import annotations

from jax import Array, lax

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.linalg.cholesky import Cholesky

lowerings = Lowerings()


@lowerings.register(Cholesky)
def cholesky(op: Cholesky, a: Array) -> Array:
    """Factorize, reading the lower triangle."""
    return lax.linalg.cholesky(a, symmetrize_input=False)

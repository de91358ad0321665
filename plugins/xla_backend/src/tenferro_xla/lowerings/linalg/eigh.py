"""Hermitian eigenproblems on XLA: `jax.lax.linalg.eigh` of the lower triangle.

Where LAPACK does not converge, the results are nan. Read next: `eig.py`.
"""

from __future__ import annotations

from jax import Array, lax
from jax import numpy as jnp

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.linalg.eigh import canonical_columns
from tenferro.primitives.linalg.eigh import Eigh, Eigvalsh

lowerings = Lowerings()


@lowerings.register(Eigh)
def eigh(op: Eigh, a: Array) -> tuple[Array, Array]:
    """Find eigenvalues, increasing, and vectors."""
    v, w = lax.linalg.eigh(a, symmetrize_input=False)
    return w, canonical_columns(jnp, v) if op.gauge == "canonical" else v


@lowerings.register(Eigvalsh)
def eigvalsh(op: Eigvalsh, a: Array) -> Array:
    """Find eigenvalues, increasing."""
    return lax.linalg.eigh(a, symmetrize_input=False)[1]

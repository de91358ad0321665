"""Eigenproblems of general matrices on XLA: `jax.lax.linalg.eig`, by LAPACK on the host's side.

Where LAPACK does not converge, the results are nan. Read next: `matrix_function.py`.
"""

from __future__ import annotations

from jax import Array, lax
from jax import numpy as jnp

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.linalg.eigh import canonical_columns
from tenferro.primitives.linalg.eig import Eig, Eigvals

lowerings = Lowerings()


@lowerings.register(Eig)
def eig(op: Eig, a: Array) -> tuple[Array, Array]:
    """Find eigenvalues and vectors of length 1."""
    w, v = lax.linalg.eig(a, compute_left_eigenvectors=False)
    return w, canonical_columns(jnp, v) if op.gauge == "canonical" else v


@lowerings.register(Eigvals)
def eigvals(op: Eigvals, a: Array) -> Array:
    """Find eigenvalues."""
    (w,) = lax.linalg.eig(a, compute_left_eigenvectors=False, compute_right_eigenvectors=False)
    return w

"""Schur forms on XLA: LAPACK's on the CPU, orthonormal eigenvectors elsewhere.

Where LAPACK does not converge, the results are nan. Sylvester's equation for triangles is a loop of
triangular systems, its decomposition. Read next: `svd.py`.
"""

from __future__ import annotations

from functools import partial

from jax import Array, lax
from jax import numpy as jnp

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.linalg.schur import Schur

lowerings = Lowerings()


@lowerings.register(Schur)
def schur(op: Schur, a: Array) -> tuple[Array, Array]:
    """Find an upper triangle and a unitary matrix; real ones with blocks of two rows."""
    matrix = a if op.real else lax.convert_element_type(a, jnp.result_type(a, jnp.complex64))
    if not a.size:
        return matrix, matrix
    elsewhere = partial(_by_eigenvectors, op.real)
    t, z = lax.platform_dependent(matrix, cpu=_by_lapack, default=elsewhere)
    return t, z


def _by_lapack(a: Array) -> tuple[Array, Array]:
    t, z = lax.linalg.schur(a)
    return t, z


def _by_eigenvectors(real: bool, a: Array) -> tuple[Array, Array]:
    w, v = lax.linalg.eig(a, compute_left_eigenvectors=False)
    if not real:
        z = lax.linalg.qr(v, full_matrices=False)[0]
        return jnp.triu(jnp.conj(jnp.matrix_transpose(z)) @ a @ z), z
    is_second = jnp.imag(w) < 0  # of a pair of conjugate values, which are neighbours
    z = lax.linalg.qr(jnp.where(is_second[..., None, :], v.imag, v.real), full_matrices=False)[0]
    t = jnp.matrix_transpose(z) @ a @ z
    starts = jnp.concatenate([is_second[..., 1:], jnp.zeros_like(is_second[..., :1])], -1)
    place = jnp.arange(a.shape[-1])
    in_block = (place[:, None] == place + 1) & starts[..., None, :]
    return jnp.triu(t) + jnp.where(in_block, t, jnp.zeros_like(t)), z

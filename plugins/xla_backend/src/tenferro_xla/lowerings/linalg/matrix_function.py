"""exp, sqrt and log of matrices on XLA: the shared algorithms, in loops of `jax.lax`.

They need products and inverses alone, so they run on every device and keep real matrices real.
Read next: `../indexing.py`.
"""

from __future__ import annotations

from jax import Array, lax
from jax import numpy as jnp

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.linalg.matrix_function import derived
from tenferro.primitives.linalg.matrix_function import MatrixFunction

lowerings = Lowerings()


@lowerings.register(MatrixFunction)
def matrix_function(op: MatrixFunction, a: Array, *directions: Array) -> Array:
    """Take a function of a matrix, or its derivative along directions."""
    found: Array = derived(jnp, lax.while_loop, op, a, directions)
    return found

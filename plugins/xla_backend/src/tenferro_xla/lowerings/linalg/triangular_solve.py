"""Triangular systems on XLA. A zero on the diagonal gives inf or nan: XLA cannot refuse data.

Read next: `lu.py`.
"""

from __future__ import annotations

from jax import Array, lax

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.linalg.triangular_solve import TriangularSolve

lowerings = Lowerings()


@lowerings.register(TriangularSolve)
def triangular_solve(op: TriangularSolve, a: Array, b: Array) -> Array:
    """Solve from the left or the right, with the matrix, its transpose or its conjugates."""
    return lax.linalg.triangular_solve(
        a,
        b,
        left_side=op.left,
        lower=op.lower,
        transpose_a=op.transposed,
        conjugate_a=op.conjugated,
        unit_diagonal=op.unit_diagonal,
    )

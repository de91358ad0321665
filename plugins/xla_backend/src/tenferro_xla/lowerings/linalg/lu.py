"""LU on XLA; systems are solved by the decomposition, two triangular ones.

Read next: `cholesky.py`.
"""

from __future__ import annotations

from jax import Array, lax

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.linalg.lu import Lu, LuPermutation

lowerings = Lowerings()


@lowerings.register(Lu)
def lu(op: Lu, a: Array) -> tuple[Array, Array, Array]:
    """Factorize; both triangles in one matrix."""
    factors, pivots, permutation = lax.linalg.lu(a)
    return factors, pivots, permutation


@lowerings.register(LuPermutation)
def lu_permutation(op: LuPermutation, pivots: Array) -> Array:
    """Do the exchanges of rows one after the other."""
    narrow = lax.convert_element_type(pivots, "int32")
    return lax.linalg.lu_pivots_to_permutation(narrow, op.size)

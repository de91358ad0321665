"""Cholesky factors on XLA. What has none gives nan: XLA cannot refuse data.

The cotangent of a diagonal is a product of the inverse factor with its transpose. On the CPU both
are made by blocks, so that no block is computed which is known to be zero or is the mirror image of
another: value and gradient of a Gaussian process of 500 points take 5 ms, and 11 by two triangular
systems (jax 0.10.2). Read next: `../indexing.py`.
"""

from __future__ import annotations

from math import ceil

from jax import Array, lax
from jax import numpy as jnp

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.linalg.cholesky import Cholesky, CholeskyDiagonalCotangent
from tenferro_xla._mesh import mesh_in_force
from tenferro_xla._platform import is_for_cpu

lowerings = Lowerings()
#: Most rows of a block up to as many blocks; each block adds to the time to compile.
_ROWS, _MAX_BLOCKS = 256, 8


@lowerings.register(Cholesky)
def cholesky(op: Cholesky, a: Array) -> Array:
    """Factorize, reading the lower triangle."""
    return lax.linalg.cholesky(a, symmetrize_input=False)


@lowerings.register(CholeskyDiagonalCotangent)
def cholesky_diagonal_cotangent(op: CholeskyDiagonalCotangent, factor: Array, x: Array) -> Array:
    """Multiply L⁻ᵀ by diag(x L_ii) L⁻¹; Φ keeps the lower triangle and half of the diagonal."""
    size = len(x)
    rows = _rows_of_blocks(size) if is_for_cpu() and not mesh_in_force() else size
    weights = x * lax.slice(lax.reshape(factor, (size * size,)), (0,), (size * size,), (size + 1,))
    product = _lower_product(_inverse(factor, rows), weights, rows)
    row, column = [lax.broadcasted_iota("int32", (size, size), axis) for axis in (0, 1)]
    diagonal = lax.select(row == column, product / 2, lax.full_like(product, 0))
    return lax.select(row > column, product, diagonal)


def _rows_of_blocks(size: int) -> int:
    """Return the rows of blocks of nearly equal size, whose programs and memory XLA shares."""
    count = min(ceil(size / _ROWS), _MAX_BLOCKS)
    return ceil(size / count)


def _inverse(factor: Array, rows: int) -> Array:
    """Return the inverse of a lower triangle by halves, down to a number of rows."""
    size = len(factor)
    if size <= rows:
        identity = jnp.eye(size, dtype=factor.dtype)
        return lax.linalg.triangular_solve(factor, identity, left_side=True, lower=True)
    half = size // 2
    first, last = _inverse(factor[:half, :half], rows), _inverse(factor[half:, half:], rows)
    below = -_matmul(last, _matmul(factor[half:, :half], first))
    above = lax.full((half, size - half), 0, factor.dtype)
    top = lax.concatenate([first, above], 1)
    return lax.concatenate([top, lax.concatenate([below, last], 1)], 0)


def _lower_product(lower: Array, weights: Array, rows: int) -> Array:
    """Return Wᵀ diag(weights) W of a lower triangle W; blocks above the diagonal are zero."""
    size = len(lower)
    left: Array = lax.transpose(lower * weights[:, None], (1, 0))
    if size > rows:  # a product reads rows faster, see ``../contraction.py``
        left = lax.optimization_barrier(left)  # type: ignore[no-untyped-call]
    blocks = []
    for start in range(0, size, rows):
        stop = min(start + rows, size)
        block = _matmul(left[start:stop, start:], lower[start:, :stop])
        above = lax.full((stop - start, size - stop), 0, lower.dtype)
        blocks.append(lax.concatenate([block, above], 1))
    return lax.concatenate(blocks, 0)


def _matmul(x: Array, y: Array) -> Array:
    return lax.dot(x, y, precision=lax.Precision.HIGHEST)

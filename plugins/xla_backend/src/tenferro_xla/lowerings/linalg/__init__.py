"""Linear algebra on XLA, one module per factorization: those of `jax.lax.linalg`.

Read next: `triangular_solve.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro_xla.lowerings.linalg import (
    cholesky,
    eig,
    eigh,
    lu,
    matrix_function,
    pivoted_qr,
    qr,
    schur,
    svd,
    triangular_solve,
)

_FACTORIZATIONS: tuple[Any, ...] = (
    triangular_solve,
    lu,
    cholesky,
    eig,
    eigh,
    matrix_function,
    pivoted_qr,
    qr,
    schur,
    svd,
)

lowerings = Lowerings([record for each in _FACTORIZATIONS for record in each.lowerings])

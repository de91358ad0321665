"""Linear algebra on NumPy: what `numpy.linalg` lacks, or says less well than LAPACK through SciPy.

SciPy is imported when a function of it first runs. Read next: `triangular_solve.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro_numpy.lowerings.linalg import (
    banded,
    cholesky,
    determinant,
    eig,
    eigh,
    gauge_check,
    lu,
    matrix_function,
    pivoted_qr,
    schur,
    sparse,
    svd,
    system_factors,
    triangular_solve,
)

__all__ = ["register"]

_FACTORIZATIONS: tuple[Any, ...] = (
    banded, cholesky, determinant, eig, eigh, gauge_check, lu, matrix_function, pivoted_qr,
    schur, sparse, svd, system_factors, triangular_solve,
)  # fmt: skip


def register(lowerings: Lowerings) -> None:
    """Register what replaces or completes the shared lowerings."""
    for factorization in _FACTORIZATIONS:
        factorization.register(lowerings)

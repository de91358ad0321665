"""Cholesky factors on CuPy: nan where a matrix is not positive definite, as on XLA.

`cupy.linalg.cholesky` gives a part of the factor then, without a word. Read next:
`triangular_solve.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.linalg.cholesky import Cholesky
from tenferro_cupy.lowerings.linalg._solver import cholesky_in_place

__all__ = ["register"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register cholesky."""

    @lowerings.register(Cholesky)
    def cholesky(op: Cholesky, a: Any) -> Any:
        if not a.size:
            return xp.empty(a.shape, a.dtype)
        rows = a.copy()
        status = cholesky_in_place(xp, rows)
        is_definite = xp.equal(status, 0)[..., None, None]
        return xp.where(is_definite, xp.tril(rows), float("nan"))

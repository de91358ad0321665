"""LU on NumPy, and systems solved by it: `getrf` and `trsm`, matrix by matrix.

Read next: `cholesky.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.linalg.linear_solve import LinearSolve
from tenferro.primitives.linalg.lu import Lu
from tenferro_numpy.lowerings.linalg._lapack import lapack, over_batch, triangular
from tenferro_numpy.lowerings.linalg.triangular_solve import refuse_zeros

__all__ = ["register"]


def register(lowerings: Lowerings) -> None:
    """Register what `numpy.linalg` lacks."""

    @lowerings.register(Lu)
    def lu(op: Lu, a: Any) -> tuple[Any, Any, Any]:
        if a.size:
            return over_batch(_factors, a)  # type: ignore[no-any-return]
        *lead, m, n = a.shape
        order = np.broadcast_to(np.arange(m, dtype="int32"), (*lead, m))
        return np.empty_like(a), np.zeros((*lead, min(m, n)), "int32"), order

    @lowerings.register(LinearSolve)
    def linear_solve(op: LinearSolve, a: Any, factors: Any, permutation: Any, b: Any) -> Any:
        if not b.size:
            return np.empty_like(b)
        refuse_zeros(op.key, factors)
        solve = _solve_adjoint if op.adjoint else _solve
        return over_batch(solve, factors, permutation[..., None], b)


def _factors(a: Any) -> tuple[Any, Any, Any]:
    factors, pivots, _ = lapack("getrf", a)(np.array(a, order="F"), overwrite_a=True)
    order = list(range(a.shape[0]))
    for i, j in enumerate(pivots.tolist()):
        order[i], order[j] = order[j], order[i]
    return factors, pivots.astype("int32", copy=False), np.array(order, "int32")


def _solve(factors: Any, permutation: Any, b: Any) -> Any:
    """L U x = b[permutation]."""
    below = triangular(factors, b[permutation[:, 0]], unit_diagonal=True, overwrite=True)
    return triangular(factors, below, lower=False, overwrite=True)


def _solve_adjoint(factors: Any, permutation: Any, b: Any) -> Any:
    """Uᴴ Lᴴ y = b,  x[permutation] = y."""
    hermitian = {"transposed": True, "conjugated": factors.dtype.kind == "c"}
    above = triangular(factors, b, lower=False, **hermitian)
    y = triangular(factors, above, unit_diagonal=True, **hermitian, overwrite=True)
    x = np.empty_like(y)
    x[permutation[:, 0]] = y
    return x

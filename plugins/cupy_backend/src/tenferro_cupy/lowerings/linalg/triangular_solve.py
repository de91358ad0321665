"""Triangular systems on CuPy: stacks of them are one call of cuBLAS.

Data are not looked at: a zero on a diagonal gives inf or nan, as on XLA.
Read next: `eig.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.linalg.triangular_solve import TriangularSolve

__all__ = ["register"]


def register(lowerings: Lowerings, xp: Any, linalg: Any = None) -> None:
    """Register triangular_solve; `linalg` stands in for `cupyx.scipy.linalg`."""

    @lowerings.register(TriangularSolve)
    def triangular_solve(op: TriangularSolve, a: Any, b: Any) -> Any:
        if not b.size:
            return xp.empty(b.shape, b.dtype)
        return _solve(xp, linalg or _cupyx(), op, a, b)


def _solve(xp: Any, linalg: Any, op: TriangularSolve, a: Any, b: Any) -> Any:
    """Solve; from the right by the transposed system, with conjugates where CuPy has no option."""
    transposed = op.transposed == op.left
    right = b if op.left else b.swapaxes(-1, -2)
    if op.conjugated and not transposed:
        a = xp.conjugate(a)
    trans = 0 if not transposed else 2 if op.conjugated else 1
    x = linalg.solve_triangular(a, right, trans, op.lower, op.unit_diagonal)
    return x if op.left else x.swapaxes(-1, -2)


def _cupyx() -> Any:
    from cupyx.scipy import linalg  # noqa: PLC0415 - with the library only

    return linalg

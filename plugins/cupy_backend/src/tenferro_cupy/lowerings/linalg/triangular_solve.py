"""LU, triangular systems and Cholesky factors on CuPy, matrix by matrix.

`cupyx.scipy.linalg` has the first two, for stacks in its newest releases only. Data are not looked
at: a zero on a diagonal gives inf or nan, as on XLA. Read next: `../reduction.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.linalg.determinant import exchanged
from tenferro.primitives.linalg.cholesky import Cholesky
from tenferro.primitives.linalg.lu import Lu
from tenferro.primitives.linalg.triangular_solve import TriangularSolve

__all__ = ["register"]


def register(lowerings: Lowerings, xp: Any, linalg: Any = None) -> None:
    """Register what `cupy.linalg` lacks; `linalg` stands in for `cupyx.scipy.linalg`."""

    @lowerings.register(TriangularSolve)
    def triangular_solve(op: TriangularSolve, a: Any, b: Any) -> Any:
        if not b.size:
            return xp.empty_like(b)
        return _stacked(xp, a, b, lambda a, b: _solve(linalg or _cupyx(), op, a, b))

    @lowerings.register(Lu)
    def lu(op: Lu, a: Any) -> tuple[Any, Any, Any]:
        *lead, m, n = a.shape
        factors, pivots = xp.empty_like(a), xp.zeros((*lead, min(m, n)), "int32")
        if a.size:
            each = (_merged(a), _merged(factors), pivots.reshape(-1, min(m, n)))
            for matrix, found, exchanges in zip(*each, strict=True):
                found[...], exchanges[...] = (linalg or _cupyx()).lu_factor(matrix)
        return factors, pivots, exchanged(xp, pivots, m)

    @lowerings.register(Cholesky)
    def cholesky(op: Cholesky, a: Any) -> Any:
        return xp.linalg.cholesky(a) if a.size else xp.empty_like(a)


def _solve(linalg: Any, op: TriangularSolve, a: Any, b: Any) -> Any:
    """From the right, the transposed system from the left; conjugates around what has no letter."""
    transposed = op.transposed == op.left
    right = b if op.left else b.swapaxes(-1, -2)
    if op.conjugated and not transposed:
        a = a.conj()
    trans = 0 if not transposed else 2 if op.conjugated else 1
    x = linalg.solve_triangular(a, right, trans, op.lower, op.unit_diagonal)
    return x if op.left else x.swapaxes(-1, -2)


def _stacked(xp: Any, a: Any, b: Any, solve: Callable[[Any, Any], Any]) -> Any:
    if a.ndim == 2:
        return solve(a, b)
    pairs = zip(_merged(a), _merged(b), strict=True)
    return xp.stack([solve(*pair) for pair in pairs]).reshape(b.shape)


def _merged(x: Any) -> Any:
    """The matrices of a stack, one after the other."""
    return x.reshape(-1, *x.shape[-2:])


def _cupyx() -> Any:
    from cupyx.scipy import linalg  # noqa: PLC0415 - with the library only

    return linalg

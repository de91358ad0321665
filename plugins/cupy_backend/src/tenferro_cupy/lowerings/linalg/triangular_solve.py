"""LU, triangular systems and Cholesky factors on CuPy, matrix by matrix.

`cupyx.scipy.linalg` has the first two, for stacks in its newest releases only. Data are not looked
at: a zero on a diagonal gives inf or nan, as on XLA. Read next: `../reduction.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
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
            return xp.empty(b.shape, b.dtype)
        return _stacked(xp, a, b, lambda a, b: _solve(xp, linalg or _cupyx(), op, a, b))

    @lowerings.register(Lu)
    def lu(op: Lu, a: Any) -> tuple[Any, Any, Any]:
        *lead, m, n = a.shape
        factors, pivots = xp.empty(a.shape, a.dtype), xp.zeros((*lead, min(m, n)), "int32")
        for place in _places(a):
            factors[place], pivots[place] = (linalg or _cupyx()).lu_factor(a[place])
        return factors, pivots, exchanged(xp, pivots, m)

    @lowerings.register(Cholesky)
    def cholesky(op: Cholesky, a: Any) -> Any:
        return xp.linalg.cholesky(a) if a.size else xp.empty(a.shape, a.dtype)


def _solve(xp: Any, linalg: Any, op: TriangularSolve, a: Any, b: Any) -> Any:
    """Solve; from the right by the transposed system, with conjugates where CuPy has no option."""
    transposed = op.transposed == op.left
    right = b if op.left else b.T
    if op.conjugated and not transposed:
        a = xp.conjugate(a)
    trans = 0 if not transposed else 2 if op.conjugated else 1
    x = linalg.solve_triangular(a, right, trans, op.lower, op.unit_diagonal)
    return x if op.left else x.T


def _stacked(xp: Any, a: Any, b: Any, solve: Callable[[Any, Any], Any]) -> Any:
    if a.ndim == 2:
        return solve(a, b)
    found = xp.empty(b.shape, b.dtype)
    for place in _places(a):
        found[place] = solve(a[place], b[place])
    return found


def _places(x: Any) -> Iterator[tuple[int, ...]]:
    """Yield the indices of the matrices of a stack; none if they are empty."""
    return product(*map(range, x.shape[:-2])) if x.size else iter(())


def _cupyx() -> Any:
    from cupyx.scipy import linalg  # noqa: PLC0415 - with the library only

    return linalg

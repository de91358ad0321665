"""Triangular systems on NumPy: `trsm` of BLAS, matrix by matrix.

Read next: `lu.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.primitives import Aval
from tenferro.primitives.linalg.triangular_solve import TriangularSolve
from tenferro_numpy.errors import SingularMatrixError
from tenferro_numpy.ir.expression import Expression, Function, Specialize, called
from tenferro_numpy.lowerings.linalg._lapack import over_batch, refusal, triangular
from tenferro_numpy.lowerings.linalg.stacked import is_stack_of_small, stacked_triangular

__all__ = ["EXPRESSIONS", "refuse_zeros", "register", "zero_pivot"]


def register(lowerings: Lowerings) -> None:
    """Register what `numpy.linalg` lacks."""

    @lowerings.register(TriangularSolve)
    def triangular_solve(op: TriangularSolve, a: Any, b: Any) -> Any:
        if not b.size:
            return np.empty_like(b)
        if not op.unit_diagonal:
            refuse_zeros(op.key, a)
        parameters: Any = op.parameters
        if is_stack_of_small(a, b):
            return stacked_triangular(a, b, **parameters)
        return over_batch(lambda a, b: triangular(a, b, **parameters), a, b)


def _solve_one(a: Any, b: Any, *flags: bool) -> Any:
    """Solve one system that has unknowns; the last flag tells of a unit diagonal."""
    if not flags[-1]:
        refuse_zeros(TriangularSolve.key, a)
    return triangular(a, b, *flags)


def _triangular_solve(
    op: TriangularSolve, avals: tuple[Aval, ...], result: Aval, lowering: Function
) -> Expression:
    if result.ndim != 2 or not result.size:
        return called(op, 2, lowering, shares=True, foreign=True)
    given = op.left, op.lower, op.transposed, op.conjugated, op.unit_diagonal
    names = ", ".join([f"{{p{i + 1}}}" for i in range(len(given))])
    line = f"{{p0}}({{0}}, {{1}}, {names})"
    return Expression(line, (_solve_one, *given), shares=True, foreign=True)


def refuse_zeros(primitive: str, a: Any) -> None:
    """Raise SingularMatrixError if a triangular matrix has a zero on its diagonal."""
    if a.ndim == 2 and np.count_nonzero(a.diagonal()) == len(a):
        return
    diagonals = np.diagonal(a, axis1=-2, axis2=-1)
    if not diagonals.all():
        *place, row = map(int, np.argwhere(diagonals == 0)[0])
        raise zero_pivot(primitive, tuple(place), row)


def zero_pivot(primitive: str, place: tuple[int, ...], row: int) -> Exception:
    """Make the error for a triangular factor with a zero on its diagonal."""
    fact = f"is singular: its triangular factor has a zero in row {row}"
    return refusal(SingularMatrixError, primitive, fact, place)


EXPRESSIONS: dict[type, Specialize] = {TriangularSolve: _triangular_solve}

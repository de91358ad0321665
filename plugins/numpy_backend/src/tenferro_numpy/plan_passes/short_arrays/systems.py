"""Systems of one or two equations, solved on their numbers.

LU with partial pivoting as in Golub, Van Loan (2013), Matrix computations (4th ed.), §3.4, written
out. A call of LAPACK for two equations takes as long as two hundred operations.
Read next: `forms.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

__all__ = ["factors_of", "solver_of"]

Numbers = tuple[Any, ...]


def factors_of(rows: int) -> Callable[..., Numbers]:
    """Return what computes factors, pivots and permutation from the elements of a matrix."""
    return _factor_two if rows == 2 else _factor_one


def solver_of(rows: int, adjoint: bool) -> Callable[..., Any]:
    """Return what solves with factors, a permutation, and right-hand sides row by row."""
    if rows == 1:
        return _solve_one
    return _solve_two_adjoint if adjoint else _solve_two


def _factor_one(a: float) -> Numbers:
    return a, 0, 0


def _factor_two(a: float, b: float, c: float, d: float) -> Numbers:
    """L U = A, or A with its rows exchanged if the second begins with the larger number."""
    if abs(c) > abs(a):
        below = a / c
        return c, d, below, b - below * d, 1, 1, 1, 0
    below = c / a if a else c
    return a, b, below, d - below * b, 0, 1, 0, 1


def _solve_one(a: float, _: int, *y: float) -> Any:
    """A x = y, for one right-hand side a number."""
    if not a:
        _refuse((a,))
    return tuple([each / a for each in y]) if len(y) > 1 else y[0] / a


def _solve_two(
    a: float, b: float, below: float, d: float, first: int, _: int, *y: float
) -> Numbers:
    """L U x = P y."""
    if not (a and d):
        _refuse((a, b, below, d))
    if len(y) > 2:
        return _by_columns(_solve_two, (a, b, below, d, first, _), y)
    upper, lower = (y[1], y[0]) if first else y
    second = (lower - below * upper) / d
    return (upper - b * second) / a, second


def _solve_two_adjoint(
    a: float, b: float, below: float, d: float, first: int, _: int, *y: float
) -> Numbers:
    """Uᵀ Lᵀ P x = y."""
    if not (a and d):
        _refuse((a, b, below, d))
    if len(y) > 2:
        return _by_columns(_solve_two_adjoint, (a, b, below, d, first, _), y)
    upper = y[0] / a
    lower = (y[1] - b * upper) / d
    upper -= below * lower
    return (lower, upper) if first else (upper, lower)


def _by_columns(solve: Callable[..., Numbers], given: Numbers, y: Numbers) -> Numbers:
    """Solve for the columns of two rows, which lie one after the other."""
    half = len(y) // 2
    columns = [solve(*given, *pair) for pair in zip(y[:half], y[half:], strict=True)]
    return tuple([number for row in zip(*columns, strict=True) for number in row])


def _refuse(factors: Numbers) -> None:
    """Raise the error of LAPACK's callers, which loads only then."""
    rows = 1 if len(factors) == 1 else 2
    lowering = import_module("tenferro_numpy.lowerings.linalg.triangular_solve")
    lowering.refuse_zeros("std::linear_solve", np.array(factors).reshape(rows, rows))

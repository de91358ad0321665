"""LU on NumPy, and systems solved by it: `getrf`, then `getrs` or `trsm`, matrix by matrix.

`getrs` is one call where `trsm` is two, but copies factors and right-hand sides whose columns are
not contiguous.
Stacks of small matrices are factorized and solved together, by `stacked.py`. The factors decide,
not the matrix, which carries the derivative and may be another one.
Read next: `cholesky.py`.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.primitives import Aval
from tenferro.primitives.linalg.linear_solve import LinearSolve
from tenferro.primitives.linalg.lu import Lu
from tenferro_numpy.ir.expression import Expression, Function, Specialize, called
from tenferro_numpy.lowerings.linalg._lapack import lapack, over_batch, triangular
from tenferro_numpy.lowerings.linalg.stacked import (
    is_stack_of_small,
    stacked_lu,
    stacked_triangular,
)
from tenferro_numpy.lowerings.linalg.triangular_solve import refuse_zeros

__all__ = [
    "EXPRESSIONS", "factors_of", "inverse_by_lu", "is_identity", "register", "solve_one",
]  # fmt: skip

_MAX_ROWS_FOR_ONE_CALL = 32
_MAX_COLUMNS_FOR_ONE_CALL = 10  # of right-hand sides, where columns of the factors are contiguous
_WORK_COLUMNS = 64  # that `getri` works on at once


def register(lowerings: Lowerings) -> None:
    """Register what `numpy.linalg` lacks."""

    @lowerings.register(Lu)
    def lu(op: Lu, a: Any) -> tuple[Any, Any, Any]:
        if a.size:
            if is_stack_of_small(a):
                return stacked_lu(a)
            return over_batch(factors_of, a)  # type: ignore[no-any-return]
        *lead, m, n = a.shape
        order = np.broadcast_to(np.arange(m, dtype="int32"), (*lead, m))
        return np.empty_like(a), np.zeros((*lead, min(m, n)), "int32"), order

    lowerings.register(LinearSolve)(_solution)


def _solution(op: LinearSolve, a: Any, factors: Any, permutation: Any, b: Any) -> Any:
    if not b.size:
        return np.empty_like(b)
    if a.ndim == 2:
        return _solve_matrix(op.adjoint, a, factors, permutation, b)
    refuse_zeros(op.key, factors)
    if is_stack_of_small(factors, b):
        return _solve_stack(op.adjoint, factors, permutation, b)
    solve = _solve_one_adjoint if op.adjoint else _solve_one
    return over_batch(solve, factors, permutation[..., None], b)


def _solve_matrix(adjoint: bool, a: Any, factors: Any, permutation: Any, b: Any) -> Any:
    """Solve a system with one matrix, or invert the matrix if `b` is an identity matrix."""
    refuse_zeros(LinearSolve.key, factors)
    if len(factors) > _MAX_ROWS_FOR_ONE_CALL and is_identity(b):
        return inverse_by_lu(factors, permutation, adjoint=adjoint)
    return solve_one(adjoint, factors, permutation, b)


def solve_one(adjoint: bool, factors: Any, permutation: Any, b: Any) -> Any:
    """Solve with one matrix that has no zero among its pivots."""
    rows, columns = b.shape
    few = columns <= _MAX_COLUMNS_FOR_ONE_CALL and factors.flags.f_contiguous
    if few or rows <= _MAX_ROWS_FOR_ONE_CALL:
        return (_one_call_adjoint if adjoint else _one_call)(factors, permutation, b)
    return (_solve_adjoint if adjoint else _solve)(factors, permutation, b)


def _solve_one(factors: Any, permutation: Any, b: Any) -> Any:
    return solve_one(False, factors, permutation[:, 0], b)


def _solve_one_adjoint(factors: Any, permutation: Any, b: Any) -> Any:
    return solve_one(True, factors, permutation[:, 0], b)


def is_identity(b: Any) -> bool:
    """Return True for an identity matrix; another one is told by its first row."""
    if b.shape[0] != b.shape[1] or np.count_nonzero(b[0]) != 1:
        return False
    return bool(np.count_nonzero(b.diagonal() == 1) == np.count_nonzero(b) == len(b))


def inverse_by_lu(factors: Any, permutation: Any, *, adjoint: bool = False) -> Any:
    """a⁻¹ or a⁻ᴴ: a third less arithmetic than the solutions for all columns of the identity."""
    size = len(factors)
    found, _ = lapack("getri", factors)(factors, _in_place(size)[0], lwork=_WORK_COLUMNS * size)
    inverse = np.empty(factors.shape, factors.dtype, order="F")
    inverse[:, permutation] = found
    return inverse.conj().T if adjoint else inverse


def factors_of(a: Any) -> tuple[Any, Any, Any]:
    """Return the factors, pivots and permutation of one matrix."""
    factors, pivots, _ = lapack("getrf", a)(np.array(a, order="F"), True)
    if pivots.dtype != np.int32:
        pivots = pivots.astype("int32")
    return factors, pivots, _permutation(len(a), pivots.tobytes()).copy()


@lru_cache(maxsize=1024)  # pivots of a system whose entries change a little are mostly the same
def _permutation(rows: int, pivots: bytes) -> Any:
    """Return the order of rows that exchanges with pivots lead to, one after the other."""
    places = [*range(rows)]
    for i, j in enumerate(np.frombuffer(pivots, "int32").tolist()):
        places[i], places[j] = places[j], places[i]
    return np.array(places, "int32")


@cache
def _in_place(n: int) -> tuple[Any, bytes]:
    """Return the pivots, as LAPACK writes them, that exchange nothing, and their bytes."""
    pivots = np.arange(n, dtype="int32")
    return pivots, pivots.tobytes()


def _one_call(factors: Any, permutation: Any, b: Any) -> Any:
    """L U x = b[permutation], where the pivots exchange nothing more."""
    pivots, none = _in_place(len(factors))
    solve = lapack("getrs", factors)
    if permutation.tobytes() == none:
        x, _ = solve(factors, pivots, b)
    else:
        x, _ = solve(factors, pivots, b.take(permutation, 0), 0, True)
    return x if x.flags.c_contiguous else np.ascontiguousarray(x)


def _one_call_adjoint(factors: Any, permutation: Any, b: Any) -> Any:
    """(L U)ᴴ y = b,  x[permutation] = y."""
    pivots, none = _in_place(len(factors))
    y, _ = lapack("getrs", factors)(factors, pivots, b, 2)
    if permutation.tobytes() != none:
        return y.take(permutation.argsort(), 0)
    return y if y.flags.c_contiguous else np.ascontiguousarray(y)


def _solve_small(a: Any, factors: Any, permutation: Any, b: Any) -> Any:
    """Solve a system of few rows."""
    if 0 in factors.diagonal().tolist():
        refuse_zeros(LinearSolve.key, factors)
    return _one_call(factors, permutation, b)


def _solve_small_adjoint(a: Any, factors: Any, permutation: Any, b: Any) -> Any:
    """Solve the adjoint of a system of few rows."""
    if 0 in factors.diagonal().tolist():
        refuse_zeros(LinearSolve.key, factors)
    return _one_call_adjoint(factors, permutation, b)


def _solve_stack(adjoint: bool, factors: Any, permutation: Any, b: Any) -> Any:
    """Solve many small systems at once."""
    stack = b.reshape(-1, *b.shape[-2:])
    places = np.arange(len(stack))[:, None], permutation.reshape(stack.shape[:2])
    if not adjoint:
        exchanged = stack[places].reshape(b.shape)
        below = stacked_triangular(factors, exchanged, unit_diagonal=True)
        return stacked_triangular(factors, below, lower=False)
    turned = {"transposed": True, "conjugated": factors.dtype.kind == "c"}
    above = stacked_triangular(factors, b, lower=False, **turned)
    y = stacked_triangular(factors, above, unit_diagonal=True, **turned)
    x = np.empty_like(stack, order="C")
    x[places] = y.reshape(stack.shape)
    return x.reshape(b.shape)


def _solve(factors: Any, permutation: Any, b: Any) -> Any:
    """L U x = b[permutation]."""
    below = triangular(factors, b[permutation], unit_diagonal=True, overwrite=True)
    return triangular(factors, below, lower=False, overwrite=True)


def _solve_adjoint(factors: Any, permutation: Any, b: Any) -> Any:
    """Uᴴ Lᴴ y = b,  x[permutation] = y."""
    hermitian = {"transposed": True, "conjugated": factors.dtype.kind == "c"}
    above = triangular(factors, b, lower=False, **hermitian)
    y = triangular(factors, above, unit_diagonal=True, **hermitian, overwrite=True)
    x = np.empty_like(y)
    x[permutation] = y
    return x


def _lu(op: Lu, avals: tuple[Aval, ...], result: Aval, lowering: Function) -> Expression:
    (a,) = avals
    if a.ndim != 2 or not a.size:
        return called(op, 1, lowering, shares=True, foreign=True)
    return Expression("{p0}({0})", (factors_of,), shares=True, foreign=True)


def _linear_solve(
    op: LinearSolve, avals: tuple[Aval, ...], result: Aval, lowering: Function
) -> Expression:
    if not result.size or result.ndim != 2:
        return called(op, 4, lowering, shares=True, foreign=True)
    if result.shape[0] <= _MAX_ROWS_FOR_ONE_CALL:  # gives new rows that are contiguous
        solve = _solve_small_adjoint if op.adjoint else _solve_small
        return Expression("{p0}({0}, {1}, {2}, {3})", (solve,))
    line = "{p0}({p1}, {0}, {1}, {2}, {3})"
    return Expression(line, (_solve_matrix, op.adjoint), shares=True, foreign=True)


EXPRESSIONS: dict[type, Specialize] = {Lu: _lu, LinearSolve: _linear_solve}

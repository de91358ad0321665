"""Factors for linear systems on NumPy: `potrf` for what is positive definite, else `getrf`.

Cholesky's method halves the work. A matrix qualifies if it equals its adjoint to the last bit and
`potrf` succeeds; a matrix that does not is told by its diagonal and first row, in microseconds.
Stacks of small matrices stay as they are: `numpy.linalg` factorizes and solves a whole stack in one
call, which takes less time than one call of SciPy per matrix with factors that are known.
Read next: `cholesky.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.linalg.linear_solve import LinearSolve
from tenferro.primitives.linalg.system_factors import SystemFactors, SystemSlogdet, SystemSolve
from tenferro_numpy.lowerings.linalg._lapack import above, in_order, lapack, over_batch, triangular
from tenferro_numpy.lowerings.linalg.lu import factors_of, inverse_by_lu, is_identity, solve_one
from tenferro_numpy.lowerings.linalg.triangular_solve import refuse_zeros, zero_pivot

__all__ = ["register"]

_BLOCK = 64
_MAX_ROWS_OF_STACKS = 32
_CHOLESKY, _NOT_FACTORIZED = -1, -2  # in place of pivots


def register(lowerings: Lowerings) -> None:
    """Register the factors, and what is computed of them."""
    lowerings.register(SystemFactors)(_factors)
    lowerings.register(SystemSolve)(_solution)
    lowerings.register(SystemSlogdet)(_slogdet)


def _factors(op: SystemFactors, a: Any, *cholesky: Any) -> tuple[Any, Any, Any]:
    if not a.size:
        none = np.empty(a.shape[:-1], "int32")
        return np.empty_like(a), none, none.copy()
    if a.ndim > 2 and a.shape[-1] <= _MAX_ROWS_OF_STACKS:
        none = np.full(a.shape[:-1], _NOT_FACTORIZED, "int32")
        return a, none, none.copy()
    return over_batch(_factors_of_one, a, *cholesky)  # type: ignore[no-any-return]


def _factors_of_one(a: Any, *cholesky: Any) -> tuple[Any, Any, Any]:
    factor = None
    if _may_be_positive_definite(a):
        factor = cholesky[0] if cholesky else _cholesky_factor(a)
    if factor is None:
        return factors_of(a)
    none = np.full(len(a), _CHOLESKY, "int32")
    return factor, none, none.copy()


def _solution(op: SystemSolve, factors: Any, permutation: Any, b: Any) -> Any:
    if not b.size:
        return np.empty_like(b)
    if permutation.flat[0] == _NOT_FACTORIZED:
        return _solution_of_stack(factors.conj().swapaxes(-1, -2) if op.adjoint else factors, b)
    refuse_zeros(LinearSolve.key, factors)
    solve = _adjoint_solution_of_one if op.adjoint else _solution_of_one
    return over_batch(solve, factors, permutation[..., None], b)


def _solution_of_stack(a: Any, b: Any) -> Any:
    """Solve with each matrix, which is not factorized yet."""
    try:
        return np.linalg.inv(a) if _are_identities(b) else np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        raise _singular(a) from None


def _are_identities(b: Any) -> bool:
    """Return True for identity matrices; mostly they are one matrix, repeated by strides."""
    first = b[(0,) * (b.ndim - 2)]
    if not is_identity(first):
        return False
    return not any(b.strides[:-2]) or bool((b == first).all())


def _singular(a: Any) -> Exception:
    """Make the error for the first matrix with a zero among its pivots."""
    diagonals = np.abs(np.diagonal(over_batch(factors_of, a)[0], axis1=-2, axis2=-1))
    *place, row = map(int, np.unravel_index(np.argmin(diagonals), diagonals.shape))
    return zero_pivot(LinearSolve.key, tuple(place), row)


def _adjoint_solution_of_one(factors: Any, permutation: Any, b: Any) -> Any:
    return _solution_of_one(factors, permutation, b, adjoint=True)


def _solution_of_one(factors: Any, permutation: Any, b: Any, adjoint: bool = False) -> Any:
    order = permutation[:, 0]
    if order[0] >= 0:
        if is_identity(b):
            return inverse_by_lu(factors, order, adjoint=adjoint)
        return solve_one(adjoint, factors, order, b)
    if is_identity(b):
        return _inverse(factors)
    below = triangular(factors, b)
    is_complex = factors.dtype.kind == "c"
    return triangular(factors, below, transposed=True, conjugated=is_complex, overwrite=True)


def _slogdet(op: SystemSlogdet, factors: Any, pivots: Any) -> tuple[Any, Any]:
    if not pivots.size or pivots.flat[0] == _NOT_FACTORIZED:
        return tuple(np.linalg.slogdet(factors))  # matrices without rows have the determinant 1
    diagonal = np.diagonal(factors, axis1=-2, axis2=-1)
    size = np.abs(diagonal)
    is_cholesky = pivots[..., 0] == _CHOLESKY
    with np.errstate(divide="ignore"):
        logarithm = np.log(size).sum(-1) * np.where(is_cholesky, 2, 1).astype(size.dtype)
    signs = np.sign(diagonal).prod(-1)
    exchanges = np.count_nonzero(pivots != np.arange(pivots.shape[-1]), -1)
    turned = np.where(exchanges % 2, -signs, signs)
    one = np.ones_like(signs)
    sign = np.where(is_cholesky, one, np.where(signs == 0, np.zeros_like(signs), turned))
    return sign, logarithm


def _may_be_positive_definite(a: Any) -> bool:
    """Return True for a Hermitian matrix with a positive diagonal."""
    diagonal = a.diagonal()
    if diagonal.dtype.kind == "c" and diagonal.imag.any():
        return False
    if not (diagonal.real > 0).all() or not _is_adjoint(a[:1], a[:, :1]):
        return False
    return all([_is_adjoint(a[i : i + _BLOCK, i:], a[i:, i : i + _BLOCK]) for i in _starts(a)])


def _is_adjoint(x: Any, y: Any) -> bool:
    other = y.T.conj() if y.dtype.kind == "c" else y.T
    return bool((x == other).all())


def _starts(a: Any) -> range:
    return range(0, len(a), _BLOCK)


def _cholesky_factor(a: Any) -> Any:
    """Return a Cholesky factor, whose upper triangle is that of a; None if there is none."""
    matrix, turned = in_order(a)
    factor, info = lapack("potrf", a)(matrix, lower=not turned, clean=False)
    if info or not np.isfinite(factor.diagonal()).all():
        return None
    return factor.T if turned else factor


def _inverse(factor: Any) -> Any:
    """(L Lᴴ)⁻¹, in contiguous columns: determinants have its transpose as their derivative."""
    matrix, turned = in_order(factor)
    inverse, _ = lapack("potri", factor)(matrix, lower=not turned)
    lower = inverse.T if turned else np.ascontiguousarray(inverse)
    for i in _starts(lower):
        corner = lower[i : i + _BLOCK, i : i + _BLOCK]
        np.copyto(corner, corner.T.conj(), where=above(len(corner)))
        lower[i : i + _BLOCK, i + _BLOCK :] = lower[i + _BLOCK :, i : i + _BLOCK].T.conj()
    return lower.conj().T if lower.dtype.kind == "c" else lower.T

"""Schur forms on NumPy, `gees` of LAPACK, and Sylvester's equation for triangles, `trsyl`.

The equation below the diagonal, which derivatives of a Schur form need, is solved column by column.
Read next: `lu.py`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.linalg.schur import Schur
from tenferro.primitives.linalg.triangular_sylvester import TriangularSylvester
from tenferro_numpy.errors import NotConvergedError, SingularMatrixError
from tenferro_numpy.lowerings.linalg._lapack import lapack, over_batch, refusal, triangular

__all__ = ["register"]


def register(lowerings: Lowerings) -> None:
    """Register schur and triangular_sylvester."""

    @lowerings.register(Schur)
    def schur(op: Schur, a: Any) -> Any:
        matrix = a if op.real else a.astype(np.result_type(a, np.complex64))
        if not a.size:
            return matrix, matrix.copy()
        return over_batch(partial(_form, op), matrix)

    @lowerings.register(TriangularSylvester)
    def triangular_sylvester(op: TriangularSylvester, a: Any, b: Any, c: Any) -> Any:
        if not c.size:
            return c.copy()
        _refuse_common_values(op, a, b)
        return over_batch(partial(_below if op.below else _whole, op.adjoint), a, b, c)


def _form(op: Schur, a: Any) -> tuple[Any, Any]:
    from scipy.linalg import schur  # noqa: PLC0415 - slow to import

    if not np.isfinite(a).all():
        raise NotConvergedError.of(op, "a matrix has a nan or an infinity")
    try:
        t, z = schur(a, "real" if op.real else "complex", check_finite=False)
    except np.linalg.LinAlgError:
        raise NotConvergedError.of(op, "gees does not converge") from None
    return t, z


def _refuse_common_values(op: TriangularSylvester, a: Any, b: Any) -> None:
    """Raise SingularMatrixError if a_ii + b_jj = 0 for a pair that is divided by."""
    left, right = (np.diagonal(x, axis1=-2, axis2=-1) for x in (a, b))
    is_zero = left[..., :, None] + right[..., None, :] == 0
    if op.below:
        is_zero = np.tril(is_zero, -1)
    if is_zero.any():
        *place, row, column = map(int, np.argwhere(is_zero)[0])
        fact = f"is singular: diagonal entries {row} of a and {column} of b have the sum 0"
        raise refusal(SingularMatrixError, op.key, fact, tuple(place))


def _whole(adjoint: bool, a: Any, b: Any, c: Any) -> Any:
    """Solve by `trsyl`, which may scale the solution so that nothing overflows."""
    side = ("C" if c.dtype.kind == "c" else "T") if adjoint else "N"
    x, scale, _ = lapack("trsyl", c)(np.triu(a), np.triu(b), c, side, side)
    return x if scale == 1 else x / c.dtype.type(scale)


def _below(adjoint: bool, a: Any, b: Any, c: Any) -> Any:
    """Solve for what is strictly below the diagonal, a triangular system for each column."""
    n = len(c)
    x = np.zeros_like(c)
    coupling = np.triu(b, 1).conj().T if adjoint else np.triu(b, 1)
    operator = np.triu(a).conj().T if adjoint else np.triu(a)
    shifts = np.diagonal(b).conj() if adjoint else np.diagonal(b)
    for j in reversed(range(n - 1)) if adjoint else range(n - 1):
        rest = slice(j + 1, n)
        system = operator[rest, rest] + shifts[j] * np.eye(n - 1 - j, dtype=c.dtype)
        right = c[rest, j] - x[rest] @ coupling[:, j]
        x[rest, j] = triangular(system, right[:, None], lower=adjoint)[:, 0]
    return x

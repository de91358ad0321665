"""Cholesky factors on NumPy: `np.linalg`, and for one large matrix `potrf` without a transposition.

Read next: `../special.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.linalg.cholesky import Cholesky
from tenferro_numpy._errors import NotPositiveDefiniteError
from tenferro_numpy.lowerings.linalg._lapack import in_order, lapack, refusal

__all__ = ["register"]

_LARGE = 100  # rows from which the copies of `np.linalg` cost more than the call of LAPACK


def register(lowerings: Lowerings) -> None:
    """Register what `numpy.linalg` says less well."""

    @lowerings.register(Cholesky)
    def cholesky(op: Cholesky, a: Any) -> Any:
        if a.ndim == 2 and a.shape[0] >= _LARGE:
            return _large(op, a)
        try:
            return np.linalg.cholesky(a)
        except np.linalg.LinAlgError:
            raise _refusal(op, _first_without(a)) from None


def _large(op: Cholesky, a: Any) -> Any:
    """The upper factor of aᵀ, whose transpose is L, where that has contiguous columns."""
    matrix, turned = in_order(a)
    factor, info = lapack("potrf", a)(matrix, lower=not turned, clean=True)
    if info:
        raise _refusal(op, ())
    return factor.T if turned else factor


def _first_without(a: Any) -> tuple[int, ...]:
    """The place of the first matrix without a factor."""
    for place in np.ndindex(a.shape[:-2]):
        try:
            np.linalg.cholesky(a[place])
        except np.linalg.LinAlgError:
            return place
    return ()


def _refusal(op: Cholesky, place: tuple[int, ...]) -> Exception:
    return refusal(NotPositiveDefiniteError, op.key, "is not positive definite", place)

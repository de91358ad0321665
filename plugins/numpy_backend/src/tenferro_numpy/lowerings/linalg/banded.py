"""Banded systems on NumPy: `gbsv` and `gtsv` of LAPACK through SciPy, matrix by matrix.

Read next: `schur.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.linalg.banded_solve import BandedSolve
from tenferro_numpy.errors import SingularMatrixError
from tenferro_numpy.lowerings.linalg._lapack import refusal

__all__ = ["register"]


def register(lowerings: Lowerings) -> None:
    """Register banded_solve."""

    @lowerings.register(BandedSolve)
    def banded_solve(op: BandedSolve, ab: Any, b: Any) -> Any:
        x = np.empty(b.shape, b.dtype)
        if not b.size:
            return x
        for place in np.ndindex(b.shape[:-2]):
            x[place] = _solution(op, ab[place], b[place], place)
        return x


def _solution(op: BandedSolve, ab: Any, b: Any, place: tuple[int, ...]) -> Any:
    from scipy.linalg import solve_banded  # noqa: PLC0415 - slow to import

    try:
        if ab.shape[-1] == 1:  # SciPy divides by 0 here, and before 1.15 by another row of the band
            return np.linalg.solve(ab[op.above :][:1], b)
        return solve_banded((op.below, op.above), ab, b, check_finite=False)
    except np.linalg.LinAlgError:
        raise refusal(SingularMatrixError, op.key, "is singular", place) from None

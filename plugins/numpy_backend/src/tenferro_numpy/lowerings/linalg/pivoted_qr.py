"""Pivoted QR decompositions on NumPy: LAPACK's `geqp3` through SciPy, matrix by matrix.

Read next: `svd.py`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.linalg.qr import canonical_factors
from tenferro.primitives.linalg.pivoted_qr import PivotedQr
from tenferro_numpy.lowerings.linalg._lapack import over_batch

__all__ = ["register"]


def register(lowerings: Lowerings) -> None:
    """Register pivoted_qr."""

    @lowerings.register(PivotedQr)
    def pivoted_qr(op: PivotedQr, a: Any) -> Any:
        mode: Any = "complete" if op.full else "reduced"
        if not a.size:
            q, r = np.linalg.qr(a, mode)
            place = np.arange(a.shape[-1], dtype="int32")
            return q, r, np.broadcast_to(place, (*a.shape[:-2], a.shape[-1]))
        q, r, order = over_batch(partial(_factors, op.full), a)
        if op.canonical:
            q, r = canonical_factors(np, q, r)
        return q, r, order


def _factors(full: bool, a: Any) -> tuple[Any, Any, Any]:
    from scipy.linalg import qr  # noqa: PLC0415 - slow to import

    q, r, order = qr(a, mode="full" if full else "economic", pivoting=True, check_finite=False)
    return q, r, order.astype("int32", copy=False)

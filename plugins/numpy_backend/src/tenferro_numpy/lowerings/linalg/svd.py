"""Singular value decompositions on NumPy: divide and conquer, and QR iteration where that fails.

LAPACK's gesdd is several times faster than gesvd and, rarely, does not converge. Then each matrix
goes to gesvd through SciPy; what does not converge there either has a nan or an infinity in it.
Read next: `eig.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.linalg.svd import canonical_pairs
from tenferro.primitives.linalg.svd import Svd, Svdvals
from tenferro_numpy.errors import NotConvergedError

__all__ = ["decomposed", "register"]


def register(lowerings: Lowerings) -> None:
    """Register svd and svdvals."""

    @lowerings.register(Svd)
    def svd(op: Svd, a: Any) -> Any:
        u, s, vh = decomposed(op, a)
        return canonical_pairs(np, u, s, vh) if op.gauge == "canonical" else (u, s, vh)

    @lowerings.register(Svdvals)
    def svdvals(op: Svdvals, a: Any) -> Any:
        try:
            return np.linalg.svd(a, compute_uv=False)
        except np.linalg.LinAlgError:
            return _iterated(op, a, False)[1]


def decomposed(op: Svd, a: Any) -> tuple[Any, Any, Any]:
    """Return U, s and Vᴴ, in any gauge."""
    try:
        u, s, vh = np.linalg.svd(a, op.full)
    except np.linalg.LinAlgError:
        u, s, vh = _iterated(op, a, op.full)
    return u, s, vh


def _iterated(op: Svd | Svdvals, a: Any, full: bool) -> tuple[Any, Any, Any]:
    """Decompose by QR iteration, matrix by matrix."""
    if not np.isfinite(a).all():
        raise NotConvergedError.of(op, "a matrix has a nan or an infinity")
    from scipy.linalg import svd  # noqa: PLC0415 - slow to import

    try:
        found = [
            svd(x, full_matrices=full, lapack_driver="gesvd") for x in a.reshape(-1, *a.shape[-2:])
        ]
    except np.linalg.LinAlgError:
        raise NotConvergedError.of(op, "neither gesdd nor gesvd converges") from None
    u, s, vh = (np.stack(part) for part in zip(*found, strict=True))
    lead = a.shape[:-2]
    return (
        u.reshape(*lead, *u.shape[1:]),
        s.reshape(*lead, *s.shape[1:]),
        vh.reshape(*lead, *vh.shape[1:]),
    )

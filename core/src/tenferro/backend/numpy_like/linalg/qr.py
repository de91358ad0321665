"""QR decompositions for a NumPy-shaped namespace: `xp.linalg.qr`.

Read next: `svd.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.linalg.qr import Qr

__all__ = ["canonical_factors", "register"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register qr."""

    @lowerings.register(Qr)
    def qr(op: Qr, a: Any) -> Any:
        q, r = xp.linalg.qr(a, "complete" if op.full else "reduced")
        return canonical_factors(xp, q, r) if op.canonical else (q, r)


def canonical_factors(xp: Any, q: Any, r: Any) -> tuple[Any, Any]:
    """Multiply by phases so that the diagonal of R is real and at least 0."""
    diagonal = xp.diagonal(r, axis1=-2, axis2=-1)
    size = xp.abs(diagonal)
    is_zero = size == 0
    phase = xp.where(is_zero, 1, diagonal) / xp.where(is_zero, 1, size)
    beyond = xp.ones((*phase.shape[:-1], q.shape[-1] - phase.shape[-1]), phase.dtype)
    phase = xp.concatenate([phase, beyond], axis=-1)
    return q * phase[..., None, :], r * xp.conj(phase)[..., None]

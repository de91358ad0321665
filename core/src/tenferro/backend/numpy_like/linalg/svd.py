"""Singular value decompositions for a NumPy-shaped namespace: `xp.linalg.svd`.

Read next: `qr.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.linalg.svd import Svd, Svdvals

__all__ = ["canonical_pairs", "register"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register svd and svdvals."""

    @lowerings.register(Svd)
    def svd(op: Svd, a: Any) -> Any:
        u, s, vh = xp.linalg.svd(a, op.full)
        return canonical_pairs(xp, u, s, vh) if op.gauge == "canonical" else (u, s, vh)

    @lowerings.register(Svdvals)
    def svdvals(op: Svdvals, a: Any) -> Any:
        return xp.linalg.svd(a, compute_uv=False)


def canonical_pairs(xp: Any, u: Any, s: Any, vh: Any) -> tuple[Any, Any, Any]:
    """Multiply pairs of vectors by phases so that the largest entry of v is real and positive."""
    if not vh.size:
        return u, s, vh
    size = xp.abs(vh)
    place = xp.argmax(size, axis=-1)[..., None]
    phase = xp.take_along_axis(vh, place, -1) / xp.take_along_axis(size, place, -1)
    return u * phase.swapaxes(-1, -2), s, vh * xp.conj(phase)

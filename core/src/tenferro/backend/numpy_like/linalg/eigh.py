"""Hermitian eigenproblems for a NumPy-shaped namespace: `xp.linalg.eigh` of the lower triangle.

Read next: `eig.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.linalg.eigh import Eigh, Eigvalsh

__all__ = ["canonical_columns", "register"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register eigh and eigvalsh."""

    @lowerings.register(Eigh)
    def eigh(op: Eigh, a: Any) -> Any:
        w, v = xp.linalg.eigh(a)
        return w, canonical_columns(xp, v) if op.gauge == "canonical" else v

    @lowerings.register(Eigvalsh)
    def eigvalsh(op: Eigvalsh, a: Any) -> Any:
        return xp.linalg.eigvalsh(a)


def canonical_columns(xp: Any, v: Any) -> Any:
    """Multiply columns by phases so that the entry of largest modulus is real and positive."""
    if not v.size:
        return v
    size = xp.absolute(v)
    place = xp.argmax(size, axis=-2)[..., None, :]
    largest = xp.take_along_axis(v, place, -2)
    return v * (xp.conjugate(largest) / xp.take_along_axis(size, place, -2))

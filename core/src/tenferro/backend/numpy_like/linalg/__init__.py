"""Linear algebra for a NumPy-shaped namespace, one module per factorization.

What `xp.linalg` has is written once here; what only `scipy.linalg` or `cupyx` has is registered by
each backend. Read next: `qr.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.linalg import (
    determinant,
    eig,
    eigh,
    matrix_function,
    pivoted_qr,
    qr,
    svd,
)

__all__ = ["register"]

_FACTORIZATIONS: tuple[Any, ...] = (
    determinant, eig, eigh, matrix_function, pivoted_qr, qr, svd,
)  # fmt: skip


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register every factorization that `xp.linalg` has."""
    for factorization in _FACTORIZATIONS:
        factorization.register(lowerings, xp)

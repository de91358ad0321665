"""Eigenproblems of general matrices for a NumPy-shaped namespace that has `linalg.eig`.

CuPy has it from version 14 on; before, the backend registers nothing. Read next:
`matrix_function.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like._common import cast
from tenferro.backend.numpy_like.linalg.eigh import canonical_columns
from tenferro.primitives import DType
from tenferro.primitives.linalg.eig import Eig, Eigvals

__all__ = ["register"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register eig and eigvals, where the namespace has them."""
    if not hasattr(xp.linalg, "eig"):
        return

    @lowerings.register(Eig)
    def eig(op: Eig, a: Any) -> Any:
        w, v = xp.linalg.eig(a)
        w, v = complex_of(xp, w), complex_of(xp, v)
        return w, canonical_columns(xp, v) if op.gauge == "canonical" else v

    @lowerings.register(Eigvals)
    def eigvals(op: Eigvals, a: Any) -> Any:
        return complex_of(xp, xp.linalg.eigvals(a))


def complex_of(xp: Any, x: Any) -> Any:
    """Return the same numbers as complex ones."""
    return cast(xp, x, DType.of(x.dtype.name).complex_dtype)

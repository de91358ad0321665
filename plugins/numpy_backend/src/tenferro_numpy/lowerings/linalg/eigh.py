"""Hermitian eigenproblems on NumPy: the shared lowerings, with an error that says what failed.

Read next: `eig.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.linalg import eigh
from tenferro.primitives.linalg.eigh import Eigh, Eigvalsh
from tenferro_numpy.errors import NotConvergedError

__all__ = ["register", "told"]


def register(lowerings: Lowerings) -> None:
    """Register eigh and eigvalsh."""
    shared = Lowerings()
    eigh.register(shared, np)
    for primitive, record in zip((Eigh, Eigvalsh), shared, strict=True):
        lowerings.register(primitive)(told(record.target))


def told(lowering: Any) -> Callable[..., Any]:
    """Wrap a lowering so that a failure to converge raises an error of ours."""

    def lowered(op: Any, a: Any) -> Any:
        try:
            return lowering(op, a)
        except np.linalg.LinAlgError:
            finite = np.isfinite(a).all()
            got = "finite matrices" if finite else "a matrix has a nan or an infinity"
            raise NotConvergedError.of(op, got) from None

    return lowered

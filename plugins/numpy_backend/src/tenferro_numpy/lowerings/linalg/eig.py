"""Eigenproblems of general matrices on NumPy: the shared lowerings, with an error of ours.

Read next: `matrix_function.py`.
"""

from __future__ import annotations

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.linalg import eig
from tenferro.primitives.linalg.eig import Eig, Eigvals
from tenferro_numpy.lowerings.linalg.eigh import told

__all__ = ["register"]


def register(lowerings: Lowerings) -> None:
    """Register eig and eigvals."""
    shared = Lowerings()
    eig.register(shared, np)
    for primitive, record in zip((Eig, Eigvals), shared, strict=True):
        lowerings.register(primitive)(told(record.target))

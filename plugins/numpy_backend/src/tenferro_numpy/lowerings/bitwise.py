"""Shifts on NumPy, which decides them by counts outside the width as the vocabulary does.

Read next: `ufuncs.py`.
"""

from __future__ import annotations

import numpy as np

from tenferro.backend.extend import register_pointwise
from tenferro.backend.lowering import Lowerings
from tenferro.primitives.bitwise import ShiftLeft, ShiftRight

__all__ = ["register"]


def register(lowerings: Lowerings) -> None:
    """Register what replaces the shared lowerings: shifts need no guard here."""
    register_pointwise(lowerings, [(ShiftLeft, np.left_shift), (ShiftRight, np.right_shift)])

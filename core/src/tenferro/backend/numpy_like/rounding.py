"""Rounding, remainders and the form of floats for a NumPy-shaped namespace.

A remainder by an integer zero is not checked here, as in `arithmetic.py`. Read next: `bitwise.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like._common import register_pointwise
from tenferro.primitives.rounding import Ceil, Copysign, Floor, IsFinite, Nextafter, Rem, Round

__all__ = ["register"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the rounding family."""
    register_pointwise(
        lowerings,
        [
            (Floor, xp.floor),
            (Ceil, xp.ceil),
            (Round, xp.rint),
            (Rem, xp.fmod),
            (IsFinite, xp.isfinite),
            (Nextafter, xp.nextafter),
            (Copysign, xp.copysign),
        ],
    )

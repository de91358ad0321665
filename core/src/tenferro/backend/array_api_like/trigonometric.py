"""Circular functions and their inverses for a namespace of the Array API standard.

All of them name one function. Read next: `hyperbolic.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like._common import register_pointwise
from tenferro.primitives.trigonometric import Acos, Asin, Atan, Atan2, Cos, Hypot, Sin, Tan

__all__ = ["register"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the trigonometric family."""
    register_pointwise(
        lowerings,
        [
            (Sin, xp.sin),
            (Cos, xp.cos),
            (Tan, xp.tan),
            (Asin, xp.asin),
            (Acos, xp.acos),
            (Atan, xp.atan),
            (Atan2, xp.atan2),
            (Hypot, xp.hypot),
        ],
    )

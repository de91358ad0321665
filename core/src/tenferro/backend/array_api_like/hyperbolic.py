"""Hyperbolic functions and their inverses for a namespace of the Array API standard.

All of them name one function. Read next: `rounding.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like._common import register_pointwise
from tenferro.primitives.hyperbolic import Acosh, Asinh, Atanh, Cosh, Sinh, Tanh

__all__ = ["register"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the hyperbolic family."""
    register_pointwise(
        lowerings,
        [
            (Sinh, xp.sinh),
            (Cosh, xp.cosh),
            (Tanh, xp.tanh),
            (Asinh, xp.asinh),
            (Acosh, xp.acosh),
            (Atanh, xp.atanh),
        ],
    )

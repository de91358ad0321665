"""Exponentials and logarithms for a namespace of the Array API standard.

`expm1` and `log1p` of complex numbers are the namespace's own. Read next: `trigonometric.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.array_api_like._common import is_complex
from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like._common import register_pointwise
from tenferro.primitives.elementwise import (
    Exp,
    Exp2,
    Expm1,
    Log,
    Log1p,
    Log2,
    Log10,
    Logaddexp,
    Logistic,
)

__all__ = ["logistic", "register"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the elementwise family."""
    register_pointwise(
        lowerings,
        [
            (Exp, xp.exp),
            (Log, xp.log),
            (Exp2, lambda x: xp.pow(xp.asarray(2, dtype=x.dtype), x)),
            (Log2, xp.log2),
            (Log10, xp.log10),
            (Logaddexp, xp.logaddexp),
            (Expm1, xp.expm1),
            (Log1p, xp.log1p),
            (Logistic, lambda x: logistic(xp, x)),
        ],
    )


def logistic(xp: Any, x: Any) -> Any:
    """1/(1 + exp(-x)) = exp(min(x, 0)) / (1 + exp(-|x|)); no exponent has a positive real part."""
    if not is_complex(xp, x):
        decayed = xp.exp(-xp.abs(x))
        return xp.exp(xp.minimum(x, xp.zeros_like(x))) / (decayed + 1)
    negative = xp.real(x) < 0
    decayed = xp.exp(xp.where(negative, x, -x))
    return xp.where(negative, decayed, xp.ones_like(decayed)) / (decayed + 1)

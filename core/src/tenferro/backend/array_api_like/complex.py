"""Parts of complex numbers for a namespace of the Array API standard.

No function of the standard makes a complex number of two parts: re + i·im is NaN where im is
infinite. Read next: `constants.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.array_api_like._common import is_complex
from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like._common import register_pointwise
from tenferro.primitives.complex import Conj, Imag, Real

__all__ = ["register"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the complex family."""

    def conj(x: Any) -> Any:
        return xp.conj(x) if is_complex(xp, x) else x

    register_pointwise(lowerings, [(Real, xp.real), (Imag, xp.imag), (Conj, conj)])

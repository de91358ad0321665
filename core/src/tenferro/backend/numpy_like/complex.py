"""Parts of complex numbers for a NumPy-shaped namespace.

`Real` and `Imag` give views. A complex array is filled part by part and never computed as
re + i·im, which is NaN where im is infinite. Read next: `constants.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like._common import native_dtype, register_pointwise
from tenferro.primitives import DType
from tenferro.primitives.complex import Complex, Conj, Imag, Real

__all__ = ["from_parts", "register"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the complex family."""
    register_pointwise(
        lowerings,
        [(Real, lambda x: x.real), (Imag, lambda x: x.imag), (Conj, xp.conjugate)],
    )

    @lowerings.register(Complex)
    def complex_(op: Complex, re: Any, im: Any) -> Any:
        return from_parts(xp, re, im, native_dtype(xp, DType.of(re.dtype).complex_dtype))


def from_parts(xp: Any, re: Any, im: Any, dtype: Any) -> Any:
    """Make a new complex array from these parts."""
    out = xp.empty(re.shape, dtype)
    out.real = re
    out.imag = im
    return out

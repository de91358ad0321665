"""Parts and conjugates of complex arrays; real arrays pass."""

from __future__ import annotations

from typing import Any

from tenferro.array._array import Array
from tenferro.array._broadcast import stretch
from tenferro.array._convert import as_array
from tenferro.array._registry import covers
from tenferro.primitives import complex as p
from tenferro.primitives import constant


@covers("real")
def real(x: Any) -> Array:
    """The real part."""
    found = as_array(x)
    return p.real(found) if found.dtype.is_complex else found  # type: ignore[return-value]


@covers("imag")
def imag(x: Any) -> Array:
    """The imaginary part; zeros for a real x."""
    found = as_array(x)
    if found.dtype.is_complex:
        return p.imag(found)  # type: ignore[return-value]
    return stretch(Array(constant(0, found.dtype).key), found.shape)


@covers("conj", "conjugate")
def conj(x: Any) -> Array:
    """The complex conjugate."""
    found = as_array(x)
    return p.conj(found) if found.dtype.is_complex else found  # type: ignore[return-value]

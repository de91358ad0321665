"""Parts and conjugates of complex arrays; real arrays pass."""

from __future__ import annotations

from typing import Any

from tenferro.arrays.handle.array import Array, another_handle
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.handle.views import view_of
from tenferro.arrays.promotion.broadcast import cast, stretch
from tenferro.arrays.registry import FUNCTIONS, covers
from tenferro.primitives import conj as conjugate
from tenferro.primitives import constant, int8
from tenferro.primitives import imag as imaginary_part
from tenferro.primitives import real as real_part


@covers("real")
def real(x: Any) -> Array:
    """Return the real part of x."""
    found = as_array(x)
    if found.dtype.is_complex:
        return view_of(found, real_part(found))
    return view_of(found, found)


@covers("imag")
def imag(x: Any) -> Array:
    """Return the imaginary part of x; zeros for a real x."""
    found = as_array(x)
    if found.dtype.is_complex:
        return view_of(found, imaginary_part(found))
    return stretch(Array(constant(0, found.dtype).key), found.shape)


@covers("conj", "conjugate", ufunc=True)
def conj(x: Any) -> Array:
    """Return the complex conjugate of x. Bools become int8, as in NumPy."""
    found = as_array(x)
    if found.dtype.is_bool:
        return cast(found, int8)
    return conjugate(found) if found.dtype.is_complex else another_handle(found)


def adjoint(x: Array) -> Array:
    """Return the conjugate transpose of each matrix."""
    return conj(FUNCTIONS["matrix_transpose"](x))

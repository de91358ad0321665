"""Hyperbolic functions on XLA: sinh cosh tanh asinh acosh atanh.

``lax.sinh`` and ``lax.cosh`` lose digits of large numbers and, complex, of small ones; half
precision has no such digits, and takes them as they are. The inverse functions lose the side of
their branch cuts. Read next: ``special.py``.
"""

from __future__ import annotations

import numpy as np
from jax import Array, lax

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.hyperbolic import Acosh, Asinh, Atanh, Cosh, Sinh, Tanh
from tenferro_xla.lowerings._numeric import (
    like,
    log1p_real,
    signed_zero,
    widened,
    with_sign_of,
    with_signs_of,
)

lowerings = Lowerings()


@lowerings.register(Tanh)
def tanh(op: Tanh, x: Array) -> Array:
    """Take the hyperbolic tangent; its real part has the sign of that of a complex x."""
    y = lax.tanh(x)
    if x.dtype.kind != "c":
        return y
    imag = signed_zero(lax.imag(x), lax.imag(y), lax.imag(x))
    return lax.complex(with_sign_of(lax.real(y), lax.real(x)), imag)


@lowerings.register(Sinh)
def sinh(op: Sinh, x: Array) -> Array:
    """Take the hyperbolic sine; of x + iy, sinh x cos y + i cosh x sin y."""
    if x.dtype.kind != "c":
        return widened(lax.sinh if x.dtype.itemsize == 2 else _sinh)(x)
    re, im = lax.real(x), lax.imag(x)
    return lax.complex(lax.mul(_sinh(re), lax.cos(im)), _times_sine(_cosh(re), im))


@lowerings.register(Cosh)
def cosh(op: Cosh, x: Array) -> Array:
    """Take the hyperbolic cosine; of x + iy, cosh x cos y + i sinh x sin y."""
    if x.dtype.kind != "c":
        return widened(lax.cosh if x.dtype.itemsize == 2 else _cosh)(x)
    re, im = lax.real(x), lax.imag(x)
    return lax.complex(lax.mul(_cosh(re), lax.cos(im)), _times_sine(_sinh(re), im))


def _sinh(x: Array) -> Array:
    """Compute from one exponential beyond 1; below as ``lax`` does."""
    half, size = _half_of_exp(x), lax.abs(x)
    grown = with_sign_of(lax.sub(half, lax.div(like(x, 0.25), half)), x)
    return lax.select(lax.gt(size, like(x, 1)), grown, lax.sinh(x))


def _cosh(x: Array) -> Array:
    half = _half_of_exp(x)
    return lax.add(half, lax.div(like(x, 0.25), half))


def _half_of_exp(x: Array) -> Array:
    """exp(|x|)/2, finite where the quotient is: near the limit as a product of two roots."""
    size, half = lax.abs(x), like(x, 0.5)
    root = lax.exp(lax.mul(half, size))
    near_limit = lax.gt(size, like(x, 80 if x.dtype == np.float32 else 700))
    return lax.select(near_limit, lax.mul(lax.mul(half, root), root), lax.mul(half, lax.exp(size)))


def _times_sine(size: Array, angle: Array) -> Array:
    """size·sin(angle); 0 where the angle is 0 and the size infinite."""
    at_zero = lax.eq(angle, like(angle, 0))
    product = lax.mul(size, lax.sin(angle))
    return lax.select(at_zero, lax.mul(angle, lax.sign(size)), product)


@lowerings.register(Asinh)
def asinh(op: Asinh, x: Array) -> Array:
    """Take the inverse hyperbolic sine; its parts have the signs of those of a complex x."""
    if x.dtype.kind != "c":
        return widened(lax.asinh)(x)
    y = lax.asinh(x)
    return lax.complex(with_sign_of(lax.real(y), lax.real(x)), lax.imag(y))


@lowerings.register(Acosh)
def acosh(op: Acosh, x: Array) -> Array:
    """Take the inverse hyperbolic cosine; its imaginary part has the sign of that of x."""
    if x.dtype.kind != "c":
        return widened(lax.acosh)(x)
    y = lax.acosh(x)
    return lax.complex(lax.real(y), with_sign_of(lax.imag(y), lax.imag(x)))


@lowerings.register(Atanh)
def atanh(op: Atanh, x: Array) -> Array:
    """Take the inverse hyperbolic tangent; of a real x, ½ ln(1 + 2|x|/(1 - |x|)) with its sign."""
    return with_signs_of(lax.atanh(x), x) if x.dtype.kind == "c" else widened(_atanh)(x)


def _atanh(x: Array) -> Array:
    size = lax.abs(x)
    grown = lax.div(lax.add(size, size), lax.sub(like(x, 1), size))
    return with_sign_of(lax.mul(like(x, 0.5), log1p_real(grown)), x)

"""Circular functions on XLA: sin cos tan asin acos atan atan2 hypot.

XLA's own functions, except for zeros: XLA loses the sign of a zero part of a complex number, which
selects the side of a branch cut here or in the function that is applied next. The sign is put back,
as C has it. Read next: ``hyperbolic.py``.
"""

from __future__ import annotations

import numpy as np
from jax import Array, lax

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.trigonometric import Acos, Asin, Atan, Atan2, Cos, Hypot, Sin, Tan
from tenferro_xla.lowerings._direct import register_direct
from tenferro_xla.lowerings._numeric import (
    is_infinite,
    like,
    signed_zero,
    widened,
    with_sign_of,
    with_signs_of,
)

lowerings = Lowerings()
register_direct(
    lowerings,
    {
        Atan2: widened(lax.atan2),
    },
)


@lowerings.register(Sin)
def sin(op: Sin, x: Array) -> Array:
    """Take the sine; of x + iy, sin x cosh y + i cos x sinh y."""
    y = lax.sin(x)
    if x.dtype.kind != "c":
        return y
    re, im = lax.real(x), lax.imag(x)
    imag = signed_zero(im, lax.imag(y), lax.mul(lax.cos(re), im))
    return lax.complex(signed_zero(re, lax.real(y), re), imag)


@lowerings.register(Cos)
def cos(op: Cos, x: Array) -> Array:
    """Take the cosine; of x + iy, cos x cosh y - i sin x sinh y."""
    y = lax.cos(x)
    if x.dtype.kind != "c":
        return y
    re, im = lax.real(x), lax.imag(x)
    zero = lax.neg(lax.mul(with_sign_of(like(re, 1), re), with_sign_of(like(im, 0), im)))
    imag = signed_zero(re, lax.imag(y), zero)
    return lax.complex(lax.real(y), signed_zero(im, imag, lax.neg(lax.mul(lax.sin(re), im))))


@lowerings.register(Tan)
def tan(op: Tan, x: Array) -> Array:
    """Take the tangent; its imaginary part has the sign of that of a complex x."""
    y = lax.tan(x)
    if x.dtype.kind != "c":
        return y
    real = signed_zero(lax.real(x), lax.real(y), lax.real(x))
    return lax.complex(real, with_sign_of(lax.imag(y), lax.imag(x)))


@lowerings.register(Atan)
def atan(op: Atan, x: Array) -> Array:
    """Take the arc tangent; its parts have the signs of those of a complex x."""
    if x.dtype.kind != "c":
        return widened(lax.atan)(x)
    return with_signs_of(lax.atan(x), x)


@lowerings.register(Asin)
def asin(op: Asin, x: Array) -> Array:
    """Take the arc sine; its imaginary part has the sign of that of a complex x."""
    if x.dtype.kind != "c":
        return widened(lax.asin)(x)
    y = lax.asin(x)
    return lax.complex(lax.real(y), with_sign_of(lax.imag(y), lax.imag(x)))


@lowerings.register(Acos)
def acos(op: Acos, x: Array) -> Array:
    """Take the arc cosine; its imaginary part has the other sign than that of a complex x."""
    if x.dtype.kind != "c":
        return widened(lax.acos)(x)
    y = lax.acos(x)
    return lax.complex(lax.real(y), with_sign_of(lax.imag(y), lax.neg(lax.imag(x))))


@lowerings.register(Hypot)
def hypot(op: Hypot, x: Array, y: Array) -> Array:
    """Take the distance from the origin without overflow; the larger part is factored out."""
    return widened(_hypot)(x, y)


def _hypot(x: Array, y: Array) -> Array:
    a, b = lax.abs(x), lax.abs(y)
    large, small = lax.max(a, b), lax.min(a, b)
    safe = lax.select(lax.eq(large, like(x, 0)), like(x, 1), large)
    ratio = lax.div(small, safe)
    size = lax.mul(large, lax.sqrt(lax.add(like(x, 1), lax.mul(ratio, ratio))))
    infinite = lax.bitwise_or(is_infinite(x), is_infinite(y))
    return lax.select(infinite, like(x, np.inf), size)

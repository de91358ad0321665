"""Circular functions on XLA: sin cos tan asin acos atan atan2 hypot.

XLA's own functions, but for the branch cuts: a zero imaginary part of either sign gives one side
of them there, so the sign is put back. Read next: ``hyperbolic.py``.
"""

from __future__ import annotations

import numpy as np
from jax import Array, lax

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.trigonometric import Acos, Asin, Atan, Atan2, Cos, Hypot, Sin, Tan
from tenferro_xla.lowerings._direct import register_direct
from tenferro_xla.lowerings._numeric import is_infinite, like, widened, with_sign_of

lowerings = Lowerings()
register_direct(
    lowerings,
    {
        Sin: lax.sin,
        Cos: lax.cos,
        Tan: lax.tan,
        Atan: widened(lax.atan),
        Atan2: widened(lax.atan2),
    },
)


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

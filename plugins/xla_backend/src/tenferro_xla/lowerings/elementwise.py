"""Exponentials and logarithms on XLA: exp exp2 expm1 log log2 log10 log1p logaddexp logistic.

XLA's own functions, except for the signs of zero parts of complex numbers, and the logarithms:
``lax.log1p`` loses seven bits of a float64 around -0.4, and the complex logarithm is made from it.
Read next: ``_numeric.py``.
"""

from __future__ import annotations

from math import log as ln

import numpy as np
from jax import Array, lax

from tenferro.backend.lowering import Lowerings
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
from tenferro_xla.lowerings._direct import register_direct
from tenferro_xla.lowerings._numeric import (
    is_nan,
    like,
    log1p_real,
    signed_zero,
    square_less_one,
    widened,
    with_sign_of,
)

lowerings = Lowerings()
register_direct(
    lowerings,
    {
        Logistic: lax.logistic,
    },
)


@lowerings.register(Exp)
def exp(op: Exp, x: Array) -> Array:
    """Take the exponential; a zero imaginary part keeps its sign."""
    y = lax.exp(x)
    if x.dtype.kind != "c":
        return y
    im = lax.imag(x)
    return lax.complex(lax.real(y), signed_zero(im, lax.imag(y), im))


@lowerings.register(Expm1)
def expm1(op: Expm1, x: Array) -> Array:
    """Compute exp(x) - 1; zero parts keep their signs."""
    y = lax.expm1(x)
    if x.dtype.kind != "c":
        return y
    im = lax.imag(x)
    real = signed_zero(lax.real(x), lax.real(y), with_sign_of(lax.real(y), lax.real(x)))
    return lax.complex(signed_zero(im, lax.real(y), real), signed_zero(im, lax.imag(y), im))


@lowerings.register(Exp2)
def exp2(op: Exp2, x: Array) -> Array:
    """Raise 2 to a power; ``lax.exp2`` multiplies by ln 2 and then loses digits of large x."""
    if x.dtype.kind != "c":
        return widened(_exp2)(x)
    size, turn = _exp2(lax.real(x)), lax.mul(lax.imag(x), like(lax.imag(x), ln(2)))
    return lax.complex(lax.mul(size, lax.cos(turn)), lax.mul(size, lax.sin(turn)))


def _exp2(x: Array) -> Array:
    """2ⁿ·exp(f ln 2) for x = n + f, |f| <= ½; 2ⁿ in two factors, since it may not be normal."""
    limit = 1100 if x.dtype == np.float64 else 200
    within = lax.clamp(like(x, -limit), x, like(x, limit))
    n = lax.round(within, lax.RoundingMethod.TO_NEAREST_EVEN)
    some = lax.floor(lax.mul(n, like(x, 0.5)))
    fraction = lax.exp(lax.mul(lax.sub(within, n), like(x, ln(2))))
    return lax.mul(lax.mul(fraction, _power_of_two(some)), _power_of_two(lax.sub(n, some)))


def _power_of_two(n: Array) -> Array:
    """2ⁿ of a float n that is an integer, by its exponent bits; nan stays nan."""
    width, digits, bias = (np.int64, 52, 1023) if n.dtype == np.float64 else (np.int32, 23, 127)
    biased = lax.add(lax.convert_element_type(n, width), lax.full_like(n, bias, width))
    bits = lax.shift_left(biased, lax.full_like(biased, digits))
    return lax.select(is_nan(n), n, lax.bitcast_convert_type(bits, n.dtype))


@lowerings.register(Log2)
def log2(op: Log2, x: Array) -> Array:
    """Take the logarithm to the base 2."""
    return _to_base(2, x)


@lowerings.register(Log10)
def log10(op: Log10, x: Array) -> Array:
    """Take the logarithm to the base 10."""
    return _to_base(10, x)


#: 1/ln b, rounded once.
_PER_LOGARITHM = {2: 1.4426950408889634, 10: 0.4342944819032518}


def _to_base(base: int, x: Array) -> Array:
    """ln x · (1/ln base), part by part; the product has less error than the quotient."""
    if x.dtype.kind != "c":
        return widened(lambda x: lax.mul(lax.log(x), like(x, _PER_LOGARITHM[base])))(x)
    parts = lax.log(x)
    factor = like(lax.real(parts), _PER_LOGARITHM[base])
    return lax.complex(lax.mul(lax.real(parts), factor), lax.mul(lax.imag(parts), factor))


@lowerings.register(Logaddexp)
def logaddexp(op: Logaddexp, x: Array, y: Array) -> Array:
    """Add exponentials: the larger + ln(1 + exp(-|x - y|)); equal infinities stay."""
    return widened(_logaddexp)(x, y)


def _logaddexp(x: Array, y: Array) -> Array:
    gap = lax.neg(lax.abs(lax.sub(x, y)))
    gap = lax.select(lax.eq(x, y), like(x, 0), gap)
    return lax.add(lax.max(x, y), lax.log1p(lax.exp(gap)))  # exact enough for positive numbers


@lowerings.register(Log)
def log(op: Log, x: Array) -> Array:
    """Take the natural logarithm, principal branch."""
    return lax.log(x)


@lowerings.register(Log1p)
def log1p(op: Log1p, x: Array) -> Array:
    """Compute ln(1 + x); of a complex x without forming 1 + x where its modulus is near 1."""
    if x.dtype.kind != "c":
        return log1p_real(x)
    re, im = lax.real(x), lax.imag(x)
    shifted, zero = lax.add(re, like(re, 1)), like(re, 0)
    excess = square_less_one(re, im)
    near = lax.lt(lax.abs(excess), like(re, 0.5))
    inside = lax.mul(like(re, 0.5), log1p_real(lax.select(near, excess, zero)))
    outside = lax.real(lax.log(lax.complex(shifted, im)))
    return lax.complex(lax.select(near, inside, outside), lax.atan2(im, shifted))


def _log1p_of_nonnegative(op: Log1p, x: Array) -> Array:
    """Take XLA's own function, which is within 2 ulp for such numbers."""
    return lax.log1p(x)


log1p.of_nonnegative = _log1p_of_nonnegative  # type: ignore[attr-defined]

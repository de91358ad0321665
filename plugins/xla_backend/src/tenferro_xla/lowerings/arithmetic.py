"""Arithmetic on XLA: add sub mul div neg abs sign maximum minimum clamp pow … rsqrt.

Where XLA and NumPy part ways, NumPy wins: integer division by zero gives 0, sign(-0.0) is 0.0, a
complex number with an infinite part has an infinite modulus, √ keeps the sign of a zero imaginary
part, and integers have powers. Read next: ``elementwise.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jax import Array, lax

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.arithmetic import (
    Abs,
    Add,
    Cbrt,
    Clamp,
    Div,
    IntegerPow,
    Maximum,
    Minimum,
    Mul,
    Neg,
    Pow,
    Rsqrt,
    Sign,
    Sqrt,
    Square,
    Sub,
)
from tenferro_xla.lowerings._direct import register_direct
from tenferro_xla.lowerings._numeric import (
    is_infinite,
    leading_bits,
    like,
    modulus,
    widened,
    with_sign_of,
)

lowerings = Lowerings()
register_direct(
    lowerings,
    {
        Add: lax.add,
        Sub: lax.sub,
        Mul: lax.mul,
        Neg: lax.neg,
        Maximum: lax.max,
        Minimum: lax.min,
        Rsqrt: lax.rsqrt,
        Cbrt: widened(lax.cbrt),
    },
)
#: Real powers are products, ten times as fast as ``pow``, while their error is below 2.5 ulp: with
#: the first exponents plain ones, with the second with the rounding of x² put back.
PLAIN_PRODUCTS, CORRECTED_PRODUCTS = range(-4, 5), range(5, 9)

_FUSED_STEPS = 6  # of powers of integers: beyond 63, powers of 2 are 0 in 64 bits


def is_integer(x: Array) -> bool:
    """Return True if the operand holds integers, signed or not."""
    return x.dtype.kind in "iu"


def is_complex(x: Array) -> bool:
    """Return True if the operand holds complex numbers."""
    return x.dtype.kind == "c"


@lowerings.register(Div)
def div(op: Div, x: Array, y: Array) -> Array:
    """Divide; integers truncate, and give 0 where the divisor is 0."""
    quotient = lax.div(x, y)
    if not is_integer(x):
        return quotient
    zero = like(y, 0)
    return lax.select(lax.eq(y, zero), zero, quotient)


@lowerings.register(Abs)
def abs_(op: Abs, x: Array) -> Array:
    """Take the absolute value or the modulus."""
    if is_complex(x):
        return modulus(x)
    return x if x.dtype.kind == "u" else lax.abs(x)


@lowerings.register(Sign)
def sign(op: Sign, x: Array) -> Array:
    """Take the sign: ±1, 0 at both zeros, z/|z| of a complex number."""
    if is_complex(x):
        return _complex_sign(x)
    if is_integer(x):
        return lax.sign(x)
    size = lax.abs(x)  # also what is to come of zeros and of nan
    return lax.select(lax.gt(size, like(x, 0)), lax.sign(x), size)


def _complex_sign(z: Array) -> Array:
    """z/|z|; next to one infinite part the other is 0, and two infinite parts give nan."""
    re, im = lax.real(z), lax.imag(z)
    zero = like(re, 0)
    unbounded = lax.bitwise_or(is_infinite(re), is_infinite(im))
    both = lax.bitwise_and(is_infinite(re), is_infinite(im))

    def bounded(x: Array) -> Array:
        at_infinity = lax.select(is_infinite(x), lax.sign(x), zero)
        return lax.select(unbounded, at_infinity, x)

    a, b = bounded(re), bounded(im)
    size = lax.select(both, like(re, np.nan), lax.abs(lax.complex(a, b)))
    none = lax.eq(size, zero)
    return lax.complex(*[lax.select(none, zero, lax.div(x, size)) for x in (a, b)])


@lowerings.register(Clamp)
def clamp(op: Clamp, lo: Array, x: Array, hi: Array) -> Array:
    """Confine; ``lax.clamp`` leaves crossed bounds open, so the definition is spelled out."""
    return lax.min(lax.max(x, lo), hi)


@lowerings.register(Pow)
def pow_(op: Pow, x: Array, y: Array) -> Array:
    """Raise to a power of the same dtype; 0 to a complex power of positive real part is 0."""
    if is_integer(x):
        return _power_of_integers(x, y)
    power = lax.pow(x, y)
    if x.dtype.kind != "c":
        return power
    zero, exponent = like(x, 0), lax.real(y)  # XLA takes exp(y log x), whose phase is nan at 0
    vanishes = lax.bitwise_and(lax.eq(x, zero), lax.gt(exponent, like(exponent, 0)))
    return lax.select(vanishes, zero, power)


def _power_of_integers(x: Array, y: Array) -> Array:
    """Square and multiply while any exponent has bits left; negative ones truncate towards 0.

    Most exponents have few bits. The steps for these are no loop, so that XLA fuses them.
    """
    zero, one = like(x, 0), like(x, 1)
    negative = lax.lt(y, zero)
    exponent = lax.select(negative, lax.bitwise_and(y, one), y)

    def any_left(exponent: Array) -> Any:
        return lax.reduce_or(lax.ne(exponent, zero), tuple(range(x.ndim)))

    def step(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        result, base, exponent = state
        odd = lax.ne(lax.bitwise_and(exponent, one), zero)
        result = lax.select(odd, lax.mul(result, base), result)
        return result, lax.mul(base, base), lax.shift_right_logical(exponent, one)

    def of_any(x: Array, exponent: Array) -> Array:
        return lax.while_loop(lambda state: any_left(state[2]), step, (one, x, exponent))[0]

    def of_few_bits(x: Array, exponent: Array) -> Array:
        state = (one, x, exponent)
        for _ in range(_FUSED_STEPS):
            state = step(state)
        return state[0]

    many = any_left(lax.shift_right_logical(exponent, like(x, _FUSED_STEPS)))
    power = lax.cond(many, of_any, of_few_bits, x, exponent)
    unit = lax.eq(lax.mul(x, x), one) if x.dtype.kind == "u" else lax.eq(lax.abs(x), one)
    return lax.select(lax.bitwise_and(negative, lax.bitwise_not(unit)), zero, power)


@lowerings.register(IntegerPow)
def integer_pow(op: IntegerPow, x: Array) -> Array:
    """Raise to a fixed integer power: products while they are few or exact, else ``pow``."""
    if op.exponent in PLAIN_PRODUCTS or x.dtype.kind != "f":
        return lax.integer_pow(x, op.exponent)
    if op.exponent in CORRECTED_PRODUCTS:
        return widened(lambda x: _corrected_power(x, op.exponent))(x)
    return lax.pow(x, like(x, op.exponent))


def _corrected_power(x: Array, exponent: int) -> Array:
    """x^(2m) = (s + d)^m ≈ s^m + m d s^(m-1) for s = fl(x²) and its rounding d; x once more if odd.

    Where a power is infinite the correction is left out.
    """
    m, odd = divmod(exponent, 2)
    square, high = lax.mul(x, x), leading_bits(x)
    rounding = lax.add(
        lax.sub(lax.mul(high, high), square), lax.mul(lax.sub(x, high), lax.add(high, x))
    )
    rest = lax.integer_pow(square, m - 1)
    rest = lax.mul(rest, x) if odd else rest
    correction = lax.mul(lax.mul(rounding, like(x, m)), rest)
    correction = lax.select(lax.is_finite(correction), correction, like(x, 0))
    return lax.add(lax.mul(rest, square), correction)


@lowerings.register(Square)
def square(op: Square, x: Array) -> Array:
    """Multiply by itself."""
    return lax.mul(x, x)


@lowerings.register(Sqrt)
def sqrt(op: Sqrt, x: Array) -> Array:
    """Take the principal root; on the cut the sign of a zero imaginary part decides the side."""
    root = lax.sqrt(x)
    if not is_complex(x):
        return root
    return lax.complex(lax.real(root), with_sign_of(lax.imag(root), lax.imag(x)))

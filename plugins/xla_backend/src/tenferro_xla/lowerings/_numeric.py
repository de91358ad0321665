"""Small pieces of numerics that several families share: literals, signs, and parts near infinity.

Nothing here knows a primitive. XLA keeps float arithmetic in order except for one thing: it
joins constants, ``(x + 1) - 1 → x``; what depends on such a rounding is written around it.
Subnormal numbers count as zero on XLA's CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log as ln

import numpy as np
from jax import Array, lax

from tenferro_xla._jax import VERSION

#: ``lax.log1p`` of a float64 is within 2 ulp from jax 0.12 on; before, it loses seven bits at -0.4.
LOG1P_IS_PRECISE = tuple(map(int, VERSION.split(".")[:2])) >= (0, 12)
_BEYOND_ITS_RANGE = (-0.4144, -0.294)  # 1 - √2 and 1/√2 - 1, with a margin


def like(x: Array, value: complex) -> Array:
    """Return a constant of the shape and dtype of ``x``."""
    return lax.full_like(x, value)


def is_nan(x: Array) -> Array:
    """Test where a real operand is nan."""
    return lax.ne(x, x)


def is_infinite(x: Array) -> Array:
    """Test where a real operand is inf or -inf."""
    return lax.eq(lax.abs(x), like(x, np.inf))


def has_sign_bit(x: Array) -> Array:
    """Test where a real operand is negative, -0.0 included."""
    width = {2: np.int16, 4: np.int32, 8: np.int64}[x.dtype.itemsize]
    bits = lax.bitcast_convert_type(x, width)
    return lax.lt(bits, lax.full_like(bits, 0))


def with_sign_of(size: Array, x: Array) -> Array:
    """Return the size with the sign of ``x``, that of -0.0 included."""
    size = lax.abs(size)
    return lax.select(has_sign_bit(x), lax.neg(size), size)


def with_signs_of(y: Array, z: Array) -> Array:
    """Return complex numbers whose parts have the signs of those of ``z``."""
    real = with_sign_of(lax.real(y), lax.real(z))
    return lax.complex(real, with_sign_of(lax.imag(y), lax.imag(z)))


def signed_zero(x: Array, value: Array, zero: Array) -> Array:
    """Return a value, and a zero with a sign where ``x`` is 0."""
    return lax.select(lax.eq(x, like(x, 0)), zero, value)


def modulus(z: Array) -> Array:
    """|z| without overflow; inf as soon as one part is, as C has it."""
    infinite = lax.bitwise_or(is_infinite(lax.real(z)), is_infinite(lax.imag(z)))
    size = lax.abs(z)
    return lax.select(infinite, like(size, np.inf), size)


def log1p_real(x: Array) -> Array:
    """Return ln(1 + x) within 2 ulp.

    ``lax.log1p`` is exact enough, except where it takes its rational function beyond the range of
    that, 1/√2 - 1 < x (Cephes, log1p). There, ln(1 + x) = ln(1 + t) - ln 2 with t = 2x + 1, which
    is exact. XLA fuses an expensive function into its readers only if it is read once, hence no
    choice between two results.
    """
    if x.dtype != np.float64 or LOG1P_IS_PRECISE:
        return lax.log1p(x)
    low, high = _BEYOND_ITS_RANGE
    distance = lax.abs(lax.sub(x, like(x, (low + high) / 2)))
    beyond = lax.lt(distance, like(x, (high - low) / 2))
    t = lax.add(lax.add(x, x), like(x, 1))
    addend = lax.select(beyond, like(x, -ln(2)), like(x, -0.0))  # x + 0.0 is not x for x = -0.0
    return lax.add(lax.log1p(lax.select(beyond, t, x)), addend)


def leading_bits(x: Array) -> Array:
    """Drop the last half of a float's digits, so that its square is exact.

    The mask hides the rounding from XLA's simplifier.
    """
    width, dropped = (np.int64, 27) if x.dtype == np.float64 else (np.int32, 12)
    bits = lax.bitcast_convert_type(x, width)
    masked = lax.bitwise_and(bits, lax.full_like(bits, -(2**dropped)))
    return lax.bitcast_convert_type(masked, x.dtype)


def widened(function: Callable[..., Array]) -> Callable[..., Array]:
    """Wrap a function to compute half-precision floats in float32."""

    def wide(*operands: Array) -> Array:
        dtype = operands[0].dtype
        if dtype.itemsize > 2:
            return function(*operands)
        result = function(*(lax.convert_element_type(x, np.float32) for x in operands))
        return lax.convert_element_type(result, dtype)

    wide.__name__ = getattr(function, "__name__", "wide")
    return wide


def square_less_one(re: Array, im: Array) -> Array:
    """|1 + z|² - 1 = 2 re + re² + im², to full precision where its terms cancel.

    Squares are split into exact products, and the sum adds up its own roundings (T. Ogita, S. M.
    Rump and S. Oishi, SIAM J. Sci. Comput. 26 (2005) 1955, algorithm 4.4).
    """
    total, rest = lax.mul(re, like(re, 2)), like(re, 0)
    for term in (*_exact_square(re), *_exact_square(im)):
        sum_ = lax.add(total, term)
        kept = lax.sub(sum_, total)
        lost = lax.add(lax.sub(total, lax.sub(sum_, kept)), lax.sub(term, kept))
        total, rest = sum_, lax.add(rest, lost)
    return lax.add(total, rest)


def _exact_square(x: Array) -> tuple[Array, Array, Array]:
    """Return numbers whose sum is x², each without rounding, the largest first."""
    high = leading_bits(x)
    low = lax.sub(x, high)
    return lax.mul(high, high), lax.mul(lax.mul(like(x, 2), high), low), lax.mul(low, low)

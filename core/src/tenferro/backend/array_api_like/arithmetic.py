"""Arithmetic for a namespace of the Array API standard.

Integers wrap and their division truncates; division by an integer zero is not checked here. The
standard has no cube root: it is a power, corrected by a step of Newton's method.
Read next: `elementwise.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.array_api_like._common import is_complex, is_integer
from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like._common import register_pointwise
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

__all__ = ["cube_root", "integer_power", "power", "register", "truncating_division"]

_LONGEST_FLOAT_PRODUCT = 4  # exponents: each product adds a rounding
_LONGEST_COMPLEX_PRODUCT = 16


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the arithmetic family."""
    register_pointwise(
        lowerings,
        [
            (Add, xp.add),
            (Sub, xp.subtract),
            (Mul, xp.multiply),
            (Neg, xp.negative),
            (Abs, xp.abs),
            (Sign, xp.sign),
            (Maximum, xp.maximum),
            (Minimum, xp.minimum),
            (Pow, lambda x, y: power(xp, x, y)),
            (Square, lambda x: xp.multiply(x, x)),
            (Sqrt, xp.sqrt),
            (Cbrt, lambda x: cube_root(xp, x)),
            (Clamp, lambda lo, x, hi: xp.minimum(xp.maximum(x, lo), hi)),
            (Rsqrt, lambda x: 1 / xp.sqrt(x)),
        ],
    )

    @lowerings.register(Div)
    def div(op: Div, x: Any, y: Any) -> Any:
        return truncating_division(xp, x, y) if is_integer(xp, x) else xp.divide(x, y)

    @lowerings.register(IntegerPow)
    def integer_pow(op: IntegerPow, x: Any) -> Any:
        return integer_power(xp, x, op.exponent)


def truncating_division(xp: Any, x: Any, y: Any) -> Any:
    """Divide integers and round towards zero, given a division that rounds down."""
    quotient = xp.floor_divide(x, y)
    if xp.isdtype(x.dtype, "unsigned integer"):
        return quotient
    inexact = xp.multiply(quotient, y) != x
    opposite = xp.not_equal(x < 0, y < 0)
    return xp.add(quotient, xp.astype(xp.logical_and(inexact, opposite), x.dtype))


def power(xp: Any, x: Any, y: Any) -> Any:
    """x**y; a complex power of 0 is that of NumPy, where the standard leaves it to the library."""
    found = xp.pow(x, y)
    if not is_complex(xp, x):
        return found
    vanishes = xp.logical_and(x == 0, xp.real(y) > 0)
    found = xp.where(vanishes, xp.zeros_like(found), found)
    return xp.where(y == 0, xp.ones_like(found), found)


def integer_power(xp: Any, x: Any, exponent: int) -> Any:
    """x**exponent, by products where they are exact or about as accurate as `pow`."""
    longest = exponent
    if not is_integer(xp, x):
        longest = _LONGEST_COMPLEX_PRODUCT if is_complex(xp, x) else _LONGEST_FLOAT_PRODUCT
    if 0 < exponent <= longest:
        return _by_squaring(x, exponent)
    if exponent == -1:
        return 1 / x
    if is_complex(xp, x) and -longest <= exponent < 0:
        return 1 / _by_squaring(x, -exponent)
    return xp.pow(x, xp.asarray(exponent, dtype=x.dtype))


def _by_squaring(x: Any, exponent: int) -> Any:
    """x**exponent, exponent > 0, by binary exponentiation."""
    result = None
    while True:
        if exponent & 1:
            result = x if result is None else result * x
        exponent >>= 1
        if not exponent:
            return result
        x = x * x


def cube_root(xp: Any, x: Any) -> Any:
    """x^(1/3) with the sign of x: a power, and a step y - (y - x/y²)/3 of Newton's method.

    Subnormal numbers are scaled by 2⁵⁴ first. The step is left out at zero, infinity and NaN.
    """
    tiny = xp.abs(x) < xp.finfo(x.dtype).smallest_normal
    scaled = x * xp.where(tiny, xp.full_like(x, 2.0**54), xp.ones_like(x))
    root = xp.copysign(xp.pow(xp.abs(scaled), xp.asarray(1 / 3, dtype=x.dtype)), x)
    usual = xp.logical_and(xp.isfinite(x), x != 0)
    safe = xp.where(usual, root, xp.ones_like(root))
    root = xp.where(usual, root - (safe - scaled / (safe * safe)) / 3, root)
    return xp.where(tiny, root * 2.0**-18, root)

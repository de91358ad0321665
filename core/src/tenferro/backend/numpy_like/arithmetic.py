"""Arithmetic for a NumPy-shaped namespace.

Integers wrap and their division truncates; division by an integer zero is not checked here, because
a device would have to wait for the answer (a backend on the host replaces `Div` and does).
Read next: `elementwise.py`.
"""

from __future__ import annotations

from typing import Any

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

__all__ = ["integer_power", "register", "truncating_division"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the arithmetic family."""
    register_pointwise(
        lowerings,
        [
            (Add, xp.add),
            (Sub, xp.subtract),
            (Mul, xp.multiply),
            (Neg, xp.negative),
            (Abs, xp.absolute),
            (Sign, xp.sign),
            (Maximum, xp.maximum),
            (Minimum, xp.minimum),
            (Pow, xp.power),
            (Square, xp.square),
            (Sqrt, xp.sqrt),
            (Cbrt, xp.cbrt),
        ],
    )

    @lowerings.register(Div)
    def div(op: Div, x: Any, y: Any) -> Any:
        return truncating_division(xp, x, y) if x.dtype.kind in "iu" else xp.divide(x, y)

    @lowerings.register(Clamp)
    def clamp(op: Clamp, lo: Any, x: Any, hi: Any) -> Any:
        return xp.minimum(xp.maximum(x, lo), hi)

    @lowerings.register(IntegerPow)
    def integer_pow(op: IntegerPow, x: Any) -> Any:
        return integer_power(xp, x, op.exponent)

    @lowerings.register(Rsqrt)
    def rsqrt(op: Rsqrt, x: Any) -> Any:
        return xp.reciprocal(xp.sqrt(x))


def truncating_division(xp: Any, x: Any, y: Any) -> Any:
    """Divide integers and round towards zero, given a division that rounds down."""
    quotient = xp.floor_divide(x, y)
    if x.dtype.kind == "u":
        return quotient
    inexact = xp.not_equal(xp.multiply(quotient, y), x)
    opposite = xp.not_equal(xp.less(x, 0), xp.less(y, 0))
    return xp.add(quotient, xp.logical_and(inexact, opposite).astype(x.dtype))


def integer_power(xp: Any, x: Any, exponent: int) -> Any:
    """x**exponent, by products where they are exact or about as accurate as `power`.

    Integers wrap, so products are exact for them; each product of floats costs up to one rounding,
    doubled by every squaring after it.
    """
    kind = x.dtype.kind
    longest = {"f": 4, "c": 16}.get(kind, exponent)
    if 0 < exponent <= longest:
        return _by_squaring(xp, x, exponent)
    if exponent == -1:
        return xp.reciprocal(x)
    if kind == "c" and -longest <= exponent < 0:
        return xp.reciprocal(_by_squaring(xp, x, -exponent))
    return xp.power(x, exponent)


def _by_squaring(xp: Any, x: Any, exponent: int) -> Any:
    """x**exponent, exponent > 0, by binary exponentiation; a new array."""
    if exponent == 1:
        return xp.positive(x)
    result = None
    while True:
        if exponent & 1:
            result = x if result is None else xp.multiply(result, x)
        exponent >>= 1
        if not exponent:
            return result
        x = xp.square(x)

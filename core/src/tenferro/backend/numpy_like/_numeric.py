"""Numerical tools of the special functions, in any NumPy-shaped namespace.

Gauss's rule on an interval, Stirling's remainder, functions with their leading terms taken off. The
formulas have no loops over data, so that a compiler can trace them too.
Read next: `incomplete.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import cos, factorial, log, pi
from typing import Any

from tenferro._runtime.records import NamedTuple

__all__ = [
    "Numeric",
    "divided",
    "expm1_rest",
    "gauss",
    "horner",
    "log1p_rest",
    "log_minus_digamma",
    "log_ratio",
    "polygamma_difference",
    "stirling",
]  # fmt: skip

_NODES = 64
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_ASYMPTOTIC = 10.0  # from here on eight terms of Stirling's series are enough


class Numeric(NamedTuple):
    """A namespace and what it lacks.

    lgamma, polygamma    for positive numbers
    loop(n, body, state)   for k in 1, …, n: state = body(k, state), a tuple of arrays
    integrate(f, cut)      ∫ f(u) du from 0 to cut by the rule of ``gauss``; f is given arrays that
                           broadcast with cut
    """

    xp: Any
    lgamma: Callable[[Any], Any]
    polygamma: Callable[[int, Any], Any]
    loop: Callable[[int, Callable[[Any, Any], Any], Any], Any]
    integrate: Callable[[Callable[[Any], Any], Any], Any]


#: Logarithm of the largest finite number, by bytes; of the two dtypes of two bytes the lower one.
_LARGEST_EXPONENTS = {2: 11.0, 4: 88.7, 8: 709.7}


def divided(on: Numeric, exponent: Any, divisors: Sequence[Any]) -> Any:
    """exp(exponent) / (product of positive numbers), also where the exponential underflows."""
    xp = on.xp
    quotient, reduced = xp.exp(exponent), exponent
    for divisor in divisors:
        quotient, reduced = quotient / divisor, reduced - xp.log(divisor)
    lowest = -0.8 * _LARGEST_EXPONENTS[exponent.dtype.itemsize]
    return xp.where(exponent < lowest, xp.exp(reduced), quotient) if divisors else quotient


@cache
def gauss() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return nodes and weights of Gauss's rule for u = s² on [0, 1], dense near 0: ∫₀¹ f(u) du.

    Newton's method on Legendre's polynomial; Abramowitz & Stegun (1964), 25.4.29 and 22.7.10.
    """
    pairs = [_root(i) for i in range(_NODES)]
    places = [((1 + x) / 2, w / 2) for x, w in pairs]
    return tuple(s * s for s, _ in places), tuple(2 * s * w for s, w in places)


def _root(i: int) -> tuple[float, float]:
    """Return the i-th root of Legendre's polynomial and its weight."""
    x = cos(pi * (i + 0.75) / (_NODES + 0.5))
    for _ in range(100):
        value, slope = _legendre(x)
        step = value / slope
        x -= step
        if abs(step) < 1e-16:
            break
    return x, 2 / ((1 - x * x) * _legendre(x)[1] ** 2)


def _legendre(x: float) -> tuple[float, float]:
    before, value = 1.0, x
    for k in range(2, _NODES + 1):
        before, value = value, ((2 * k - 1) * x * value - (k - 1) * before) / k
    return value, _NODES * (x * value - before) / (x * x - 1)


def horner(x: Any, coefficients: Sequence[float]) -> Any:
    """Σ_k c_k x^k."""
    value = x * 0 + coefficients[-1]
    for c in reversed(coefficients[:-1]):
        value = value * x + c
    return value


def stirling(on: Numeric, a: Any) -> Any:
    """ln Γ(a) - (a - ½) ln a + a - ½ ln 2π for a > 0: DLMF 5.11.1."""
    xp = on.xp
    is_large = a >= _ASYMPTOTIC
    inverse = 1 / xp.where(is_large, a, _ASYMPTOTIC)
    terms = [b / ((2 * k + 1) * (2 * k + 2)) for k, b in enumerate(_BERNOULLI)]
    small = xp.where(is_large, _ASYMPTOTIC, a)
    direct = on.lgamma(small) - (small - 0.5) * xp.log(small) + (small - log(2 * pi) / 2)
    return xp.where(is_large, inverse * horner(inverse * inverse, terms), direct)


def log_minus_digamma(on: Numeric, a: Any) -> Any:
    """ln a - ψ(a) for a > 0: DLMF 5.11.2."""
    xp = on.xp
    is_large = a >= _ASYMPTOTIC
    inverse = 1 / xp.where(is_large, a, _ASYMPTOTIC)
    square = inverse * inverse
    terms = [b / (2 * k + 2) for k, b in enumerate(_BERNOULLI)]
    small = xp.where(is_large, _ASYMPTOTIC, a)
    direct = xp.log(small) - on.polygamma(0, small)
    return xp.where(is_large, inverse / 2 + square * horner(square, terms), direct)


def log1p_rest(xp: Any, d: Any, ratio: Any = None) -> Any:
    """ln(1 + d) - d; ``ratio`` is 1 + d where that is known better.

    With r = d / (2 + d), ln(1 + d) = 2 artanh r: Abramowitz & Stegun (1964), 4.1.27.
    """
    is_near = xp.abs(d) < 0.5
    near = xp.where(is_near, d, 0)
    r = near / (2 + near)
    square = r * r
    series = r * (2 * square * horner(square, [1 / (2 * k + 3) for k in range(17)]) - near)
    far = xp.where(is_near, 1, 1 + d if ratio is None else ratio)
    return xp.where(is_near, series, xp.log(far) - d)


def log_ratio(xp: Any, x: Any, y: Any) -> Any:
    """ln(x / y) for positive numbers, with all digits where they are near each other."""
    d = (x - y) / y
    is_near = xp.abs(d) < 0.5
    near = xp.log1p(xp.where(is_near, d, 0))
    return xp.where(is_near, near, xp.log(xp.where(is_near, 1, x / y)))


def expm1_rest(xp: Any, v: Any) -> Any:
    """exp(v) - 1 - v."""
    is_near = xp.abs(v) < 0.25
    near = xp.where(is_near, v, 0)
    terms, factor = [], 1.0
    for k in range(12):
        factor /= k + 2
        terms.append(factor)
    return xp.where(is_near, near * near * horner(near, terms), xp.expm1(v) - v)


def polygamma_difference(xp: Any, n: int, x: Any, d: Any) -> Any:
    """ψ⁽ⁿ⁾(x + d) - ψ⁽ⁿ⁾(x) for positive x and x + d, also where d is small.

    DLMF 5.15.5 and 5.15.8 (5.5.2 and 5.11.2 where n = 0), each power y^(-m) replaced by the
    difference (y + d)^(-m) - y^(-m).
    """
    steps = 10 + n

    def difference(m: int, y: Any) -> Any:
        return y**-m * xp.expm1(-m * xp.log1p(d / y))

    far = x + steps
    terms = [
        b * (factorial(2 * k + n + 1) / factorial(2 * k + 2)) * difference(2 * k + 2 + n, far)
        for k, b in enumerate(_BERNOULLI)
    ]
    terms.append(difference(n + 1, far) * (factorial(n) / 2))
    terms += [difference(n + 1, x + k) * factorial(n) for k in range(steps - 1, -1, -1)]
    leading = difference(n, far) * factorial(n - 1) if n else -xp.log1p(d / far)
    return (sum(terms) + leading) * (-1) ** (n + 1)

"""Logarithms of the incomplete gamma and beta functions, also where these are below every float.

Where a tail is tiny, its logarithm is that of a density times a continued fraction, which converges
the faster the farther out the tail is: eight levels give all digits where the tail is below 1e-18.
The logarithm of the density is that at the mean, and the distance from there, whose terms of first
order cancel; they are left out, so that no digits are lost at large shapes. Where a tail is near 1,
its logarithm is log1p of the other one. Formulas of the NIST Digital Library of Mathematical
Functions (DLMF). Read next: ``gamma.py``.
"""

from __future__ import annotations

from math import inf

from tenferro.arrays.functions.arithmetic import absolute
from tenferro.arrays.functions.comparison import greater, less
from tenferro.arrays.functions.elementwise import log, log1p
from tenferro.arrays.handle.array import Array
from tenferro.primitives import incomplete
from tenferro.stats._standard import broadcast, choose

_LEVELS = 8
MIN_TAIL_FOR_ITS_LOG = 1e-18  # the logarithm of a smaller tail is computed without it


def log_gammainc(a: Array, x: Array) -> Array:
    """Compute ln P(a, x) for x >= 0."""
    a, x = broadcast(a, x)
    tail, rest = incomplete.gammainc(a, x), incomplete.gammaincc(a, x)
    tiny = less(tail, MIN_TAIL_FOR_ITS_LOG)
    shape = choose(tiny, a, 1.0)
    low, at = choose(tiny, x, 0.0), choose(tiny, x, 1.0)
    deep = _log_kernel(shape, at) - log(shape) + log(_lower(shape, low))
    return choose(tiny, deep, log_of(tail, rest, tiny))


def log_gammaincc(a: Array, x: Array) -> Array:
    """Compute ln Q(a, x) for x >= 0."""
    a, x = broadcast(a, x)
    tail, rest = incomplete.gammaincc(a, x), incomplete.gammainc(a, x)
    tiny = less(tail, MIN_TAIL_FOR_ITS_LOG) & less(x, inf)
    high, shape = choose(tiny, x, 1.0), choose(tiny, a, 1.0)
    deep = _log_kernel(shape, high) + log(_upper(shape, high))
    return choose(tiny, deep, log_of(tail, rest, tiny))


def _log_kernel(a: Array, x: Array) -> Array:
    """Compute ln(x^a e⁻ˣ / Γ(a)) as that at x = a and a (ln(x/a) - x/a + 1)."""
    at_mean = log(a * incomplete.gamma_density(a, a))
    return at_mean + a * _log_ratio(x - a, a, log(x)) - (x - a)


def _log_ratio(away: Array, center: Array, log_x: Array) -> Array:
    """Compute ln(x / center) from x - center and ln x."""
    is_near = less(absolute(away), 0.5 * center)
    near = log1p(choose(is_near, away, 0.0) / center)
    return choose(is_near, near, choose(is_near, 0.0, log_x) - log(center))


def log_betainc(a: Array, b: Array, x: Array) -> Array:
    """Compute ln I_x(a, b) for 0 <= x <= 1."""
    a, b, x = broadcast(a, b, x)
    tail, rest = incomplete.betainc(a, b, x), incomplete.betaincc(a, b, x)
    tiny = less(tail, MIN_TAIL_FOR_ITS_LOG)
    shapes, inner = (choose(tiny, a, 1.0), choose(tiny, b, 1.0)), choose(tiny, x, 0.5)
    deep = _log_betainc_far_out(*shapes, inner, 1 - inner)
    return choose(tiny, deep, log_of(tail, rest, tiny))


def log_betaincc(a: Array, b: Array, x: Array) -> Array:
    """Compute ln(1 - I_x(a, b)) for 0 <= x <= 1."""
    a, b, x = broadcast(a, b, x)
    tail, rest = incomplete.betaincc(a, b, x), incomplete.betainc(a, b, x)
    tiny = less(tail, MIN_TAIL_FOR_ITS_LOG)
    shapes, inner = (choose(tiny, b, 1.0), choose(tiny, a, 1.0)), choose(tiny, x, 0.5)
    deep = _log_betainc_far_out(*shapes, 1 - inner, inner)
    return choose(tiny, deep, log_of(tail, rest, tiny))


def log_of(tail: Array, rest: Array, is_ignored: Array) -> Array:
    """Compute ln(tail), from ``rest`` = 1 - tail where that is less than ½.

    The result has no meaning where ``is_ignored`` holds; there, derivatives stay finite.
    """
    is_near_one = greater(tail, rest)
    alone = log(choose(is_near_one | is_ignored, 1.0, tail))
    return choose(is_near_one, log1p(-choose(is_near_one, rest, 0.0)), alone)


def _upper(a: Array, x: Array) -> Array:
    """Compute Q(a, x) Γ(a) / (x^a e⁻ˣ) far above a (DLMF 8.9.2)."""
    found = x + (2 * _LEVELS + 1) - a
    for n in range(_LEVELS, 0, -1):
        found = x + (2 * n - 1) - a - n * (n - a) / found
    return 1 / found


def _lower(a: Array, x: Array) -> Array:
    """Compute P(a, x) Γ(a + 1) / (x^a e⁻ˣ) far below a (DLMF 8.9.1)."""
    found = a + (2 * _LEVELS + 1)
    for n in range(_LEVELS, 0, -1):
        found = a + 2 * n - (a + n) * x / found
        found = a + (2 * n - 1) + n * x / found
    return 1 / (1 - x / found)


def _log_betainc_far_out(a: Array, b: Array, x: Array, y: Array) -> Array:
    """Compute ln I_x(a, b) far below the mean; y = 1 - x, and one of both is exact."""
    away = choose(less(x, y), x - a / (a + b), b / (a + b) - y)
    return log_betainc_far_out(a, b, x, away, log(x), log(y))


def log_betainc_far_out(
    a: Array, b: Array, x: Array, away: Array, log_x: Array, log_y: Array
) -> Array:
    """Compute ln I_x(a, b) far below the mean, from x less the mean, ln x and ln(1 - x)."""
    mean, rest = a / (a + b), b / (a + b)
    is_low = less(mean, rest)
    low, high = choose(is_low, a, b), choose(is_low, b, a)
    at = choose(is_low, mean, rest)
    at_mean = log(at * (1 - at) * incomplete.beta_density(low, high, at))
    rising = a * (_log_ratio(away, mean, log_x) - away / mean)
    falling = b * (_log_ratio(-away, rest, log_y) + away / rest)
    return at_mean + rising + falling - log(a) + log(_fraction_of_betainc(a, b, x))


def _fraction_of_betainc(a: Array, b: Array, x: Array) -> Array:
    """Compute I_x(a, b) a B(a, b) / (x^a (1-x)^b) far below the mean (DLMF 8.17.22).

    Factors are divided before they are multiplied, since a (a + b) may be above every float.
    """
    found = x * 0 + 1.0
    for n in range(_LEVELS, -1, -1):
        found = 1 - (a + n) / (a + 2 * n) * ((a + b + n) / (a + (2 * n + 1))) * x / found
        if n:
            found = 1 + n / (a + (2 * n - 1)) * ((b - n) / (a + 2 * n)) * x / found
    return 1 / found

"""Logarithms of the incomplete gamma and beta functions, also where these are below every float.

Where a tail is tiny, its logarithm is that of a power times a continued fraction, which converges
the faster the farther out the tail is: eight levels give all digits where the tail is below 1e-25,
for shapes up to 1e6. Where a tail is near 1, its logarithm is log1p of the other one. Formulas of
the NIST Digital Library of Mathematical Functions (DLMF). Read next: ``gamma.py``.
"""

from __future__ import annotations

from math import inf

from tenferro.arrays.functions.comparison import greater, less
from tenferro.arrays.functions.data_types import finfo
from tenferro.arrays.functions.elementwise import log, log1p
from tenferro.arrays.handle.array import Array
from tenferro.primitives import gammas, incomplete
from tenferro.primitives import special as p
from tenferro.stats._standard import broadcast, choose

_LEVELS = 8


def log_gammainc(a: Array, x: Array) -> Array:
    """Compute ln P(a, x) for x >= 0."""
    a, x = broadcast(a, x)
    tail, rest = incomplete.gammainc(a, x), incomplete.gammaincc(a, x)
    tiny = less(tail, smallest(x))
    low, shape = choose(tiny, x, 0.0), choose(tiny, a, 1.0)
    prefactor = shape * log(choose(tiny, x, 1.0)) - low - p.lgamma(shape + 1)
    return choose(tiny, prefactor + log(_lower(shape, low)), log_of(tail, rest, tiny))


def log_gammaincc(a: Array, x: Array) -> Array:
    """Compute ln Q(a, x) for x >= 0."""
    a, x = broadcast(a, x)
    tail, rest = incomplete.gammaincc(a, x), incomplete.gammainc(a, x)
    tiny = less(tail, smallest(x)) & less(x, inf)
    high, shape = choose(tiny, x, 1.0), choose(tiny, a, 1.0)
    prefactor = shape * log(high) - high - p.lgamma(shape)
    return choose(tiny, prefactor + log(_upper(shape, high)), log_of(tail, rest, tiny))


def log_betainc(a: Array, b: Array, x: Array) -> Array:
    """Compute ln I_x(a, b) for 0 <= x <= 1."""
    a, b, x = broadcast(a, b, x)
    tail, rest = incomplete.betainc(a, b, x), incomplete.betaincc(a, b, x)
    tiny = less(tail, smallest(x))
    deep = log_betainc_far_out(
        choose(tiny, a, 1.0), choose(tiny, b, 1.0), choose(tiny, x, 0.5),
        log(choose(tiny, x, 0.5)), log1p(-choose(tiny, x, 0.5)),
    )  # fmt: skip
    return choose(tiny, deep, log_of(tail, rest, tiny))


def log_betaincc(a: Array, b: Array, x: Array) -> Array:
    """Compute ln(1 - I_x(a, b)) for 0 <= x <= 1."""
    a, b, x = broadcast(a, b, x)
    tail, rest = incomplete.betaincc(a, b, x), incomplete.betainc(a, b, x)
    tiny = less(tail, smallest(x))
    inner = choose(tiny, x, 0.5)
    deep = log_betainc_far_out(
        choose(tiny, b, 1.0), choose(tiny, a, 1.0), 1 - inner, log1p(-inner), log(inner)
    )
    return choose(tiny, deep, log_of(tail, rest, tiny))


def smallest(x: Array) -> float:
    """Return the bound below which a tail is computed by its logarithm."""
    return float(finfo(x.dtype).smallest_normal ** (2 / 3))


def log_of(tail: Array, rest: Array, aside: Array) -> Array:
    """Compute ln(tail), from 1 - tail where that is less than ½; anything where ``aside`` holds."""
    is_near_one = greater(tail, rest)
    alone = log(choose(is_near_one | aside, 1.0, tail))
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


def log_betainc_far_out(a: Array, b: Array, x: Array, log_x: Array, log_rest: Array) -> Array:
    """Compute ln I_x(a, b) far below the mean, from x, ln x and ln(1 - x) (DLMF 8.17.22)."""
    found = x * 0 + 1.0
    for n in range(_LEVELS, -1, -1):
        found = 1 - (a + n) * (a + b + n) * x / ((a + 2 * n) * (a + (2 * n + 1))) / found
        if n:
            found = 1 + n * (b - n) * x / ((a + (2 * n - 1)) * (a + 2 * n)) / found
    return a * log_x + b * log_rest - log(a) - gammas.betaln(a, b) - log(found)

"""Counts of events: poisson, binomial. They are integers, and no derivative flows through them.

Up to a mean of 10, a count is the smallest k whose distribution function reaches a uniform number;
above, it is the first proposal that is accepted. One array may have elements of both kinds, and no
element depends on the others. Read next: ``ordering.py``.
"""

from __future__ import annotations

from math import pi
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._factories import filled
from tenferro.arrays.functions.arithmetic import minimum
from tenferro.arrays.functions.comparison import where
from tenferro.arrays.functions.elementwise import stop_gradient
from tenferro.arrays.functions.random._counting import smallest_count
from tenferro.arrays.functions.random._draws import prepared, signed
from tenferro.arrays.functions.random._rejection import Hat, accepted_count, binet
from tenferro.arrays.functions.random.keys import as_known_key
from tenferro.arrays.functions.reduction import all as all_of
from tenferro.arrays.functions.rounding import floor
from tenferro.arrays.handle.array import Array, evaluable
from tenferro.arrays.promotion.broadcast import cast, stretch
from tenferro.primitives import (
    DType,
    DTypeMismatchError,
    Handle,
    InvalidParameterError,
    exp,
    float64,
    int32,
    int64,
    log1p,
    sqrt,
)

__all__ = ["binomial", "poisson"]

_MAX_INVERTED_MEAN = 10.0  # Hörmann's constants are for means from here


def poisson(key: Any, lam: Any = 1.0, shape: Any = None, dtype: Any = int64) -> Array:
    """Draw Poisson numbers of mean ``lam``, as int32 or int64; lam gets no derivative.

    For lam <= 10 each is the smallest k with Q(k + 1, lam) >= u, Q the regularized incomplete gamma
    function and u uniform with 53 bits. Larger means are drawn by transformed rejection, PTRS of
    Hörmann (1993). A mean that is traced and out of range gives -1.

    Raises InvalidParameterError: if a mean is negative or nan, or counts may leave the dtype.

    >>> from tenferro import random
    >>> random.poisson(random.key(0), 3.5, (2, 3)).aval
    i64[2,3]
    """
    kind = _integer("poisson", dtype)
    size, _, (given,) = prepared("poisson", shape, float64, lam)
    given = stop_gradient(given)
    largest = _largest(kind)
    is_legal = (given >= 0) & (given <= largest - 10 * largest**0.5)
    _check("poisson", "lam", is_legal, lam, f"means >= 0 whose counts fit into {kind}")
    mean = stretch(where(is_legal, given, 0.0), size)
    is_large = mean > _MAX_INVERTED_MEAN
    few = _few_events(key, where(is_large, 0.0, mean))
    many = _many_events(key, is_large, where(is_large, mean, _MAX_INVERTED_MEAN), largest)
    return cast(where(is_legal, where(is_large, many, few), -1.0), kind)


def _few_events(key: Any, mean: Array) -> Array:
    u = abs(signed(key, mean.shape, float64, "poisson"))
    return smallest_count(lambda k, mean: mean / k, u, exp(-mean), mean)


def _many_events(key: Any, is_needed: Array, mean: Array, largest: float) -> Array:
    """Draw by PTRS, with the constants of its section 4."""
    b = 0.931 + 2.53 * sqrt(mean)
    alpha = (1.1239 + 1.1328 / (b - 3.4)) * mean * (2 * pi) ** 0.5
    hat = Hat(-0.059 + 0.02483 * b, b, mean + 0.43, alpha)
    known = as_known_key(key, "poisson")
    return accepted_count(_poisson_density, known, is_needed, hat, filled(mean, largest), mean)


def _poisson_density(k: Handle, mean: Handle) -> Handle:
    """Return √(2π) λ e^(-λ) λᵏ / k! = √x (λ/x)ˣ e^(x - λ - binet(x)), x being k + 1.

    The logarithms are those of numbers near 1 where f is large, so its error is about ε √λ.
    """
    x = k + 1
    excess = x - mean
    return sqrt(x) * exp(excess - x * log1p(excess / mean) - binet(x))


def binomial(key: Any, n: Any, p: Any, shape: Any = None, dtype: Any = int64) -> Array:
    """Draw the numbers of successes in ``n`` trials of probability ``p``, as int32 or int64.

    For n min(p, 1 - p) <= 10 the number of the rarer outcome is the smallest k with
    1 - I_s(k + 1, n - k) >= u, I the regularized incomplete beta function, s = min(p, 1 - p), and u
    uniform with 53 bits. Larger ones are drawn by transformed rejection, BTRS of Hörmann (1993).
    n and p get no derivative; traced ones out of range give -1.

    Raises InvalidParameterError: if a number of trials is negative or fractional, or a probability
    is not between 0 and 1.

    >>> from tenferro import random
    >>> random.binomial(random.key(0), 10, 0.25, (2, 3)).aval
    i64[2,3]
    """
    kind = _integer("binomial", dtype)
    size, _, (trials, chance) = prepared("binomial", shape, float64, n, p)
    trials, chance = stop_gradient(trials), stop_gradient(chance)
    is_count = (trials >= 0) & (floor(trials) == trials) & (trials <= _largest(kind))
    is_chance = (chance >= 0) & (chance <= 1)
    _check("binomial", "n", is_count, n, f"integers >= 0 that fit into {kind}")
    _check("binomial", "p", is_chance, p, "probabilities between 0 and 1")
    is_legal = is_count & is_chance
    count = stretch(where(is_legal, trials, 0.0), size)
    share = stretch(where(is_legal, chance, 0.0), size)
    rarer = minimum(share, 1 - share)
    found = _rarer_outcomes(key, count, rarer)
    found = where(share > 0.5, count - found, found)
    return cast(where(is_legal, found, -1.0), kind)


def _rarer_outcomes(key: Any, count: Array, share: Array) -> Array:
    """Draw for probabilities up to ½.   count: f64[*s]   share: f64[*s]   →   f64[*s]"""
    is_large = count * share > _MAX_INVERTED_MEAN
    few = _few_successes(key, count, where(is_large, 0.0, share))
    n, p = where(is_large, count, 2 * _MAX_INVERTED_MEAN), where(is_large, share, 0.5)
    found: Array = where(is_large, _many_successes(key, is_large, n, p), few)
    return found


def _few_successes(key: Any, count: Array, share: Array) -> Array:
    u = abs(signed(key, count.shape, float64, "binomial"))
    none = exp(count * log1p(-share))
    odds = share / (1 - share)
    return smallest_count(lambda k, n, odds: (n - k + 1) / k * odds, u, none, count, odds)


def _many_successes(key: Any, is_needed: Array, count: Array, share: Array) -> Array:
    """Draw by BTRS, with the constants of its section 3; there α belongs to f(k)/f(mode)."""
    spread = sqrt(count * share * (1 - share))
    b = 1.15 + 2.53 * spread
    top: Any = _binomial_density(floor((count + 1) * share), count, share)
    alpha = (2.83 + 5.1 / b) * spread * top
    hat = Hat(-0.0873 + 0.0248 * b + 0.01 * share, b, count * share + 0.5, alpha)
    known = as_known_key(key, "binomial")
    return accepted_count(_binomial_density, known, is_needed, hat, count, count, share)


def _binomial_density(k: Handle, n: Handle, p: Handle) -> Handle:
    """Return a multiple of pᵏ qⁿ⁻ᵏ / (k! (n - k)!), q being 1 - p.

    It is √(x y) (N p/x)ˣ (N q/y)ʸ e^(-binet(x) - binet(y)), x = k + 1, y = n - k + 1, N = x + y.
    """
    x, y, total, q = k + 1, n - k + 1, n + 2, 1 - p
    excess = x - total * p
    exponent = x * log1p(excess / (total * p)) + y * log1p(-excess / (total * q))
    return sqrt(x * y) * exp(-exponent - binet(x) - binet(y))


def _integer(function: str, dtype: Any) -> DType:
    kind = DType.of(dtype)
    if kind not in (int32, int64):
        error = DTypeMismatchError.of(
            f"random.{function}", "counts have another dtype", got=kind, need="int32 or int64",
            dtypes=(kind,),
        )  # fmt: skip
        raise at_user_line(error)
    return kind


def _largest(dtype: DType) -> float:
    """Return the largest float64 whose integer part is in the range of a dtype."""
    return (1 - 2.0**-53) * 2.0 ** (dtype.bits - 1)


def _check(function: str, parameter: str, is_legal: Array, value: Any, need: str) -> None:
    if evaluable(is_legal.key) and not bool(all_of(is_legal)):
        error = InvalidParameterError.of(
            f"random.{function}", f"{parameter} is out of range", got=f"{parameter}={value}",
            need=need, parameter=parameter, value=value,
        )  # fmt: skip
        raise at_user_line(error)

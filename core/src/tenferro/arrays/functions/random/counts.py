"""Counts of events: poisson, binomial. They are integers, and no derivative flows through them.

A count is the smallest k whose distribution function reaches a uniform number, so it does not
decrease in the mean for one key. The search begins at the expansion of Cornish & Fisher (1938), and
halves 64 candidates six times. Read next: ``ordering.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._factories import filled
from tenferro.arrays.functions.arithmetic import clip, maximum, minimum
from tenferro.arrays.functions.comparison import where
from tenferro.arrays.functions.elementwise import stop_gradient
from tenferro.arrays.functions.random._draws import prepared, signed
from tenferro.arrays.functions.reduction import all as all_of
from tenferro.arrays.functions.rounding import floor
from tenferro.arrays.handle.array import Array, evaluable
from tenferro.arrays.promotion.broadcast import cast, stretch
from tenferro.primitives import (
    DType,
    DTypeMismatchError,
    InvalidParameterError,
    betaincc,
    float64,
    gammaincc,
    int32,
    int64,
    ndtri,
    sqrt,
)

__all__ = ["binomial", "poisson"]

_HALVINGS = 6
_CANDIDATES = 2**_HALVINGS


def poisson(key: Any, lam: Any = 1.0, shape: Any = None, dtype: Any = int64) -> Array:
    """Draw Poisson numbers of mean ``lam``, as int32 or int64; lam gets no derivative.

    Each is the smallest k with Q(k + 1, lam) >= u, Q the regularized incomplete gamma function and
    u uniform with 53 bits. A mean that is traced and out of range gives -1.

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
    u = abs(signed(key, size, float64, "poisson"))
    z = ndtri(u)
    first = mean + z * sqrt(mean) + (z * z - 1) / 6

    def reached(count: Array) -> Array:
        return gammaincc(count + 1, mean) >= u

    return cast(where(is_legal, _smallest(first, reached), -1.0), kind)


def binomial(key: Any, n: Any, p: Any, shape: Any = None, dtype: Any = int64) -> Array:
    """Draw the numbers of successes in ``n`` trials of probability ``p``, as int32 or int64.

    Each is the smallest k with 1 - I_p(k + 1, n - k) >= u, I the regularized incomplete beta
    function and u uniform with 53 bits. n and p get no derivative; traced ones out of range give
    -1.

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
    u = abs(signed(key, size, float64, "binomial"))
    z = ndtri(u)
    first = count * share + z * sqrt(count * share * (1 - share))
    first = minimum(first + (1 - 2 * share) * (z * z - 1) / 6, count)

    def reached(found: Array) -> Array:
        is_inside = found < count
        inner = where(is_inside, found, 0.0)
        rest = where(is_inside, count - inner, 1.0)
        return ~is_inside | (betaincc(inner + 1, rest, share) >= u)

    return cast(where(is_legal, _smallest(first, reached), -1.0), kind)


def _smallest(first: Array, reached: Callable[[Array], Array]) -> Array:
    """Return the smallest of 64 whole numbers >= 0 about ``first`` that satisfies a condition."""
    low = maximum(floor(first) - _CANDIDATES // 2, -1.0)
    width = _CANDIDATES
    for _ in range(_HALVINGS):
        width //= 2
        middle = low + width
        low = where(reached(clip(middle, 0.0, None)), low, middle)
    return low + filled(low, 1)


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
    return 2.0 ** (dtype.bits - 1) - 1


def _check(function: str, parameter: str, is_legal: Array, value: Any, need: str) -> None:
    if evaluable(is_legal.key) and not bool(all_of(is_legal)):
        error = InvalidParameterError.of(
            f"random.{function}", f"{parameter} is out of range", got=f"{parameter}={value}",
            need=need, parameter=parameter, value=value,
        )  # fmt: skip
        raise at_user_line(error)

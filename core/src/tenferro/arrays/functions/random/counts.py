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
from tenferro.arrays.functions.arithmetic import maximum, minimum
from tenferro.arrays.functions.comparison import where
from tenferro.arrays.functions.elementwise import stop_gradient
from tenferro.arrays.functions.random._draws import prepared, signed
from tenferro.arrays.functions.reduction import all as all_of
from tenferro.arrays.functions.rounding import floor
from tenferro.arrays.handle.array import Array, evaluable
from tenferro.arrays.promotion.broadcast import cast, stretch
from tenferro.computegraph import Fragment
from tenferro.primitives import (
    DType,
    DTypeMismatchError,
    Handle,
    InvalidParameterError,
    betaincc,
    float64,
    full_like,
    gammaincc,
    ge,
    int32,
    int64,
    logical_not,
    logical_or,
    lt,
    ndtri,
    scan,
    select,
    sqrt,
    variable,
    zeros_like,
)
from tenferro.primitives import maximum as highest

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
    found = _smallest(_is_poisson_reached, first, u, mean)
    return cast(where(is_legal, found, -1.0), kind)


def _is_poisson_reached(k: Handle, u: Handle, mean: Handle) -> Handle:
    return ge(gammaincc(k + 1, mean), u)


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
    found = _smallest(_is_binomial_reached, first, u, count, share)
    return cast(where(is_legal, found, -1.0), kind)


def _is_binomial_reached(k: Handle, u: Handle, count: Handle, share: Handle) -> Handle:
    is_inside = lt(k, count)
    inner = select(is_inside, k, zeros_like(k))
    rest = select(is_inside, count - inner, full_like(k, 1))
    return logical_or(logical_not(is_inside), ge(betaincc(inner + 1, rest, share), u))


def _smallest(is_reached: Callable[..., Handle], first: Array, *parameters: Array) -> Array:
    """Return the smallest of 64 whole numbers >= 0 about ``first`` that satisfies a condition.

    A loop is compiled once, which matters where the condition is an integral.
    """
    start = maximum(floor(first) - _CANDIDATES // 2, -1.0)
    low, step = (variable(name, start.shape, float64) for name in ("low", "step"))
    given = [variable(f"p{i}", start.shape, float64) for i in range(len(parameters))]
    middle = low + step
    reached = is_reached(highest(middle, zeros_like(middle)), *given)
    after = select(reached, low, middle)
    body = Fragment.of([h.key for h in (*given, low, step)], [after.key, (step * 0.5).key])
    carry = (start, filled(start, _CANDIDATES // 2))
    found: Any = scan(body, parameters, carry, (), _HALVINGS)[0]
    return cast(found, float64) + 1.0


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

"""The multinomial distribution, as ``scipy.stats.multinomial``: counts of n trials by outcome.

As there, outcomes are along the last axis. Probabilities that do not add up to 1 give nan, where
SciPy replaces the last one: a derivative by one probability leaves the others as they are.
Derivatives by the counts x and by the number of trials n are refused.
"""

from __future__ import annotations

from math import inf
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.arithmetic import absolute
from tenferro.arrays.functions.comparison import equal, less_equal
from tenferro.arrays.functions.data_types import finfo
from tenferro.arrays.functions.elementwise import exp
from tenferro.arrays.functions.reduction import all as all_of
from tenferro.arrays.functions.reduction import any as any_of
from tenferro.arrays.functions.reduction import sum as sum_of
from tenferro.arrays.functions.special import xlogy
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.primitives import ShapeMismatchError
from tenferro.primitives import special as p_of
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._counts import counts, integer, is_count, is_share
from tenferro.stats._standard import choose, operands, with_flaw

__all__ = ["logpmf", "pmf"]

_DISTANCE = 1e-9  # of the sum of probabilities from 1; more if the dtype has a larger error


def logpmf(x: Any, n: Any, p: Any) -> Array:
    """Compute the logarithm of the probability of the counts x; -inf unless they add up to n.

    x: f[*s, k]   n: f[*s]   p: f[*s, k]   →   y: f[*s]

    >>> from tenferro.stats import multinomial
    >>> round(float(multinomial.logpmf([1, 1], 2, [0.5, 0.5])), 12)  # ln ½
    -0.69314718056
    """
    return _log_probability("multinomial.logpmf", x, n, p)


def pmf(x: Any, n: Any, p: Any) -> Array:
    """Compute the probability of the counts x; 0 unless they add up to n.

    x: f[*s, k]   n: f[*s]   p: f[*s, k]   →   y: f[*s]
    """
    return exp(_log_probability("multinomial.pmf", x, n, p))


def _log_probability(function: str, x: Any, n: Any, p: Any) -> Array:
    """Compute ln n! + Σ (xᵢ ln pᵢ - ln xᵢ!).

    Raises ShapeMismatchError: if x and p have other numbers of outcomes.
    """
    given, trials, shares = operands(function, x, n, p, broadcasts=False)
    if not (given.ndim and shares.ndim) or given.shape[-1] != shares.shape[-1]:
        error = ShapeMismatchError.of(
            function, "counts and probabilities do not fit together",
            got=f"{given.aval}, {shares.aval}", need="x [..., k], p [..., k], k >= 1",
            shapes=(given.shape, shares.shape),
        )  # fmt: skip
        raise at_user_line(error)
    distance = absolute(sum_of(shares, axis=-1) - 1)
    tolerance = max(_DISTANCE, 4 * shares.shape[-1] * finfo(shares.dtype).eps)
    is_legal = all_of(is_share(shares), axis=-1) & less_equal(distance, tolerance)
    shares = with_flaw(shares, is_legal[..., None])
    trials = as_array(integer("multinomial", "n")(with_flaw(trials, is_count(trials))))
    at = counts("multinomial", given, "x")
    is_outside = any_of(at.is_no_count, axis=-1) | ~equal(sum_of(at.k, axis=-1), trials)
    k = choose(is_outside[..., None], 0.0, at.k)
    found = sum_of(xlogy(k, shares) - p_of.lgamma(k + 1), axis=-1) + p_of.lgamma(trials + 1)
    return choose(is_outside, found * 0 - inf, found)


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

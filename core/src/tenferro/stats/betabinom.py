"""The beta-binomial distribution, as ``scipy.stats.betabinom``: a binomial one of a random share.

Derivatives by the count k and by the number of trials n are refused.
"""

from __future__ import annotations

from math import inf
from typing import Any

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.comparison import greater
from tenferro.arrays.functions.elementwise import exp, log
from tenferro.arrays.functions.special import betaln
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._counts import counts, integer, is_count
from tenferro.stats._standard import Standard, choose, is_positive, standard

__all__ = ["logpmf", "pmf"]


def logpmf(k: Any, n: Any, a: Any, b: Any, loc: Any = 0) -> Array:
    """Compute the logarithm of the probability of k; -inf if k is not a count up to n.

    >>> from tenferro.stats import betabinom
    >>> round(float(betabinom.logpmf(1, 1, 1.0, 1.0)), 12)  # ln ½
    -0.69314718056
    """
    given, is_outside, value = _log_probability("betabinom.logpmf", k, n, a, b, loc)
    return given.outside(is_outside, -inf, value)


def pmf(k: Any, n: Any, a: Any, b: Any, loc: Any = 0) -> Array:
    """Compute the probability of k; 0 if k is not a count up to n."""
    given, is_outside, value = _log_probability("betabinom.pmf", k, n, a, b, loc)
    return given.outside(is_outside, 0.0, exp(value))


def _log_probability(
    function: str, k: Any, n: Any, a: Any, b: Any, loc: Any
) -> tuple[Standard, Array, Array]:
    """Compute ln(C(n, k) B(k + a, n - k + b) / B(a, b))."""
    legal = (is_count, is_positive, is_positive)
    given = standard(function, k, loc, 1, n, a, b, legal=legal)
    n, a, b = given.shapes
    n = as_array(integer("betabinom", "n")(n))
    at = counts("betabinom", given.z)
    is_outside = at.is_no_count | greater(at.k, n)
    k = choose(is_outside, 0.0, at.k)
    ways = -betaln(k + 1, n - k + 1) - log(n + 1)
    return given, is_outside, ways + betaln(k + a, n - k + b) - betaln(a, b)


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

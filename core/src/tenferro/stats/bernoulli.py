"""Bernoulli's distribution of one trial of probability p, as ``scipy.stats.bernoulli``.

A derivative by the outcome k is refused; one by p exists everywhere, at 0 and 1 too.
"""

from __future__ import annotations

from math import inf
from typing import Any

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.comparison import greater, greater_equal
from tenferro.arrays.functions.elementwise import log, log1p
from tenferro.arrays.functions.special import xlog1py, xlogy
from tenferro.arrays.handle.array import Array
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._counts import Counts, counts, is_share
from tenferro.stats._standard import Standard, choose, standard

__all__ = ["cdf", "logcdf", "logpmf", "logsf", "pmf", "sf"]


def logpmf(k: Any, p: Any, loc: Any = 0) -> Array:
    """Compute the logarithm of the probability of k; -inf if k is neither 0 nor 1.

    >>> from tenferro.stats import bernoulli
    >>> float(bernoulli.logpmf(1, 0.5))
    -0.6931471805599453
    """
    given, at, p = _places("bernoulli.logpmf", k, p, loc)
    is_outside = at.is_no_count | greater(at.k, 1)
    k = choose(is_outside, 0.0, at.k)
    return given.outside(is_outside, -inf, xlogy(k, p) + xlog1py(1 - k, -p))


def pmf(k: Any, p: Any, loc: Any = 0) -> Array:
    """Compute the probability of k; 0 if k is neither 0 nor 1."""
    given, at, p = _places("bernoulli.pmf", k, p, loc)
    found = choose(greater(at.k, 0), p, 1 - p) + 0 * at.k
    return given.outside(at.is_no_count | greater(at.k, 1), 0.0, found)


def cdf(k: Any, p: Any, loc: Any = 0) -> Array:
    """Compute the probability of at most k."""
    given, at, p = _places("bernoulli.cdf", k, p, loc)
    return _with_ends(given, at, 0.0, 1 - p, 1.0)


def logcdf(k: Any, p: Any, loc: Any = 0) -> Array:
    """Compute the logarithm of ``cdf``."""
    given, at, p = _places("bernoulli.logcdf", k, p, loc)
    return _with_ends(given, at, -inf, log1p(-p), 0.0)


def sf(k: Any, p: Any, loc: Any = 0) -> Array:
    """Compute the probability of more than k."""
    given, at, p = _places("bernoulli.sf", k, p, loc)
    return _with_ends(given, at, 1.0, p, 0.0)


def logsf(k: Any, p: Any, loc: Any = 0) -> Array:
    """Compute the logarithm of ``sf``."""
    given, at, p = _places("bernoulli.logsf", k, p, loc)
    return _with_ends(given, at, 0.0, log(p), -inf)


def _places(function: str, k: Any, p: Any, loc: Any) -> tuple[Standard, Counts, Array]:
    given = standard(function, k, loc, 1, p, legal=is_share)
    return given, counts("bernoulli", given.z), given.shapes[0]


def _with_ends(given: Standard, at: Counts, low: float, value: Array, high: float) -> Array:
    inner = given.outside(greater_equal(at.k, 1), high, value + 0 * at.k)
    return at.with_ends(given, low, inner, high)


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

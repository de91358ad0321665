"""The Poisson distribution of mean mu, as ``scipy.stats.poisson``.

A derivative by the count k is refused: a probability is 0 between two counts. One by mu exists
everywhere. The logarithms of tails keep all digits where the tails are below every float.
"""

from __future__ import annotations

from math import inf
from typing import Any

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.comparison import greater_equal
from tenferro.arrays.functions.special import xlogy
from tenferro.arrays.handle.array import Array
from tenferro.primitives import incomplete
from tenferro.primitives import special as p
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._counts import Counts, counts
from tenferro.stats._log_tails import log_gammainc, log_gammaincc
from tenferro.stats._standard import Standard, broadcast, standard

__all__ = ["cdf", "logcdf", "logpmf", "logsf", "pmf", "sf"]


def logpmf(k: Any, mu: Any, loc: Any = 0) -> Array:
    """Compute the logarithm of the probability of k; -inf if k is not a count.

    >>> from tenferro.stats import poisson
    >>> float(poisson.logpmf(0, 2.5))
    -2.5
    """
    given, at, mean = _places("poisson.logpmf", k, mu, loc)
    found = xlogy(at.k, mean) - p.lgamma(at.k + 1) - mean
    return given.outside(at.is_no_count, -inf, found)


def pmf(k: Any, mu: Any, loc: Any = 0) -> Array:
    """Compute the probability of k; 0 if k is not a count."""
    given, at, mean = _places("poisson.pmf", k, mu, loc)
    shape, mean = broadcast(at.k + 1, mean)
    found = incomplete.gamma_density(shape, mean)
    return given.outside(at.is_no_count, 0.0, found)


def cdf(k: Any, mu: Any, loc: Any = 0) -> Array:
    """Compute the probability of at most k."""
    given, at, mean = _places("poisson.cdf", k, mu, loc)
    return at.with_ends(given, 0.0, incomplete.gammaincc(*broadcast(at.k + 1, mean)), 1.0)


def logcdf(k: Any, mu: Any, loc: Any = 0) -> Array:
    """Compute the logarithm of ``cdf``, also where that underflows."""
    given, at, mean = _places("poisson.logcdf", k, mu, loc)
    return at.with_ends(given, -inf, log_gammaincc(at.k + 1, mean), 0.0)


def sf(k: Any, mu: Any, loc: Any = 0) -> Array:
    """Compute the probability of more than k, with all digits where it is small."""
    given, at, mean = _places("poisson.sf", k, mu, loc)
    return at.with_ends(given, 1.0, incomplete.gammainc(*broadcast(at.k + 1, mean)), 0.0)


def logsf(k: Any, mu: Any, loc: Any = 0) -> Array:
    """Compute the logarithm of ``sf``, also where that underflows."""
    given, at, mean = _places("poisson.logsf", k, mu, loc)
    return at.with_ends(given, 0.0, log_gammainc(at.k + 1, mean), -inf)


def _places(function: str, k: Any, mu: Any, loc: Any) -> tuple[Standard, Counts, Array]:
    given = standard(function, k, loc, 1, mu, legal=lambda mu: greater_equal(mu, 0))
    return given, counts("poisson", given.z), given.shapes[0]


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

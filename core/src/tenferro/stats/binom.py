"""The binomial distribution, as ``scipy.stats.binom``: successes of n trials of probability p.

With n = 1 it is the distribution of Bernoulli. Derivatives by the count k and by the number of
trials n are refused; one by p exists everywhere, at 0 and 1 too.
"""

from __future__ import annotations

from math import inf
from typing import Any

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.comparison import greater, greater_equal
from tenferro.arrays.functions.elementwise import log
from tenferro.arrays.functions.special import betaln, xlog1py, xlogy
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.primitives import incomplete
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._counts import Counts, counts, integer, is_count, is_share
from tenferro.stats._log_tails import log_betainc, log_betaincc
from tenferro.stats._standard import Standard, broadcast, choose, standard

__all__ = ["cdf", "logcdf", "logpmf", "logsf", "pmf", "sf"]


def logpmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """Compute the logarithm of the probability of k; -inf if k is not a count up to n.

    >>> from tenferro.stats import binom
    >>> float(binom.logpmf(1, 1, 0.5))
    -0.6931471805599453
    """
    given, at, n, p = _places("binom.logpmf", k, n, p, loc)
    is_outside = at.is_no_count | greater(at.k, n)
    k = choose(is_outside, 0.0, at.k)
    found = xlogy(k, p) + xlog1py(n - k, -p) - betaln(k + 1, n - k + 1) - log(n + 1)
    return given.outside(is_outside, -inf, found)


def pmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """Compute the probability of k; 0 if k is not a count up to n."""
    given, at, n, p = _places("binom.pmf", k, n, p, loc)
    is_outside = at.is_no_count | greater(at.k, n)
    k = choose(is_outside, 0.0, at.k)
    low, high, share = broadcast(k + 1, n - k + 1, p)
    found = incomplete.beta_density(low, high, share) / (n + 1)
    return given.outside(is_outside, 0.0, found)


def cdf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """Compute the probability of at most k."""
    given, at, n, p = _places("binom.cdf", k, n, p, loc)
    low, high, is_last = _shapes(at, n)
    return _with_ends(given, at, is_last, 0.0, incomplete.betaincc(*broadcast(low, high, p)), 1.0)


def logcdf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """Compute the logarithm of ``cdf``, also where that underflows."""
    given, at, n, p = _places("binom.logcdf", k, n, p, loc)
    low, high, is_last = _shapes(at, n)
    return _with_ends(given, at, is_last, -inf, log_betaincc(low, high, p), 0.0)


def sf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """Compute the probability of more than k, with all digits where it is small."""
    given, at, n, p = _places("binom.sf", k, n, p, loc)
    low, high, is_last = _shapes(at, n)
    return _with_ends(given, at, is_last, 1.0, incomplete.betainc(*broadcast(low, high, p)), 0.0)


def logsf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """Compute the logarithm of ``sf``, also where that underflows."""
    given, at, n, p = _places("binom.logsf", k, n, p, loc)
    low, high, is_last = _shapes(at, n)
    return _with_ends(given, at, is_last, 0.0, log_betainc(low, high, p), -inf)


def _places(
    function: str, k: Any, n: Any, p: Any, loc: Any
) -> tuple[Standard, Counts, Array, Array]:
    given = standard(function, k, loc, 1, n, p, legal=(is_count, is_share))
    trials, share = given.shapes
    trials = as_array(integer("binom", "n")(trials))
    return given, counts("binom", given.z), trials, share


def _shapes(at: Counts, n: Array) -> tuple[Array, Array, Array]:
    """Return the shapes of the beta distribution of more than k, and where k is at least n."""
    is_last = greater_equal(at.k, n)
    return at.k + 1, choose(is_last, 1.0, n - at.k), is_last


def _with_ends(
    given: Standard, at: Counts, is_last: Array, low: float, value: Array, high: float
) -> Array:
    return at.with_ends(given, low, given.outside(is_last, high, value), high)


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

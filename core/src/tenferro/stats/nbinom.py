"""The negative binomial distribution, as ``scipy.stats.nbinom``.

It counts the failures before the n-th success, each of probability p; n is any positive number.
With the mean μ and the variance μ + α μ², as in regressions of counts, n = 1/α and p = n/(n + μ).
Where α μ is below 1e-16, p is rounded to 1, and the Poisson distribution is the one to take.
A derivative by the count k is refused, those by n and p exist everywhere.
"""

from __future__ import annotations

from math import inf
from typing import Any

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.comparison import greater, less_equal
from tenferro.arrays.functions.elementwise import log
from tenferro.arrays.functions.special import betaln, xlog1py
from tenferro.arrays.handle.array import Array
from tenferro.primitives import incomplete
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._counts import Counts, counts
from tenferro.stats._log_tails import log_betainc, log_betaincc
from tenferro.stats._standard import Standard, broadcast, standard

__all__ = ["cdf", "logcdf", "logpmf", "logsf", "pmf", "sf"]


def logpmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """Compute the logarithm of the probability of k; -inf if k is not a count.

    >>> from tenferro.stats import nbinom
    >>> float(nbinom.logpmf(0, 1.0, 0.5))
    -0.6931471805599453
    """
    given, at, n, p = _places("nbinom.logpmf", k, n, p, loc)
    found = n * log(p) + xlog1py(at.k, -p) - betaln(n, at.k + 1) - log(at.k + n)
    return given.outside(at.is_no_count, -inf, found)


def pmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """Compute the probability of k; 0 if k is not a count."""
    given, at, n, p = _places("nbinom.pmf", k, n, p, loc)
    low, high, share = broadcast(n, at.k + 1, p)
    found = incomplete.beta_density(low, high, share) * share / (at.k + n)
    return given.outside(at.is_no_count, 0.0, found)


def cdf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """Compute the probability of at most k."""
    given, at, n, p = _places("nbinom.cdf", k, n, p, loc)
    return at.with_ends(given, 0.0, incomplete.betainc(*broadcast(n, at.k + 1, p)), 1.0)


def logcdf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """Compute the logarithm of ``cdf``, also where that underflows."""
    given, at, n, p = _places("nbinom.logcdf", k, n, p, loc)
    return at.with_ends(given, -inf, log_betainc(n, at.k + 1, p), 0.0)


def sf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """Compute the probability of more than k, with all digits where it is small."""
    given, at, n, p = _places("nbinom.sf", k, n, p, loc)
    return at.with_ends(given, 1.0, incomplete.betaincc(*broadcast(n, at.k + 1, p)), 0.0)


def logsf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """Compute the logarithm of ``sf``, also where that underflows."""
    given, at, n, p = _places("nbinom.logsf", k, n, p, loc)
    return at.with_ends(given, 0.0, log_betaincc(n, at.k + 1, p), -inf)


def _places(
    function: str, k: Any, n: Any, p: Any, loc: Any
) -> tuple[Standard, Counts, Array, Array]:
    given = standard(function, k, loc, 1, n, p, legal=(_is_size, _is_share))
    size, share = given.shapes
    return given, counts("nbinom", given.z), size, share


def _is_size(n: Array) -> Array:
    return greater(n, 0)


def _is_share(p: Array) -> Array:
    found: Array = greater(p, 0) & less_equal(p, 1)
    return found


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

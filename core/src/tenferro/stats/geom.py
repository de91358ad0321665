"""The geometric distribution, as ``scipy.stats.geom``: the trials up to the first success.

Each succeeds with probability p, 0 < p <= 1, and k is at least 1. A derivative by the count k is
refused; one by p exists everywhere, at 1 too.
"""

from __future__ import annotations

from math import inf
from typing import Any

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.arithmetic import power
from tenferro.arrays.functions.comparison import greater, less, less_equal
from tenferro.arrays.functions.elementwise import exp, expm1, log, log1p
from tenferro.arrays.functions.special import xlog1py
from tenferro.arrays.handle.array import Array
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._counts import Counts, counts
from tenferro.stats._standard import Standard, choose, log1mexp, standard

__all__ = ["cdf", "logcdf", "logpmf", "logsf", "pmf", "sf"]


def logpmf(k: Any, p: Any, loc: Any = 0) -> Array:
    """Compute the logarithm of the probability of k; -inf if k is not a count from 1 on.

    >>> from tenferro.stats import geom
    >>> float(geom.logpmf(1, 0.5))
    -0.6931471805599453
    """
    given, at, p = _places("geom.logpmf", k, p, loc)
    return given.outside(at.is_no_count, -inf, xlog1py(at.k, -p) + log(p))


def pmf(k: Any, p: Any, loc: Any = 0) -> Array:
    """Compute the probability of k; 0 if k is not a count from 1 on."""
    given, at, p = _places("geom.pmf", k, p, loc)
    return given.outside(at.is_no_count, 0.0, p * _all_fail(at.k, p))


def cdf(k: Any, p: Any, loc: Any = 0) -> Array:
    """Compute the probability of at most k."""
    given, at, p = _places("geom.cdf", k, p, loc)
    is_small = less(p, 0.5)
    near = -expm1((at.k + 1) * log1p(-choose(is_small, p, 0.25)))
    found = choose(is_small, near, 1 - power(1 - choose(is_small, 1.0, p), at.k + 1))
    return at.with_ends(given, 0.0, found, 1.0)


def logcdf(k: Any, p: Any, loc: Any = 0) -> Array:
    """Compute the logarithm of ``cdf``."""
    given, at, p = _places("geom.logcdf", k, p, loc)
    is_small = less(p, 0.5)
    near = log1mexp(-(at.k + 1) * log1p(-choose(is_small, p, 0.25)))
    found = choose(is_small, near, log1p(-power(1 - choose(is_small, 1.0, p), at.k + 1)))
    return at.with_ends(given, -inf, found, 0.0)


def sf(k: Any, p: Any, loc: Any = 0) -> Array:
    """Compute the probability of more than k, with all digits where it is small."""
    given, at, p = _places("geom.sf", k, p, loc)
    return at.with_ends(given, 1.0, _all_fail(at.k + 1, p), 0.0)


def logsf(k: Any, p: Any, loc: Any = 0) -> Array:
    """Compute the logarithm of ``sf``, also where that underflows."""
    given, at, p = _places("geom.logsf", k, p, loc)
    return at.with_ends(given, 0.0, xlog1py(at.k + 1, -p), -inf)


def _all_fail(trials: Array, p: Array) -> Array:
    """Compute (1 - p)ⁿ: by its logarithm where 1 - p is rounded, else as a power."""
    is_small = less(p, 0.5)
    near = exp(trials * log1p(-choose(is_small, p, 0.25)))
    return choose(is_small, near, power(1 - choose(is_small, 1.0, p), trials))


def _places(function: str, k: Any, p: Any, loc: Any) -> tuple[Standard, Counts, Array]:
    """Return the failures before the first success as counts, and p."""
    given = standard(function, k, loc, 1, p, legal=_is_share)
    return given, counts("geom", given.z - 1), given.shapes[0]


def _is_share(p: Array) -> Array:
    found: Array = greater(p, 0) & less_equal(p, 1)
    return found


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

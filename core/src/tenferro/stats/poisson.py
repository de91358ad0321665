"""The Poisson distribution of mean mu, as ``scipy.stats.poisson``.

A derivative by the count k is refused: a probability is 0 between two counts. One by mu exists
everywhere. The logarithms of tails keep all digits where the tails are below every float.
"""

from __future__ import annotations

from math import inf
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.comparison import equal, greater, greater_equal, less
from tenferro.arrays.functions.elementwise import stop_gradient
from tenferro.arrays.functions.rounding import floor
from tenferro.arrays.functions.special import xlogy
from tenferro.arrays.handle.array import Array
from tenferro.primitives import incomplete
from tenferro.primitives import special as p
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._log_tails import log_gammainc, log_gammaincc
from tenferro.stats._standard import Standard, broadcast, choose, standard
from tenferro.tidu import MissingRuleError
from tenferro.transforms import custom_jvp

__all__ = ["cdf", "logcdf", "logpmf", "logsf", "pmf", "sf"]


class _Places(NamedTuple):
    """The count (0 where k is below 0 or infinite), the mean, and where k is not a count."""

    k: Array
    mu: Array
    is_below: Array
    is_between: Array
    is_endless: Array

    @property
    def is_no_count(self) -> Array:
        return self.is_below | self.is_between | self.is_endless


def logpmf(k: Any, mu: Any, loc: Any = 0) -> Array:
    """Compute the logarithm of the probability of k; -inf if k is not a count.

    >>> from tenferro.stats import poisson
    >>> float(poisson.logpmf(0, 2.5))
    -2.5
    """
    given, at = _places("poisson.logpmf", k, mu, loc)
    found = xlogy(at.k, at.mu) - p.lgamma(at.k + 1) - at.mu
    return given.outside(at.is_no_count, -inf, found)


def pmf(k: Any, mu: Any, loc: Any = 0) -> Array:
    """Compute the probability of k; 0 if k is not a count."""
    given, at = _places("poisson.pmf", k, mu, loc)
    shape, mean = broadcast(at.k + 1, at.mu)
    found = incomplete.gamma_density(shape, mean)
    return given.outside(at.is_no_count, 0.0, found)


def cdf(k: Any, mu: Any, loc: Any = 0) -> Array:
    """Compute the probability of at most k."""
    given, at = _places("poisson.cdf", k, mu, loc)
    return _with_ends(given, at, 0.0, incomplete.gammaincc(*broadcast(at.k + 1, at.mu)), 1.0)


def logcdf(k: Any, mu: Any, loc: Any = 0) -> Array:
    """Compute the logarithm of ``cdf``, also where that underflows."""
    given, at = _places("poisson.logcdf", k, mu, loc)
    return _with_ends(given, at, -inf, log_gammaincc(at.k + 1, at.mu), 0.0)


def sf(k: Any, mu: Any, loc: Any = 0) -> Array:
    """Compute the probability of more than k, with all digits where it is small."""
    given, at = _places("poisson.sf", k, mu, loc)
    return _with_ends(given, at, 1.0, incomplete.gammainc(*broadcast(at.k + 1, at.mu)), 0.0)


def logsf(k: Any, mu: Any, loc: Any = 0) -> Array:
    """Compute the logarithm of ``sf``, also where that underflows."""
    given, at = _places("poisson.logsf", k, mu, loc)
    return _with_ends(given, at, 0.0, log_gammainc(at.k + 1, at.mu), -inf)


def _with_ends(given: Standard, at: _Places, low: float, value: Array, high: float) -> Array:
    return given.outside(at.is_below, low, given.outside(at.is_endless, high, value))


@custom_jvp
def _count(k: Array) -> Array:
    return k


@_count.defjvp
def _refuse_derivative(primals: Any, tangents: Any) -> Any:
    """Refuse a derivative by the count; without this rule it would be 0, silently."""
    raise MissingRuleError(
        "poisson: there is no derivative with respect to the count k\n"
        "  hint       differentiate with respect to mu, or give k as integers",
        primitive="poisson",
        rule="jvp_k",
        provider="tenferro.stats",
    )


def _places(function: str, k: Any, mu: Any, loc: Any) -> tuple[Standard, _Places]:
    given = standard(function, k, loc, 1, mu, legal=lambda mu: greater_equal(mu, 0))
    count = _count(given.z)
    whole, is_below, is_endless = floor(count), less(count, 0), equal(count, inf)
    excess = choose(is_endless, 0.0, stop_gradient(count - whole))  # floor alone has the slope 0
    inner = choose(is_below | is_endless, 0.0, count - excess)
    between = greater(count, whole)
    return given, _Places(inner, given.shapes[0], is_below, between, is_endless)


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

"""The beta distribution of shapes a and b, as ``scipy.stats.beta``.

The logarithms of tails keep all digits where the tails themselves are below every float.
"""

from __future__ import annotations

from math import inf
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.comparison import greater, less
from tenferro.arrays.functions.special import betaln, xlog1py, xlogy
from tenferro.arrays.handle.array import Array
from tenferro.primitives import incomplete
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._log_tails import log_betainc, log_betaincc
from tenferro.stats._standard import Standard, broadcast, choose, standard

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


class _Places(NamedTuple):
    """The shapes, z inside of the support (½ elsewhere), and where it is outside."""

    a: Array
    b: Array
    z: Array
    is_below: Array
    is_above: Array


def logpdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of the density; -inf outside of the support.

    >>> from tenferro.stats import beta
    >>> float(beta.logpdf(0.25, 1.0, 1.0))
    0.0
    """
    given, at = _places("beta.logpdf", x, a, b, loc, scale)
    found = xlogy(at.a - 1, at.z) + xlog1py(at.b - 1, -at.z) - betaln(at.a, at.b)
    return given.log_density(given.outside(at.is_below | at.is_above, -inf, found))


def pdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the density; 0 outside of the support."""
    given, at = _places("beta.pdf", x, a, b, loc, scale)
    low, high, place = broadcast(at.a, at.b, at.z)
    found = incomplete.beta_density(low, high, place)
    return given.density(given.outside(at.is_below | at.is_above, 0.0, found))


def cdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of at most x."""
    given, at = _places("beta.cdf", x, a, b, loc, scale)
    found = incomplete.betainc(*broadcast(at.a, at.b, at.z))
    return _with_ends(given, at, 0.0, found, 1.0)


def logcdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``cdf``, also where that underflows."""
    given, at = _places("beta.logcdf", x, a, b, loc, scale)
    return _with_ends(given, at, -inf, log_betainc(at.a, at.b, at.z), 0.0)


def sf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of more than x, with all digits where it is small."""
    given, at = _places("beta.sf", x, a, b, loc, scale)
    found = incomplete.betaincc(*broadcast(at.a, at.b, at.z))
    return _with_ends(given, at, 1.0, found, 0.0)


def logsf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``sf``, also where that underflows."""
    given, at = _places("beta.logsf", x, a, b, loc, scale)
    return _with_ends(given, at, 0.0, log_betaincc(at.a, at.b, at.z), -inf)


def _places(
    function: str, x: Any, a: Any, b: Any, loc: Any, scale: Any
) -> tuple[Standard, _Places]:
    given = standard(function, x, loc, scale, a, b)
    is_below, is_above = less(given.z, 0), greater(given.z, 1)
    inner = choose(is_below | is_above, 0.5, given.z)
    low, high = given.shapes
    return given, _Places(low, high, inner, is_below, is_above)


def _with_ends(given: Standard, at: _Places, low: float, value: Array, high: float) -> Array:
    return given.outside(at.is_below, low, given.outside(at.is_above, high, value))


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

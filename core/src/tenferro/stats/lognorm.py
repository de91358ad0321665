"""The distribution of a number whose logarithm is normal, as ``scipy.stats.lognorm``.

With the mean μ and the deviation σ of the logarithm, s = σ and scale = exp(μ).
"""

from __future__ import annotations

from math import inf, pi
from math import log as ln
from typing import Any

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.comparison import less_equal
from tenferro.arrays.functions.elementwise import exp, log
from tenferro.arrays.handle.array import Array
from tenferro.primitives import normal as p
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._standard import Standard, choose, standard

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def logpdf(x: Any, s: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of the density; -inf outside of the support.

    >>> from tenferro.stats import lognorm
    >>> float(lognorm.logpdf(1.0, 1.0))
    -0.9189385332046727
    """
    given, place, is_below = _places("lognorm.logpdf", x, s, loc, scale)
    return given.log_density(_log_density(given, place, is_below))


def pdf(x: Any, s: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the density; 0 outside of the support."""
    given, place, is_below = _places("lognorm.pdf", x, s, loc, scale)
    return given.density(exp(_log_density(given, place, is_below)))


def cdf(x: Any, s: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of at most x."""
    given, place, is_below = _places("lognorm.cdf", x, s, loc, scale)
    return given.outside(is_below, 0.0, p.ndtr(place))


def logcdf(x: Any, s: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``cdf``, also where that underflows."""
    given, place, is_below = _places("lognorm.logcdf", x, s, loc, scale)
    return given.outside(is_below, -inf, p.log_ndtr(place))


def sf(x: Any, s: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of more than x, with all digits where it is small."""
    given, place, is_below = _places("lognorm.sf", x, s, loc, scale)
    return given.outside(is_below, 1.0, p.ndtr(-place))


def logsf(x: Any, s: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``sf``, also where that underflows."""
    given, place, is_below = _places("lognorm.logsf", x, s, loc, scale)
    return given.outside(is_below, 0.0, p.log_ndtr(-place))


def _log_density(given: Standard, place: Array, is_below: Array) -> Array:
    s = given.shapes[0]
    found = place * place * -0.5 - place * s - log(s) - ln(2 * pi) / 2
    return given.outside(is_below, -inf, found)


def _places(function: str, x: Any, s: Any, loc: Any, scale: Any) -> tuple[Standard, Array, Array]:
    """Return ln(z)/s inside of the support (0 elsewhere), and where z is at most 0."""
    given = standard(function, x, loc, scale, s)
    is_below = less_equal(given.z, 0)
    return given, log(choose(is_below, 1.0, given.z)) / given.shapes[0], is_below


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

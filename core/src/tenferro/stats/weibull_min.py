"""Weibull's distribution of shape c, as ``scipy.stats.weibull_min``: z >= 0."""

from __future__ import annotations

from math import inf
from typing import Any

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.arithmetic import power
from tenferro.arrays.functions.comparison import equal, less
from tenferro.arrays.functions.elementwise import exp, expm1, log
from tenferro.arrays.functions.special import xlogy
from tenferro.arrays.handle.array import Array
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._standard import Standard, choose, log1mexp_of_log, standard

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def logpdf(x: Any, c: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of the density; -inf outside of the support.

    >>> from tenferro.stats import weibull_min
    >>> float(weibull_min.logpdf(2.0, 1.0))
    -2.0
    """
    given, c, z, is_below = _places("weibull_min.logpdf", x, c, loc, scale)
    return given.log_density(given.outside(is_below, -inf, _log_density(given, c, z)))


def pdf(x: Any, c: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the density; 0 outside of the support."""
    given, c, z, is_below = _places("weibull_min.pdf", x, c, loc, scale)
    return given.density(given.outside(is_below, 0.0, exp(_log_density(given, c, z))))


def cdf(x: Any, c: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of at most x."""
    given, c, z, is_below = _places("weibull_min.cdf", x, c, loc, scale)
    return given.outside(is_below, 0.0, -expm1(-power(z, c)))


def logcdf(x: Any, c: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``cdf``, also where that underflows."""
    given, c, z, is_below = _places("weibull_min.logcdf", x, c, loc, scale)
    return given.outside(is_below, -inf, log1mexp_of_log(power(z, c), c * log(z)))


def sf(x: Any, c: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of more than x, with all digits where it is small."""
    given, c, z, is_below = _places("weibull_min.sf", x, c, loc, scale)
    return given.outside(is_below, 1.0, exp(-power(z, c)))


def logsf(x: Any, c: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``sf``, also where that underflows."""
    given, c, z, is_below = _places("weibull_min.logsf", x, c, loc, scale)
    return given.outside(is_below, 0.0, -power(z, c))


def _log_density(given: Standard, c: Array, z: Array) -> Array:
    is_endless = equal(z, inf)
    inner = choose(is_endless, 1.0, z)
    found = log(c) + xlogy(c - 1, inner) - power(inner, c)
    return given.outside(is_endless, -inf, found)


def _places(
    function: str, x: Any, c: Any, loc: Any, scale: Any
) -> tuple[Standard, Array, Array, Array]:
    """Return c, z inside of the support (1 elsewhere), and where z is below."""
    given = standard(function, x, loc, scale, c)
    is_below = less(given.z, 0)
    return given, given.shapes[0], choose(is_below, 1.0, given.z), is_below


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

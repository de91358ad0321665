"""Pareto's distribution of shape b, as ``scipy.stats.pareto``: z = (x - loc) / scale >= 1."""

from __future__ import annotations

from math import inf
from typing import Any

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.comparison import less
from tenferro.arrays.functions.elementwise import exp, expm1, log
from tenferro.arrays.handle.array import Array
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._standard import Standard, choose, log1mexp, standard

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def logpdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of the density; -inf outside of the support.

    >>> from tenferro.stats import pareto
    >>> float(pareto.logpdf(1.0, 1.0))
    0.0
    """
    given, b, log_z, is_below = _places("pareto.logpdf", x, b, loc, scale)
    return given.log_density(given.outside(is_below, -inf, log(b) - (b + 1) * log_z))


def pdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the density; 0 outside of the support."""
    given, b, log_z, is_below = _places("pareto.pdf", x, b, loc, scale)
    return given.density(given.outside(is_below, 0.0, b * exp(-(b + 1) * log_z)))


def cdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of at most x."""
    given, b, log_z, is_below = _places("pareto.cdf", x, b, loc, scale)
    return given.outside(is_below, 0.0, -expm1(-b * log_z))


def logcdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``cdf``, also where that underflows."""
    given, b, log_z, is_below = _places("pareto.logcdf", x, b, loc, scale)
    return given.outside(is_below, -inf, log1mexp(b * log_z))


def sf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of more than x, with all digits where it is small."""
    given, b, log_z, is_below = _places("pareto.sf", x, b, loc, scale)
    return given.outside(is_below, 1.0, exp(-b * log_z))


def logsf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``sf``, also where that underflows."""
    given, b, log_z, is_below = _places("pareto.logsf", x, b, loc, scale)
    return given.outside(is_below, 0.0, -b * log_z)


def _places(
    function: str, x: Any, b: Any, loc: Any, scale: Any
) -> tuple[Standard, Array, Array, Array]:
    """Return b, ln z inside of the support (0 elsewhere), and where z is below."""
    given = standard(function, x, loc, scale, b)
    is_below = less(given.z, 1)
    return given, given.shapes[0], log(choose(is_below, 1.0, given.z)), is_below


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

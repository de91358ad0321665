"""Gumbel's distribution of the largest of many values, as ``scipy.stats.gumbel_r``."""

from __future__ import annotations

from math import inf
from typing import Any

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.comparison import equal
from tenferro.arrays.functions.elementwise import exp, expm1
from tenferro.arrays.handle.array import Array
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._standard import Standard, choose, log1mexp_of_log, standard

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of the density; -inf outside of the support.

    >>> from tenferro.stats import gumbel_r
    >>> float(gumbel_r.logpdf(0.0))
    -1.0
    """
    given, z, is_below = _places("gumbel_r.logpdf", x, loc, scale)
    return given.log_density(given.outside(is_below, -inf, -z - exp(-z)))


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the density; 0 outside of the support."""
    given, z, is_below = _places("gumbel_r.pdf", x, loc, scale)
    return given.density(given.outside(is_below, 0.0, exp(-z - exp(-z))))


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of at most x."""
    given, z, is_below = _places("gumbel_r.cdf", x, loc, scale)
    return given.outside(is_below, 0.0, exp(-exp(-z)))


def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``cdf``, also where that underflows."""
    given, z, is_below = _places("gumbel_r.logcdf", x, loc, scale)
    return given.outside(is_below, -inf, -exp(-z))


def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of more than x, with all digits where it is small."""
    given, z, is_below = _places("gumbel_r.sf", x, loc, scale)
    return given.outside(is_below, 1.0, -expm1(-exp(-z)))


def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``sf``, also where that underflows."""
    given, z, is_below = _places("gumbel_r.logsf", x, loc, scale)
    return given.outside(is_below, 0.0, log1mexp_of_log(exp(-z), -z))


def _places(function: str, x: Any, loc: Any, scale: Any) -> tuple[Standard, Array, Array]:
    """Return z (0 where it is -inf), and where it is -inf."""
    given = standard(function, x, loc, scale)
    is_below = equal(given.z, -inf)
    return given, choose(is_below, 0.0, given.z), is_below


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

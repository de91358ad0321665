"""The exponential distribution, as ``scipy.stats.expon``: z = (x - loc) / scale is at least 0."""

from __future__ import annotations

from math import inf
from typing import Any

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.elementwise import exp, expm1
from tenferro.arrays.handle.array import Array
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._standard import log1mexp, on_half_line

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of the density; -inf outside of the support.

    >>> from tenferro.stats import expon
    >>> float(expon.logpdf(2.0))
    -2.0
    """
    given, z, is_below = on_half_line("expon.logpdf", x, loc, scale)
    return given.log_density(given.outside(is_below, -inf, -z))


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the density; 0 outside of the support."""
    given, z, is_below = on_half_line("expon.pdf", x, loc, scale)
    return given.density(given.outside(is_below, 0.0, exp(-z)))


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of at most x."""
    given, z, is_below = on_half_line("expon.cdf", x, loc, scale)
    return given.outside(is_below, 0.0, -expm1(-z))


def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``cdf``, also where that is small or near 1."""
    given, z, is_below = on_half_line("expon.logcdf", x, loc, scale)
    return given.outside(is_below, -inf, log1mexp(z))


def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of more than x, with all digits where it is small."""
    given, z, is_below = on_half_line("expon.sf", x, loc, scale)
    return given.outside(is_below, 1.0, exp(-z))


def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``sf``, also where that underflows."""
    given, z, is_below = on_half_line("expon.logsf", x, loc, scale)
    return given.outside(is_below, 0.0, -z)


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

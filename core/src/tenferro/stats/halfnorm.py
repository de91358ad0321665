"""The distribution of the size of a normal variable, as ``scipy.stats.halfnorm``."""

from __future__ import annotations

from math import inf, pi, sqrt
from math import log as ln
from typing import Any

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.comparison import less
from tenferro.arrays.functions.elementwise import erf, exp, log1p
from tenferro.arrays.handle.array import Array
from tenferro.primitives import normal as p
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._log_tails import log_of
from tenferro.stats._standard import LN_2, choose, on_half_line

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of the density; -inf outside of the support.

    >>> from tenferro.stats import halfnorm
    >>> round(float(halfnorm.logpdf(0.0)), 12)
    -0.225791352645
    """
    given, z, is_below = on_half_line("halfnorm.logpdf", x, loc, scale)
    return given.log_density(given.outside(is_below, -inf, z * z * -0.5 + ln(2 / pi) / 2))


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the density; 0 outside of the support."""
    given, z, is_below = on_half_line("halfnorm.pdf", x, loc, scale)
    return given.density(given.outside(is_below, 0.0, exp(z * z * -0.5) * sqrt(2 / pi)))


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of at most x."""
    given, z, is_below = on_half_line("halfnorm.cdf", x, loc, scale)
    return given.outside(is_below, 0.0, erf(z * sqrt(0.5)))


def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``cdf``, also where that underflows."""
    given, z, is_below = on_half_line("halfnorm.logcdf", x, loc, scale)
    return given.outside(is_below, -inf, log_of(erf(z * sqrt(0.5)), 2 * p.ndtr(-z), less(z, 0)))


def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of more than x, with all digits where it is small."""
    given, z, is_below = on_half_line("halfnorm.sf", x, loc, scale)
    return given.outside(is_below, 1.0, 2 * p.ndtr(-z))


def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``sf``, also where that underflows."""
    given, z, is_below = on_half_line("halfnorm.logsf", x, loc, scale)
    return given.outside(is_below, 0.0, _log_upper(z))


def _log_upper(z: Array) -> Array:
    """Compute ln(1 - erf(z/√2)), from erf where that is small."""
    is_near = less(z, 0.5)
    near = log1p(-erf(choose(is_near, z, 0.0) * sqrt(0.5)))
    return choose(is_near, near, p.log_ndtr(-z) + LN_2)


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

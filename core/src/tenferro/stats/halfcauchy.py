"""The distribution of the size of a Cauchy variable, as ``scipy.stats.halfcauchy``."""

from __future__ import annotations

from math import inf, pi
from math import log as ln
from typing import Any

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.comparison import less
from tenferro.arrays.functions.trigonometric import arctan, arctan2
from tenferro.arrays.handle.array import Array
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._log_tails import log_of
from tenferro.stats._standard import log_of_one_and_square, on_half_line

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of the density; -inf outside of the support.

    >>> from tenferro.stats import halfcauchy
    >>> round(float(halfcauchy.logpdf(0.0)), 12)
    -0.451582705289
    """
    given, z, is_below = on_half_line("halfcauchy.logpdf", x, loc, scale)
    return given.log_density(given.outside(is_below, -inf, ln(2 / pi) - log_of_one_and_square(z)))


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the density; 0 outside of the support."""
    given, z, is_below = on_half_line("halfcauchy.pdf", x, loc, scale)
    return given.density(given.outside(is_below, 0.0, (2 / pi) / (1 + z * z)))


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of at most x."""
    given, z, is_below = on_half_line("halfcauchy.cdf", x, loc, scale)
    return given.outside(is_below, 0.0, _lower(z))


def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``cdf``, also where that underflows."""
    given, z, is_below = on_half_line("halfcauchy.logcdf", x, loc, scale)
    return given.outside(is_below, -inf, log_of(_lower(z), _upper(z), less(z, 0)))


def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of more than x, with all digits where it is small."""
    given, z, is_below = on_half_line("halfcauchy.sf", x, loc, scale)
    return given.outside(is_below, 1.0, _upper(z))


def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``sf``, also where that underflows."""
    given, z, is_below = on_half_line("halfcauchy.logsf", x, loc, scale)
    return given.outside(is_below, 0.0, log_of(_upper(z), _lower(z), less(z, 0)))


def _lower(z: Array) -> Array:
    found: Array = arctan(z) * (2 / pi)
    return found


def _upper(z: Array) -> Array:
    found: Array = arctan2(1.0, z) * (2 / pi)
    return found


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

"""The uniform distribution on [loc, loc + scale], as ``scipy.stats.uniform``."""

from __future__ import annotations

from math import inf
from typing import Any

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.comparison import greater, less
from tenferro.arrays.functions.elementwise import log, log1p
from tenferro.arrays.handle.array import Array
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._standard import Standard, choose, standard

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of the density; -inf outside of the support.

    >>> from tenferro.stats import uniform
    >>> float(uniform.logpdf(0.5))
    0.0
    """
    given, z, is_below, is_above = _places("uniform.logpdf", x, loc, scale)
    return given.log_density(given.outside(is_below, -inf, given.outside(is_above, -inf, 0.0 * z)))


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the density; 0 outside of the support."""
    given, z, is_below, is_above = _places("uniform.pdf", x, loc, scale)
    return given.density(given.outside(is_below, 0.0, given.outside(is_above, 0.0, 0.0 * z + 1.0)))


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of at most x."""
    given, z, is_below, is_above = _places("uniform.cdf", x, loc, scale)
    return given.outside(is_below, 0.0, given.outside(is_above, 1.0, z))


def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``cdf``, also where that underflows."""
    given, z, is_below, is_above = _places("uniform.logcdf", x, loc, scale)
    return given.outside(is_below, -inf, given.outside(is_above, 0.0, log(z)))


def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of more than x, with all digits where it is small."""
    given, z, is_below, is_above = _places("uniform.sf", x, loc, scale)
    return given.outside(is_below, 1.0, given.outside(is_above, 0.0, 1 - z))


def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``sf``, also where that underflows."""
    given, z, is_below, is_above = _places("uniform.logsf", x, loc, scale)
    return given.outside(is_below, 0.0, given.outside(is_above, -inf, log1p(-z)))


def _places(function: str, x: Any, loc: Any, scale: Any) -> tuple[Standard, Array, Array, Array]:
    """Return z inside of the support (½ elsewhere), and where it is below and above."""
    given = standard(function, x, loc, scale)
    is_below, is_above = less(given.z, 0), greater(given.z, 1)
    return given, choose(is_below | is_above, 0.5, given.z), is_below, is_above


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

"""The normal distribution, as ``scipy.stats.norm``.

The logarithms of tails keep all digits where the tails themselves are below every float.
"""

from __future__ import annotations

from math import log as ln
from math import pi, sqrt
from typing import Any

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.elementwise import exp
from tenferro.arrays.handle.array import Array
from tenferro.primitives import normal as p
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._standard import operands, positive, standard
from tenferro.stats._symmetric import symmetric_tails

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of the density.

    >>> from tenferro.stats import norm
    >>> float(norm.logpdf(0.0))
    -0.9189385332046727
    """
    given = standard("norm.logpdf", x, loc, scale)
    return given.log_density(given.z * given.z * -0.5 - ln(2 * pi) / 2)


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the density."""
    given = standard("norm.pdf", x, loc, scale)
    return given.density(exp(given.z * given.z * -0.5) * (1 / sqrt(2 * pi)))


cdf, logcdf, logsf, sf = symmetric_tails("norm", p.ndtr, p.log_ndtr)


def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the inverse of ``cdf``; nan outside of 0 <= q <= 1."""
    return _quantile("norm.ppf", q, loc, scale, 1)


def isf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the inverse of ``sf``; nan outside of 0 <= q <= 1."""
    return _quantile("norm.isf", q, loc, scale, -1)


def _quantile(function: str, q: Any, loc: Any, scale: Any, sign: int) -> Array:
    place, center, size = operands(function, q, loc, scale)
    return center + positive(size) * (sign * p.ndtri(place))


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

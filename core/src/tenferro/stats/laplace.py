"""Laplace's distribution, as ``scipy.stats.laplace``; a derivative at its peak is 0, as of |z|."""

from __future__ import annotations

from typing import Any

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.arithmetic import absolute
from tenferro.arrays.functions.comparison import greater
from tenferro.arrays.functions.elementwise import exp, log1p
from tenferro.arrays.handle.array import Array
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._standard import LN_2, choose, standard
from tenferro.stats._symmetric import symmetric_tails

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of the density.

    >>> from tenferro.stats import laplace
    >>> float(laplace.logpdf(0.0))
    -0.6931471805599453
    """
    given = standard("laplace.logpdf", x, loc, scale)
    return given.log_density(-absolute(given.z) - LN_2)


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the density."""
    given = standard("laplace.pdf", x, loc, scale)
    return given.density(exp(-absolute(given.z)) * 0.5)


def _lower(z: Array) -> Array:
    is_high = greater(z, 0)
    tail = exp(choose(is_high, -z, z)) * 0.5
    return choose(is_high, 1 - tail, tail)


def _log_lower(z: Array) -> Array:
    is_high = greater(z, 0)
    rest = exp(choose(is_high, -z, 0.0)) * 0.5
    return choose(is_high, log1p(-rest), choose(is_high, 0.0, z) - LN_2)


cdf, logcdf, logsf, sf = symmetric_tails("laplace", _lower, _log_lower)

_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

"""The logistic distribution, as ``scipy.stats.logistic``: its distribution function is expit."""

from __future__ import annotations

from typing import Any

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.elementwise import logistic as expit
from tenferro.arrays.functions.special import log_expit
from tenferro.arrays.handle.array import Array
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._standard import standard

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of the density.

    >>> from tenferro.stats import logistic
    >>> float(logistic.logpdf(0.0))
    -1.3862943611198906
    """
    given = standard("logistic.logpdf", x, loc, scale)
    return given.log_density(log_expit(given.z) + log_expit(-given.z))


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the density."""
    given = standard("logistic.pdf", x, loc, scale)
    return given.density(_lower(given.z) * _lower(-given.z))


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of at most x."""
    return _lower(standard("logistic.cdf", x, loc, scale).z)


def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``cdf``, also where that underflows."""
    return log_expit(standard("logistic.logcdf", x, loc, scale).z)


def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of more than x, with all digits where it is small."""
    return _lower(-standard("logistic.sf", x, loc, scale).z)


def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``sf``, also where that underflows."""
    return log_expit(-standard("logistic.logsf", x, loc, scale).z)


def _lower(z: Array) -> Array:
    found: Array = expit(z)
    return found


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

"""The logistic distribution, as ``scipy.stats.logistic``: its distribution function is expit."""

from __future__ import annotations

from typing import Any

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.elementwise import logistic as expit
from tenferro.arrays.functions.special import log_expit
from tenferro.arrays.handle.array import Array
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._standard import standard
from tenferro.stats._symmetric import symmetric_tails

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


def _lower(z: Array) -> Array:
    found: Array = expit(z)
    return found


cdf, logcdf, logsf, sf = symmetric_tails("logistic", _lower, log_expit)

_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

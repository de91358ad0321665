"""The Cauchy distribution, as ``scipy.stats.cauchy``."""

from __future__ import annotations

from math import log as ln
from math import pi
from typing import Any

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.comparison import less
from tenferro.arrays.functions.trigonometric import arctan2
from tenferro.arrays.handle.array import Array
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._log_tails import log_of
from tenferro.stats._standard import log_of_one_and_square, standard
from tenferro.stats._symmetric import symmetric_tails

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of the density.

    >>> from tenferro.stats import cauchy
    >>> float(cauchy.logpdf(0.0))
    -1.1447298858494002
    """
    given = standard("cauchy.logpdf", x, loc, scale)
    return given.log_density(-log_of_one_and_square(given.z) - ln(pi))


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the density."""
    given = standard("cauchy.pdf", x, loc, scale)
    return given.density(1 / (pi * (1 + given.z * given.z)))


def _lower(z: Array) -> Array:
    """Compute the probability of at most z, with all digits where it is small."""
    found: Array = arctan2(1.0, -z) * (1 / pi)
    return found


def _log_lower(z: Array) -> Array:
    tail = _lower(z)
    return log_of(tail, _lower(-z), less(tail, 0))


cdf, logcdf, logsf, sf = symmetric_tails("cauchy", _lower, _log_lower)

_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

"""The gamma distribution of shape a, as ``scipy.stats.gamma``.

The logarithms of tails keep all digits where the tails themselves are below every float.
"""

from __future__ import annotations

from typing import Any

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.handle.array import Array
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats import _gamma_forms as forms
from tenferro.stats._standard import standard

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def logpdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of the density; -inf outside of the support.

    >>> from tenferro.stats import gamma
    >>> float(gamma.logpdf(2.0, 1.0))
    -2.0
    """
    given = standard("gamma.logpdf", x, loc, scale, a)
    return given.log_density(forms.log_density(given))


def pdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the density; 0 outside of the support."""
    given = standard("gamma.pdf", x, loc, scale, a)
    return given.density(forms.density(given))


def cdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of at most x."""
    return forms.lower(standard("gamma.cdf", x, loc, scale, a))


def logcdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``cdf``, also where that underflows."""
    return forms.log_lower(standard("gamma.logcdf", x, loc, scale, a))


def sf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of more than x, with all digits where it is small."""
    return forms.upper(standard("gamma.sf", x, loc, scale, a))


def logsf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``sf``, also where that underflows."""
    return forms.log_upper(standard("gamma.logsf", x, loc, scale, a))


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

"""The χ² distribution with df degrees of freedom, as ``scipy.stats.chi2``.

It is the gamma distribution of shape df/2 and twice the scale.
"""

from __future__ import annotations

from typing import Any

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.handle.array import Array
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats import _gamma_forms as forms
from tenferro.stats._standard import LN_2, Standard, standard

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def logpdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of the density; -inf outside of the support.

    >>> from tenferro.stats import chi2
    >>> float(chi2.logpdf(2.0, 2.0))
    -1.6931471805599454
    """
    given = _as_gamma("chi2.logpdf", x, df, loc, scale)
    return given.log_density(forms.log_density(given)) - LN_2


def pdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the density; 0 outside of the support."""
    given = _as_gamma("chi2.pdf", x, df, loc, scale)
    return given.density(forms.density(given)) * 0.5


def cdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of at most x."""
    return forms.lower(_as_gamma("chi2.cdf", x, df, loc, scale))


def logcdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``cdf``, also where that underflows."""
    return forms.log_lower(_as_gamma("chi2.logcdf", x, df, loc, scale))


def sf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of more than x, with all digits where it is small."""
    return forms.upper(_as_gamma("chi2.sf", x, df, loc, scale))


def logsf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``sf``, also where that underflows."""
    return forms.log_upper(_as_gamma("chi2.logsf", x, df, loc, scale))


def _as_gamma(function: str, x: Any, df: Any, loc: Any, scale: Any) -> Standard:
    given = standard(function, x, loc, scale, df)
    return given._replace(z=given.z * 0.5, shapes=(given.shapes[0] * 0.5,))


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

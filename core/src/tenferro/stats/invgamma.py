"""The inverse gamma distribution of shape a, as ``scipy.stats.invgamma``.

It is that of 1/g, for g of the gamma distribution of shape a.
"""

from __future__ import annotations

from math import inf
from typing import Any

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.comparison import equal, less_equal
from tenferro.arrays.functions.elementwise import log
from tenferro.arrays.handle.array import Array
from tenferro.primitives import incomplete
from tenferro.primitives import special as p
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._log_tails import log_gammainc, log_gammaincc
from tenferro.stats._standard import Standard, broadcast, choose, standard

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def logpdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of the density; -inf outside of the support.

    >>> from tenferro.stats import invgamma
    >>> float(invgamma.logpdf(1.0, 1.0))
    -1.0
    """
    given, a, inverse, is_below = _places("invgamma.logpdf", x, a, loc, scale)
    found = (a + 1) * log(inverse) - p.lgamma(a) - inverse
    return given.log_density(given.outside(is_below | equal(inverse, inf), -inf, found))


def pdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the density; 0 outside of the support."""
    given, a, inverse, is_below = _places("invgamma.pdf", x, a, loc, scale)
    shape, place = broadcast(a + 2, inverse)  # z^(-a-1) has no other factor that overflows
    found = incomplete.gamma_density(shape, place) * (a * (a + 1))
    return given.density(given.outside(is_below, 0.0, found))


def cdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of at most x."""
    given, a, inverse, is_below = _places("invgamma.cdf", x, a, loc, scale)
    return given.outside(is_below, 0.0, incomplete.gammaincc(*broadcast(a, inverse)))


def logcdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``cdf``, also where that underflows."""
    given, a, inverse, is_below = _places("invgamma.logcdf", x, a, loc, scale)
    return given.outside(is_below, -inf, log_gammaincc(a, inverse))


def sf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of more than x, with all digits where it is small."""
    given, a, inverse, is_below = _places("invgamma.sf", x, a, loc, scale)
    return given.outside(is_below, 1.0, incomplete.gammainc(*broadcast(a, inverse)))


def logsf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``sf``, also where that underflows."""
    given, a, inverse, is_below = _places("invgamma.logsf", x, a, loc, scale)
    return given.outside(is_below, 0.0, log_gammainc(a, inverse))


def _places(
    function: str, x: Any, a: Any, loc: Any, scale: Any
) -> tuple[Standard, Array, Array, Array]:
    """Return the shape, 1/z inside of the support (1 elsewhere), and where z is at most 0."""
    given = standard(function, x, loc, scale, a)
    is_below = less_equal(given.z, 0)
    return given, given.shapes[0], 1 / choose(is_below, 1.0, given.z), is_below


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

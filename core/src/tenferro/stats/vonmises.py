"""Von Mises' distribution on the circle, as ``scipy.stats.vonmises``: density and logarithm."""

from __future__ import annotations

from math import log as ln
from math import pi
from typing import Any

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.comparison import greater_equal, less
from tenferro.arrays.functions.elementwise import exp, log
from tenferro.arrays.functions.trigonometric import cos, sin
from tenferro.arrays.handle.array import Array
from tenferro.primitives import bessel
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._standard import Standard, choose, standard

__all__ = ["logpdf", "pdf"]


def logpdf(x: Any, kappa: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of the density, which has the period 2π scale; kappa >= 0.

    >>> from tenferro.stats import vonmises
    >>> round(float(vonmises.logpdf(0.5, 0.0)), 12)
    -1.837877066409
    """
    given = standard("vonmises.logpdf", x, loc, scale, kappa, legal=_is_concentration)
    return given.log_density(_log_density(given))


def pdf(x: Any, kappa: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the density."""
    given = standard("vonmises.pdf", x, loc, scale, kappa, legal=_is_concentration)
    return given.density(exp(_log_density(given)))


def _log_density(given: Standard) -> Array:
    """Compute κ cos z - ln(2π I₀(κ)); from κ = 1 on as κ (cos z - 1) and a scaled I₀.

    The scaled I₀ has the factor exp(-|κ|), whose derivative at 0 is not the one for κ >= 0.
    """
    (kappa,) = given.shapes
    is_small = less(kappa, 1)
    small, large = choose(is_small, kappa, 0.0), choose(is_small, 1.0, kappa)
    near = small * cos(given.z) - log(bessel.bessel_i(0, small))
    chord = sin(0.5 * given.z)
    far = large * (chord * chord) * -2 - log(bessel.bessel_ie(0, large))
    return choose(is_small, near, far) - ln(2 * pi)


def _is_concentration(kappa: Array) -> Array:
    return greater_equal(kappa, 0)


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

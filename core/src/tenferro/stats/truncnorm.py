"""The normal distribution between two bounds, as ``scipy.stats.truncnorm``.

The bounds a < b are those of z = (x - loc) / scale, and may be infinite. Logarithms of masses are
exact in the tails; between bounds that are close to each other their difference loses digits.
"""

from __future__ import annotations

from math import inf, nan, pi
from math import log as ln
from typing import Any

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.comparison import greater, isnan, less
from tenferro.arrays.functions.elementwise import exp, log1p
from tenferro.arrays.handle.array import Array
from tenferro.arrays.promotion.broadcast import cast
from tenferro.primitives import normal as p
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._standard import Standard, broadcast, choose, log1mexp, standard

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]

_MAX_BOUND = 1e10  # standard deviations; its square is a number in single precision


def logpdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of the density; -inf outside of the bounds.

    >>> from tenferro.stats import truncnorm
    >>> round(float(truncnorm.logpdf(0.0, 0.0, float("inf"))), 12)
    -0.225791352645
    """
    return _log_density(*_places("truncnorm.logpdf", x, a, b, loc, scale))


def pdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the density; 0 outside of the bounds."""
    return exp(_log_density(*_places("truncnorm.pdf", x, a, b, loc, scale)))


def cdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of at most x."""
    given, at, a, b = _places("truncnorm.cdf", x, a, b, loc, scale)
    return _with_ends(given, a, b, 0.0, exp(_log_mass(a, at) - _log_mass(a, b)), 1.0)


def logcdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``cdf``, also where that underflows."""
    given, at, a, b = _places("truncnorm.logcdf", x, a, b, loc, scale)
    found = _log_share(_log_mass(a, at), _log_mass(at, b), _log_mass(a, b))
    return _with_ends(given, a, b, -inf, found, 0.0)


def sf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of more than x, with all digits where it is small."""
    given, at, a, b = _places("truncnorm.sf", x, a, b, loc, scale)
    return _with_ends(given, a, b, 1.0, exp(_log_mass(at, b) - _log_mass(a, b)), 0.0)


def logsf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``sf``, also where that underflows."""
    given, at, a, b = _places("truncnorm.logsf", x, a, b, loc, scale)
    found = _log_share(_log_mass(at, b), _log_mass(a, at), _log_mass(a, b))
    return _with_ends(given, a, b, 0.0, found, -inf)


def _log_density(given: Standard, at: Array, a: Array, b: Array) -> Array:
    found = at * at * -0.5 - ln(2 * pi) / 2 - _log_mass(a, b)
    return given.log_density(_with_ends(given, a, b, -inf, found, -inf))


def _log_share(log_part: Array, log_rest: Array, log_all: Array) -> Array:
    """Compute ln(part / all), from the rest where the part is nearly all."""
    is_most = greater(log_part, log_rest)
    near = log1p(-exp(choose(is_most, log_rest - log_all, -inf)))
    return choose(is_most, near, log_part - log_all)


def _log_mass(low: Array, high: Array) -> Array:
    """Compute ln(Φ(high) - Φ(low)) in the lower tail, which has all digits, or around 0."""
    is_upper = greater(low, 0)
    low, high = choose(is_upper, -high, low), choose(is_upper, -low, high)
    is_tail = less(high, 0)
    end, start = choose(is_tail, high, -1.0), choose(is_tail, low, -2.0)
    log_end = p.log_ndtr(end)
    tail = log_end + log1mexp(log_end - p.log_ndtr(start))
    outer = p.ndtr(choose(is_tail, -1.0, low)) + p.ndtr(-choose(is_tail, 1.0, high))
    return choose(is_tail, tail, log1p(-outer))


def _places(
    function: str, x: Any, a: Any, b: Any, loc: Any, scale: Any
) -> tuple[Standard, Array, Array, Array]:
    """Return z between the bounds (their middle elsewhere), and the bounds in one shape."""
    given = standard(function, x, loc, scale, a, b, legal=_is_number)
    z, low, high = broadcast(given.z, *given.shapes)
    flaw = cast(choose(less(low, high), 1.0, nan), z.dtype)
    low, high = _finite(low * flaw), _finite(high * flaw)
    given = Standard(z, (low, high), given.scale, given.flaw * flaw)
    is_outside = less(z, low) | greater(z, high)
    return given, choose(is_outside, 0.5 * (low + high), z) * flaw, low, high


def _finite(bound: Array) -> Array:
    """Move a bound to where its tail is 0 and its derivative, too."""
    return choose(
        less(bound, -_MAX_BOUND), -_MAX_BOUND, choose(greater(bound, _MAX_BOUND), _MAX_BOUND, bound)
    )


def _with_ends(given: Standard, a: Array, b: Array, low: float, value: Array, high: float) -> Array:
    inner = given.outside(greater(given.z, b), high, value)
    return given.outside(less(given.z, a), low, inner)


def _is_number(x: Array) -> Array:
    return ~isnan(x)


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

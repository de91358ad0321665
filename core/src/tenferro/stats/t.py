"""Student's t distribution, as ``scipy.stats.t``; df = inf is the normal distribution.

Its distribution function is in ``arrays/functions/student.py``.
"""

from __future__ import annotations

from math import inf, pi
from math import log as ln
from typing import Any

from tenferro.arrays.evaluation.results import publish_kinds as _publish_kinds
from tenferro.arrays.functions.arithmetic import absolute, sqrt
from tenferro.arrays.functions.comparison import equal, greater, less
from tenferro.arrays.functions.data_types import finfo
from tenferro.arrays.functions.elementwise import exp, log, log1p
from tenferro.arrays.functions.student import horner, lower_tail, places
from tenferro.arrays.handle.array import Array
from tenferro.primitives import gammas, incomplete
from tenferro.primitives import normal as p
from tenferro.primitives._boundary import publish as _publish
from tenferro.stats._log_tails import MIN_TAIL_FOR_ITS_LOG, log_betainc_far_out
from tenferro.stats._standard import Standard, broadcast, choose, standard

_LOG_GAMMA_RATIO = (1 / 8, -1 / 192, 1 / 640, -17 / 14336, 31 / 18432)
_ARTANH = tuple(1 / (2 * k + 1) for k in range(8))  # artanh(s)/s by powers of s² < 0.002

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def logpdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of the density.

    >>> from tenferro.stats import t
    >>> float(t.logpdf(0.0, 1.0))
    -1.1447298858494
    """
    given = standard("t.logpdf", x, loc, scale, df)
    return given.log_density(_log_density(given))


def pdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the density."""
    given = standard("t.pdf", x, loc, scale, df)
    return given.density(exp(_log_density(given)))


def cdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of at most x."""
    given = standard("t.cdf", x, loc, scale, df)
    return lower_tail(*broadcast(given.z, given.shapes[0]))


def logcdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``cdf``, also where that underflows."""
    return _log_lower_tail(standard("t.logcdf", x, loc, scale, df))


def sf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the probability of more than x, with all digits where it is small."""
    given = standard("t.sf", x, loc, scale, df)
    return lower_tail(*broadcast(-given.z, given.shapes[0]))


def logsf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """Compute the logarithm of ``sf``, also where that underflows."""
    return _log_lower_tail(_mirrored(standard("t.logsf", x, loc, scale, df)))


def _mirrored(given: Standard) -> Standard:
    return given._replace(z=-given.z)


def _log_density(given: Standard) -> Array:
    z, df = given.z, given.shapes[0]
    is_normal = equal(df, inf)
    df = choose(is_normal, 1.0, df)
    student = _minus_log_factor(df) + _half_of_growth(z, df)
    return choose(is_normal, z * z * -0.5 - ln(2 * pi) / 2, -student)


def _minus_log_factor(df: Array) -> Array:
    """Compute ½ ln(2π) - ln(Γ(a + ½) / (Γ(a) √a)) for a = df/2: DLMF 5.11.8 where a is large."""
    is_large = greater(df, 100)
    small, large = choose(is_large, 1.0, df), choose(is_large, df, 100.0)
    inverse = 2 / large
    series = horner(inverse * inverse, _LOG_GAMMA_RATIO) * inverse + ln(2 * pi) / 2
    half = small * 0.5
    return choose(is_large, series, gammas.betaln(half, half * 0 + 0.5) + log(small) * 0.5)


def _half_of_growth(z: Array, df: Array) -> Array:
    """Compute ½ (df + 1) ln(1 + z²/df), so that its derivatives by df keep their digits.

    For small z²/df it is (½ z² (1 - s) + s) artanh(s)/s with s = z²/(2 df + z²).
    """
    ratio = z / sqrt(df)
    size = absolute(ratio)
    is_small = less(size, 0.3)
    is_far = greater(size, finfo(z.dtype).eps ** -0.5)  # its square may overflow
    inner, width = choose(is_small, z, 0.0), choose(is_small, df, 1.0)
    square = inner * inner
    s = square / width / (2 + square / width)
    small = (square * 0.5 * (1 - s) + s) * horner(s * s, _ARTANH)
    far, base = choose(is_far, absolute(z), 1.0), choose(is_far, df, 1.0)
    near = choose(is_small | is_far, 0.0, ratio)
    growth = choose(is_far, 2 * log(far) - log(base), log1p(near * near))
    return choose(is_small, small, (df * 0.5 + 0.5) * growth)


def _log_lower_tail(given: Standard) -> Array:
    at = places(*broadcast(given.z, given.shapes[0]))
    a, x = at.half, at.place
    tail = incomplete.betainc(a, a, x)
    tiny = less(tail, MIN_TAIL_FOR_ITS_LOG)
    inner, shape = choose(tiny, x, 0.25), choose(tiny, a, 1.0)
    away, log_place = choose(tiny, at.away, -0.25), choose(tiny, at.log_place, ln(0.25))
    deep = log_betainc_far_out(shape, shape, inner, away, log_place, log1p(-inner))
    low = choose(tiny, deep, log(choose(tiny, 1.0, tail)))
    high = log1p(-choose(tiny, exp(deep), tail))  # no tail is more than a half
    return choose(at.is_normal, p.log_ndtr(at.z), choose(at.is_low, low, high))


_publish_kinds(globals(), __all__)
_publish(globals(), __all__)

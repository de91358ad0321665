"""The distribution function of Student's t distribution; df = inf is the normal distribution.

It is I_v(df/2, df/2) with v = ½ (1 + z/√(df + z²)), which is smooth at 0, where the usual form
I_w(½, df/2) with w = z²/(df + z²) has no derivative. The rounding of v costs digits for many
degrees of freedom: the relative error of a tail is below 1e-15 |z| √df, and below 1e-12 for its
logarithm from 1e-18 on. Derivatives by df, small differences there, have absolute errors of 1e-17.
From 1/√eps degrees on, it is a normal distribution at another place.
Source: Boik, Robison-Cox (1998); DLMF 8.17.6 of Iₓ(a, b). Read next: ``stats/t.py``.
"""

from __future__ import annotations

from math import inf
from math import log as ln
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.functions._factories import filled, zeros
from tenferro.arrays.functions._special_operands import real_operands
from tenferro.arrays.functions.arithmetic import absolute, sqrt
from tenferro.arrays.functions.comparison import equal, greater, less, where
from tenferro.arrays.functions.data_types import finfo
from tenferro.arrays.functions.elementwise import exp, log
from tenferro.arrays.functions.trigonometric import hypot
from tenferro.arrays.handle.array import Array
from tenferro.arrays.registry import covers
from tenferro.primitives import gammas, incomplete
from tenferro.primitives import normal as p
from tenferro.primitives.comparison import gt, select

__all__ = ["Places", "horner", "lower_tail", "places", "stdtr"]

_LOG1P = tuple((-1) ** k / (k + 1) for k in range(6))  # ln(1 + r)/r by powers of r < 0.001


@covers("stdtr", ufunc=True)
def stdtr(df: Any, t: Any) -> Array:
    """Compute the probability of at most t of Student's distribution; nan unless df > 0.

    df, t: real, of shapes that broadcast; df = inf is the normal distribution.

    >>> import tenferro as tn
    >>> float(tn.special.stdtr(1.0, 1.0))
    0.75
    """
    shape, z = real_operands("stdtr", df, t)
    legal = gt(shape, zeros(shape))
    return lower_tail(z, select(legal, shape, filled(shape, float("nan"))))


class Places(NamedTuple):
    """The points of a distribution function, in one shape."""

    z: Array  # the place in the normal distribution, where that is taken
    df: Array  # 1 where the distribution is normal
    is_normal: Array
    is_low: Array  # z < 0
    place: Array  # the smaller one of v and 1 - v
    away: Array  # place - 1/2, to more digits where z is small
    log_place: Array

    @property
    def half(self) -> Array:
        return self.df * 0.5


def places(z: Array, df: Array) -> Places:
    """Return the points of the distribution function for df > 0, and nan for a df of nan."""
    is_limit = equal(df, inf)
    is_large = greater(df, finfo(z.dtype).eps ** -0.5) & less(df, inf)
    is_close = is_large & less(absolute(z), sqrt(df) * 0.03)
    deviate = _normal_deviate(where(is_close, z, 0.0), where(is_close, df, 1e8))
    is_normal = is_limit | is_close
    df = where(is_normal, 1.0, df)
    is_low = less(z, 0)
    ratio = where(is_low, -z, z) / sqrt(df)
    length = hypot(ratio, 1.0)
    place, log_place = 0.5 / length / (length + ratio), -log(length) - log(length + ratio) - ln(2)
    is_far = less(place, 0.25)  # where the ratio may be infinite
    near = where(is_far, 0.0, ratio) / where(is_far, 1.0, length)
    away = where(is_far, place - 0.5, near * -0.5)
    return Places(where(is_close, deviate, z), df, is_normal, is_low, place, away, log_place)


def _normal_deviate(z: Array, df: Array) -> Array:
    """Return the u with Φ(u) = F(z) for many degrees of freedom, and z² < 0.001 df.

    Convention   y = ±√(a ln(1 + z²/df)),  u = y + (y³ + 3y)/(48 a²)   with a = df - ½
    Source       Hill (1970), algorithm 395; the next term is below 1e-16
    """
    inverse = 1 / df
    share = z * z * inverse
    y = z * sqrt((1 - 0.5 * inverse) * horner(share, _LOG1P))
    step = inverse / (1 - 0.5 * inverse)
    return y + y * (y * y + 3) * step * step * (1 / 48)


def lower_tail(z: Array, df: Array) -> Array:
    """Compute the probability of at most z, given operands of one shape."""
    at = places(z, df)
    is_far = less(at.place, finfo(at.place.dtype).eps ** 2)  # one term of the series, in logarithms
    inner = where(is_far, 0.5, at.place)
    half, log_place = where(is_far, at.half, 1.0), where(is_far, at.log_place, ln(0.25))
    far = exp(half * log_place - log(half) - gammas.betaln(half, half))
    tail = where(is_far, far, incomplete.betainc(at.half, at.half, inner))
    found: Array = where(at.is_normal, p.ndtr(at.z), where(at.is_low, tail, 1 - tail))
    return found


def horner(x: Array, coefficients: tuple[float, ...]) -> Array:
    """Compute Σ_k c_k x^k."""
    value = x * coefficients[-1] + coefficients[-2]
    for coefficient in coefficients[-3::-1]:
        value = value * x + coefficient
    return value

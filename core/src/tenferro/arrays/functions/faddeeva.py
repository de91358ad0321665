"""The error functions of complex numbers, by SciPy's names: ``wofz``, ``dawsn``, ``erfi``, Voigt.

``erf``, ``erfc`` and ``erfcx`` take complex numbers too; they stand in ``elementwise.py`` and
``special.py``. Real operands give the dtypes of SciPy. Read next: ``logsumexp.py``.
"""

from __future__ import annotations

from math import log, pi, sqrt
from typing import Any

from tenferro.arrays.functions._factories import filled, zeros
from tenferro.arrays.functions.data_types import finfo
from tenferro.arrays.handle.array import Array
from tenferro.arrays.promotion.broadcast import cast, floating, together
from tenferro.arrays.registry import covers
from tenferro.primitives import complex, float32, imag, real
from tenferro.primitives import faddeeva as p
from tenferro.primitives.arithmetic import abs as absolute
from tenferro.primitives.arithmetic import sign
from tenferro.primitives.comparison import eq, gt, select
from tenferro.primitives.elementwise import exp
from tenferro.primitives.elementwise import log as ln
from tenferro.primitives.structural import stop_gradient

__all__ = ["complex_erfcx", "dawsn", "erfi", "voigt_profile", "wofz"]


@covers("wofz", ufunc=True)
def wofz(z: Any) -> Array:
    """Compute the Faddeeva function exp(−z²) erfc(−iz), a complex number also of a real z."""
    found = floating(z)
    if found.dtype.is_complex:
        return p.wofz(found)
    wide = _wide(found)
    return p.wofz(complex(wide, zeros(wide)))


@covers("dawsn", ufunc=True)
def dawsn(x: Any) -> Array:
    """Compute Dawson's integral exp(−x²) ∫₀ˣ exp(t²) dt of a real or complex x."""
    return p.dawsn(floating(x))


@covers("erfi", ufunc=True)
def erfi(z: Any) -> Array:
    """Compute the imaginary error function −i erf(iz) of a real or complex z."""
    found = floating(z)
    if found.dtype.is_complex:
        value = p.complex_erf(complex(-imag(found), real(found)))
        return complex(imag(value), -real(value))
    wide = _wide(found)
    exponent = log(finfo(wide.dtype).max)
    is_steep = gt(absolute(wide), filled(wide, sqrt(exponent - 20)))
    inner, outer = select(is_steep, zeros(wide), wide), select(is_steep, wide, zeros(wide))
    value = imag(p.complex_erf(complex(zeros(wide), inner)))
    steep = _steep_erfi(outer, sqrt(exponent))
    return cast(select(is_steep, steep, value), found.dtype)


def _steep_erfi(x: Array, top: float) -> Array:
    """Compute erfi x where slopes overflow, by one exponential; they are inf then.

    Derivatives of the complex erf(ix) are nan there: exp(x²) i = inf + nan i. A derivative of the
    small terms must not overflow either, or inf - inf is nan: they are constants beyond ``top``,
    where every slope overflows.

    Convention   erfi x = exp(x²) q / (x √π)   with q = Σ (2k - 1)!! / (2x²)^k
    Source       DLMF 7.12.1
    """
    size = absolute(x)
    known = stop_gradient(size)
    limit = filled(size, top + 1)  # the value overflows
    known = select(gt(known, limit), limit, known)
    low = select(gt(size, filled(size, top)), known, size)
    low = select(eq(size, zeros(size)), limit, low)  # 0 stands for other numbers
    half = 0.5 / (low * low)
    series = filled(low, 1)
    for odd in (13, 11, 9, 7, 5, 3, 1):
        series = 1 + odd * half * series
    return sign(x) * exp(size * size + (ln(series) - ln(low * sqrt(pi))))


@covers("voigt_profile", ufunc=True)
def voigt_profile(x: Any, sigma: Any, gamma: Any) -> Array:
    """Compute the Voigt profile: a normal density of width σ convolved with a Cauchy one of γ.

    It is the Cauchy density where σ = 0, and the normal one where γ = 0.
    """
    operands = [floating(a) for a in together("voigt_profile", x, sigma, gamma)]
    place, deviation, width = (_wide(a) for a in operands)
    zero, one = zeros(place), filled(place, 1)
    is_cauchy = eq(deviation, zero)
    scale = 1 / (select(is_cauchy, one, deviation) * sqrt(2))
    value = p.wofz(complex(place * scale, width * scale))
    voigt = real(value) * scale * (1 / sqrt(pi))
    at, half_width = select(is_cauchy, place, one), select(is_cauchy, width, one)
    cauchy = half_width / ((at * at + half_width * half_width) * pi)
    return cast(select(is_cauchy, cauchy, voigt), operands[0].dtype)


def complex_erfcx(z: Array) -> Array:
    """Compute exp(z²) erfc(z) = w(iz) of a complex z."""
    return p.wofz(complex(-imag(z), real(z)))


def _wide(x: Array) -> Array:
    """Return floats in single precision at least, because no complex number has less."""
    return x if x.dtype.bits > 16 else cast(x, float32)

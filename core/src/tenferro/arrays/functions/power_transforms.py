"""The power transforms of Box and Cox and their inverses, by SciPy's names and signatures.

All are smooth in the exponent, also where it is 0 and the transform a logarithm.
Read next: ``special.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.arrays.functions._factories import filled, zeros
from tenferro.arrays.functions._special_operands import real_operands
from tenferro.arrays.handle.array import Array
from tenferro.arrays.registry import covers
from tenferro.primitives import arithmetic as ar
from tenferro.primitives.comparison import eq, gt, logical_and, lt, ne, select
from tenferro.primitives.elementwise import exp, expm1, log, log1p
from tenferro.primitives.logarithms import scaled_expm1

__all__ = ["boxcox", "boxcox1p", "inv_boxcox", "inv_boxcox1p"]

_MAX_GROWTH_OF_SERIES = 0.25
#: |ln x^λ| from which x^λ - 1 has all digits of a power, while exp(λ ln x) loses some by its size
_MIN_GROWTH_OF_POWER = 0.75
_LOG1P = tuple((-1) ** k / (k + 1) for k in range(32))  # ln(1 + t)/t by powers of |t| < 0.25


@covers("boxcox", ufunc=True)
def boxcox(x: Any, lmbda: Any) -> Array:
    """Compute (x^λ − 1)/λ, and ln x where λ = 0; nan for negative x.

    x, lmbda: real, of shapes that broadcast. Source: Box & Cox (1964), J. R. Stat. Soc. B 26, 211.

    >>> import tenferro as tn
    >>> round(float(tn.special.boxcox(3.0, 2.0)), 12)
    4.0
    """
    base, power = real_operands("boxcox", x, lmbda)
    zero, one = zeros(base), filled(base, 1)
    is_positive = gt(base, zero)
    growth = ar.abs(power * log(select(is_positive, base, one)))
    is_far = logical_and(is_positive, gt(growth, filled(base, _MIN_GROWTH_OF_POWER)))
    exponent = select(is_far, power, one)
    far = (ar.pow(select(is_far, base, one), exponent) - 1) / exponent
    near = select(is_far, one, base)
    return select(is_far, far, _transform(near, log, near, select(is_far, one, power)))


@covers("boxcox1p", ufunc=True)
def boxcox1p(x: Any, lmbda: Any) -> Array:
    """Compute ((1 + x)^λ − 1)/λ with all digits for small x, and ln(1 + x) where λ = 0.

    x, lmbda: real, of shapes that broadcast. Source: Box & Cox (1964), J. R. Stat. Soc. B 26, 211.

    >>> import tenferro as tn
    >>> round(float(tn.special.boxcox1p(2.0, 2.0)), 12)
    4.0
    """
    base, power = real_operands("boxcox1p", x, lmbda)
    return _transform(base, log1p, 1 + base, power)


def _transform(x: Array, logarithm: Callable[[Array], Array], base: Array, power: Array) -> Array:
    """Compute (exp(λ ln b) − 1)/λ; at b = 0, where ln b has no slope, (b^λ − 1)/λ."""
    one = filled(x, 1)
    at_end = logical_and(eq(base, zeros(base)), ne(power, zeros(power)))
    level = logarithm(select(at_end, one, x))
    end_power = select(at_end, power, one)
    end = (ar.pow(select(at_end, base, one), end_power) - 1) / end_power
    return select(at_end, end, scaled_expm1(level, select(at_end, one, power)))


@covers("inv_boxcox", ufunc=True)
def inv_boxcox(y: Any, lmbda: Any) -> Array:
    """Compute (λy + 1)^(1/λ), the inverse of ``boxcox``, and exp(y) where λ = 0.

    y, lmbda: real, of shapes that broadcast. Source: Box & Cox (1964), J. R. Stat. Soc. B 26, 211.

    >>> import tenferro as tn
    >>> float(tn.special.inv_boxcox(0.0, 2.0))
    1.0
    """
    return exp(_exponent(*real_operands("inv_boxcox", y, lmbda)))


@covers("inv_boxcox1p", ufunc=True)
def inv_boxcox1p(y: Any, lmbda: Any) -> Array:
    """Compute (λy + 1)^(1/λ) − 1, the inverse of ``boxcox1p``, with all digits for small y.

    y, lmbda: real, of shapes that broadcast. Source: Box & Cox (1964), J. R. Stat. Soc. B 26, 211.

    >>> import tenferro as tn
    >>> float(tn.special.inv_boxcox1p(0.0, 2.0))
    0.0
    """
    return expm1(_exponent(*real_operands("inv_boxcox1p", y, lmbda)))


def _exponent(y: Array, power: Array) -> Array:
    """Compute ln(1 + λy)/λ, by a series where λy is small, as a sum where λy overflows."""
    growth = power * y
    is_small = lt(ar.abs(growth), filled(y, _MAX_GROWTH_OF_SERIES))
    is_small = is_small | eq(power, zeros(power))
    zero, one = zeros(y), filled(y, 1)
    endless = filled(y, float("inf"))
    is_finite = lt(ar.abs(y), endless)
    is_huge = is_finite & lt(ar.abs(power), endless) & eq(growth, endless)
    is_aside = is_small | is_huge
    inner = select(is_small, power, zero) * select(is_small & is_finite, y, zero)
    series = filled(y, _LOG1P[-1])
    for coefficient in reversed(_LOG1P[:-1]):
        series = series * inner + coefficient
    outer = select(is_aside, one, power)
    far = log1p(outer * select(is_aside, one, y)) / outer
    near = select(is_small, y, zero) * series
    outer = select(is_huge, power, one)
    huge = (log(ar.abs(outer)) + log(ar.abs(select(is_huge, y, one)))) / outer
    return select(is_huge, huge, select(is_small, near, far))

"""Distribution functions of ``scipy.special``, by SciPy's names and signatures.

They are incomplete gamma and beta functions of scaled operands, and have their derivatives.
Read next: ``student.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro.arrays.functions._factories import filled, zeros
from tenferro.arrays.functions._special_operands import real_operands
from tenferro.arrays.handle.array import Array
from tenferro.arrays.registry import covers
from tenferro.primitives import incomplete
from tenferro.primitives.comparison import ge, gt, logical_and, lt, select
from tenferro.primitives.rounding import floor

__all__ = ["chdtr", "chdtrc", "fdtr", "fdtrc", "gdtr", "gdtrc", "pdtr", "pdtrc"]


@covers("chdtr", ufunc=True)
def chdtr(v: Any, x: Any) -> Array:
    """Compute the probability of at most x of the chi-squared distribution of v degrees.

    >>> import tenferro as tn
    >>> round(float(tn.special.chdtr(2.0, 2.0)), 12)  # 1 - 1/e
    0.632120558829
    """
    shape, place = real_operands("chdtr", v, x)
    return incomplete.gammainc(shape * 0.5, place * 0.5)


@covers("chdtrc", ufunc=True)
def chdtrc(v: Any, x: Any) -> Array:
    """Compute the probability of more than x of the chi-squared distribution of v degrees."""
    shape, place = real_operands("chdtrc", v, x)
    return incomplete.gammaincc(shape * 0.5, place * 0.5)


@covers("gdtr", ufunc=True)
def gdtr(a: Any, b: Any, x: Any) -> Array:
    """Compute the probability of at most x of the gamma distribution of rate a and shape b."""
    rate, shape, place = real_operands("gdtr", a, b, x)
    return incomplete.gammainc(shape, rate * _unless_negative(place))


@covers("gdtrc", ufunc=True)
def gdtrc(a: Any, b: Any, x: Any) -> Array:
    """Compute the probability of more than x of the gamma distribution of rate a and shape b."""
    rate, shape, place = real_operands("gdtrc", a, b, x)
    return incomplete.gammaincc(shape, rate * _unless_negative(place))


@covers("pdtr", ufunc=True)
def pdtr(k: Any, m: Any) -> Array:
    """Compute the probability of at most k of the Poisson distribution of mean m.

    k is rounded down, so that the derivative by it is 0.
    """
    count, mean = real_operands("pdtr", k, m)
    return incomplete.gammaincc(floor(_unless_negative(count)) + 1, mean)


@covers("pdtrc", ufunc=True)
def pdtrc(k: Any, m: Any) -> Array:
    """Compute the probability of more than k of the Poisson distribution of mean m.

    k is rounded down, so that the derivative by it is 0.
    """
    count, mean = real_operands("pdtrc", k, m)
    return incomplete.gammainc(floor(_unless_negative(count)) + 1, mean)


@covers("fdtr", ufunc=True)
def fdtr(dfn: Any, dfd: Any, x: Any) -> Array:
    """Compute the probability of at most x of the F distribution of dfn and dfd degrees.

    Degrees of freedom are positive and finite; others give nan, as in SciPy.
    """
    return _of_ratio(*real_operands("fdtr", dfn, dfd, x))[0]


@covers("fdtrc", ufunc=True)
def fdtrc(dfn: Any, dfd: Any, x: Any) -> Array:
    """Compute the probability of more than x of the F distribution of dfn and dfd degrees.

    Degrees of freedom are positive and finite; others give nan, as in SciPy.
    """
    return _of_ratio(*real_operands("fdtrc", dfn, dfd, x))[1]


def _of_ratio(dfn: Array, dfd: Array, x: Array) -> tuple[Array, Array]:
    """Return I_w(dfn/2, dfd/2) and 1 less that, w = r/(1 + r), r = x dfn/dfd (DLMF 8.17.4).

    Where w is above a half, 1 - w = 1/(1 + r) has the digits.
    """
    one = filled(x, 1)
    upper, lower = _finite_and_positive(dfn), _finite_and_positive(dfd)
    ratio = upper / lower * _unless_negative(x)
    is_high = gt(ratio, one)
    low, high = select(is_high, one, ratio), select(is_high, ratio, one)
    place = select(is_high, 1 / (1 + high), low / (1 + low))
    first, second = upper * 0.5, lower * 0.5
    a, b = select(is_high, second, first), select(is_high, first, second)
    inside, outside = incomplete.betainc(a, b, place), incomplete.betaincc(a, b, place)
    return select(is_high, outside, inside), select(is_high, inside, outside)


def _finite_and_positive(df: Array) -> Array:
    """Return degrees of freedom, and nan where the F distribution has none such, as SciPy does."""
    legal = logical_and(gt(df, zeros(df)), lt(df, filled(df, float("inf"))))
    return select(legal, df, filled(df, float("nan")))


def _unless_negative(x: Array) -> Array:
    """Return x, and nan where it is negative."""
    return select(ge(x, zeros(x)), x, filled(x, float("nan")))

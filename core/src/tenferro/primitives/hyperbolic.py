"""Hyperbolic functions and their inverses.

The derivatives are those of Abramowitz & Stegun (1964), 4.5.71-73 and 4.6.37-39, in forms that
neither cancel nor overflow; the branch cuts are those of C99 (annex G), and the rules keep the sign
of a zero that says on which side of a cut a number lies. Read next: ``special.py``.
"""

from __future__ import annotations

from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Elementwise, bind
from tenferro.primitives.arithmetic import sqrt
from tenferro.primitives.complex import complex, imag, real
from tenferro.primitives.constants import full_like
from tenferro.primitives.trigonometric import asin_slope, hypot, unit

__all__ = [
    "Acosh", "Asinh", "Atanh", "Cosh", "Sinh", "Tanh", "acosh", "asinh", "atanh", "cosh", "sinh",
    "tanh",
]  # fmt: skip


class Sinh(Elementwise):
    """y = sinh x,   dy = cosh x dx"""

    key = "std::sinh"
    accepts = "inexact"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return cosh(x)


class Cosh(Elementwise):
    """y = cosh x,   dy = sinh x dx"""

    key = "std::cosh"
    accepts = "inexact"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return sinh(x)


class Tanh(Elementwise):
    """y = tanh x,   dy = (1 - y²) dx"""

    key = "std::tanh"
    accepts = "inexact"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return 1 - y * y


class Asinh(Elementwise):
    """y = arsinh x,   dy = dx / √(1 + x²)"""

    key = "std::asinh"
    accepts = "inexact"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        if x.dtype.is_complex:  # arsinh z = -i arcsin(iz)
            return asin_slope(complex(-imag(x), real(x)))
        return 1 / hypot(x, full_like(x, 1))


class Acosh(Elementwise):
    """y = arcosh x,   dy = dx / (√(x - 1) √(x + 1))"""

    key = "std::acosh"
    accepts = "inexact"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return 1 / (sqrt(x - 1) * sqrt(unit(x) + x))


class Atanh(Elementwise):
    """y = artanh x,   dy = dx / (1 - x²)"""

    key = "std::atanh"
    accepts = "inexact"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        one = unit(x)
        return 1 / (one - x) / (one + x)  # 1 - x² would cancel near ±1


def sinh(x: H) -> H:
    """Take the hyperbolic sine.

    x: f[*s]   →   y: f[*s]

    >>> from tenferro.primitives import sinh, variable
    >>> sinh(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Sinh(), x)


def cosh(x: H) -> H:
    """Take the hyperbolic cosine.

    x: f[*s]   →   y: f[*s]

    >>> from tenferro.primitives import cosh, variable
    >>> cosh(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Cosh(), x)


def tanh(x: H) -> H:
    """Take the hyperbolic tangent.

    x: f[*s]   →   y: f[*s]

    Convention   the derivative 1 - y² has an absolute error of one rounding, as y itself

    >>> from tenferro.primitives import tanh, variable
    >>> tanh(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Tanh(), x)


def asinh(x: H) -> H:
    """Take the inverse hyperbolic sine.

    x: f[*s]   →   y: f[*s]

    JVP          dy = dx / √(1 + x²)
    Convention   complex: cuts along the imaginary axis beyond ±i
    Source       Abramowitz & Stegun (1964), 4.6.37; cuts: ISO C99, annex G

    >>> from tenferro.primitives import asinh, variable
    >>> asinh(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Asinh(), x)


def acosh(x: H) -> H:
    """Take the inverse hyperbolic cosine, at least 0.

    x: f[*s]   →   y: f[*s]

    JVP          dy = dx / (√(x - 1) √(x + 1)), inf at 1
    Convention   complex: a cut along the real axis below 1
    Source       Abramowitz & Stegun (1964), 4.6.38; cuts: ISO C99, annex G

    >>> from tenferro.primitives import acosh, variable
    >>> acosh(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Acosh(), x)


def atanh(x: H) -> H:
    """Take the inverse hyperbolic tangent.

    x: f[*s]   →   y: f[*s]

    JVP          dy = dx / ((1 - x)(1 + x)), inf at ±1
    Convention   complex: cuts along the real axis beyond ±1
    Source       Abramowitz & Stegun (1964), 4.6.39; cuts: ISO C99, annex G

    >>> from tenferro.primitives import atanh, variable
    >>> atanh(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Atanh(), x)

"""The normal distribution function, its logarithm and inverse, and the scaled error function.

In addition the repeated integrals of erfc, scaled by exp(x²): they are the derivatives of
``erfcx``, and leave all digits in the tail, where 2x·erfcx(x) - 2/√π would lose them. Formulas of
Abramowitz & Stegun (1964), chapters 7 and 26. Read next: ``incomplete.py``.
"""

from __future__ import annotations

from math import pi, sqrt

from tenferro.primitives._checks import integers
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Elementwise, bind
from tenferro.primitives.comparison import lt, select
from tenferro.primitives.constants import full_like, zeros_like
from tenferro.primitives.elementwise import exp

__all__ = [
    "Erfcinv", "Erfcx", "LogNdtr", "Ndtr", "Ndtri", "erfcinv", "erfcx", "log_ndtr", "ndtr", "ndtri",
]  # fmt: skip


class Erfcx(Elementwise):
    """y = n! exp(x²) iⁿerfc x, erfcx for n = 0,   dy/dx = -2 times that of n + 1;   real only"""

    key = "std::erfcx"
    accepts = "float"
    order: int = 0

    def __post_init__(self) -> None:
        self._set(order=integers(self, "order", (self.order,))[0])

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return -2 * erfcx(x, self.order + 1)


class Ndtr(Elementwise):
    """y = Φ(x) = ½ erfc(-x/√2),   dy = exp(-x²/2)/√(2π) dx;   real only"""

    key = "std::ndtr"
    accepts = "float"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return _normal_density(x)


class LogNdtr(Elementwise):
    """y = ln Φ(x),   dy = φ(x)/Φ(x) dx, without forming either part in the lower tail"""

    key = "std::log_ndtr"
    accepts = "float"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        zero = zeros_like(x)
        is_low = lt(x, zero)
        low, high = select(is_low, x, zero), select(is_low, zero, x)
        # Higher derivatives of a quotient of erfcx would cancel far out, and underflow.
        is_far = lt(x, full_like(x, -128))
        near, far = select(is_far, zero, low), select(is_far, x, full_like(x, -128))
        tail = sqrt(2 / pi) / erfcx(near * (-1 / sqrt(2)))
        tail = select(is_far, _far_inverse_of_mills_ratio(far), tail)
        return select(is_low, tail, _normal_density(high) / ndtr(high))


class Ndtri(Elementwise):
    """Φ(y) = x,   dy = √(2π) exp(y²/2) dx;   real only"""

    key = "std::ndtri"
    accepts = "float"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return sqrt(2 * pi) * exp(y * y * 0.5)


class Erfcinv(Elementwise):
    """erfc y = x,   dy = -√π/2 exp(y²) dx;   real only"""

    key = "std::erfcinv"
    accepts = "float"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return -sqrt(pi) / 2 * exp(y * y)


def _far_inverse_of_mills_ratio(x: Handle) -> Handle:
    """φ(x)/Φ(x) for x <= -128, from the asymptotic series of Φ: A&S 26.2.12."""
    inverse = 1 / x
    square = inverse * inverse
    series = 1 - square * (2 - square * (10 - square * (74 - square * 706)))
    return -x - inverse * series


def _normal_density(x: Handle) -> Handle:
    return 1 / sqrt(2 * pi) * exp(x * x * -0.5)


def erfcx(x: H, order: int = 0) -> H:
    """Take the scaled complementary error function, or a scaled repeated integral of it.

    x: f[*s]   →   y: f[*s]

    Definition   y = exp(x²) erfc x, and for order n its n-th derivative divided by (-2)ⁿ:
                 y = 2/√π ∫₀^∞ tⁿ exp(-t² - 2xt) dt
    JVP          dy = -2 y_{n+1}·dx
    Raises       DTypeMismatchError: if the operand is complex.
                 InvalidParameterError: if the order is negative.
    Source       Abramowitz & Stegun (1964), 7.2.3 and 7.2.5

    >>> from tenferro.primitives import erfcx, variable
    >>> erfcx(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Erfcx(order), x)


def ndtr(x: H) -> H:
    """Take the distribution function of the standard normal distribution.

    x: f[*s]   →   y: f[*s]

    Definition   y = Φ(x) = (2π)^(-½) ∫_{-∞}ˣ exp(-t²/2) dt
    JVP          dy = (2π)^(-½) exp(-x²/2)·dx
    Raises       DTypeMismatchError: if the operand is complex.
    Source       Abramowitz & Stegun (1964), 26.2.2 and 26.2.29

    >>> from tenferro.primitives import ndtr, variable
    >>> ndtr(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Ndtr(), x)


def log_ndtr(x: H) -> H:
    """Take the logarithm of the normal distribution function, also where that is below every float.

    x: f[*s]   →   y: f[*s]

    Definition   y = ln Φ(x)
    JVP          dy = √(2/π) / erfcx(-x/√2)·dx
    Raises       DTypeMismatchError: if the operand is complex.
    Source       Abramowitz & Stegun (1964), 26.2.2 and 26.2.29

    >>> from tenferro.primitives import log_ndtr, variable
    >>> log_ndtr(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(LogNdtr(), x)


def ndtri(x: H) -> H:
    """Take the inverse of the normal distribution function.

    x: f[*s]   →   y: f[*s]

    Definition   Φ(y) = x; -inf at 0, inf at 1, nan beyond
    JVP          dy = √(2π) exp(y²/2)·dx
    Raises       DTypeMismatchError: if the operand is complex.
    Source       the inverse function rule with Abramowitz & Stegun (1964), 26.2.2

    >>> from tenferro.primitives import ndtri, variable
    >>> ndtri(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Ndtri(), x)


def erfcinv(x: H) -> H:
    """Take the inverse of the complementary error function, with all digits near x = 0.

    x: f[*s]   →   y: f[*s]

    Definition   erfc y = x; inf at 0, -inf at 2, nan beyond
    JVP          dy = -√π/2 exp(y²)·dx
    Raises       DTypeMismatchError: if the operand is complex.
    Source       the inverse function rule with Abramowitz & Stegun (1964), 7.1.19

    >>> from tenferro.primitives import erfcinv, variable
    >>> erfcinv(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Erfcinv(), x)

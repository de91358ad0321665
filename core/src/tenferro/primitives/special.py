"""Special functions of a real variable: the error function and the gamma function, and their kin.

Each derivative is again in the file, so that derivatives of every order exist: digamma leads to
``polygamma``, whose order counts up. The formulas are those of Abramowitz & Stegun (1964),
chapters 6 and 7. Read next: ``rounding.py``.
"""

from __future__ import annotations

from math import pi, sqrt

from tenferro.primitives._checks import integer
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Elementwise, bind
from tenferro.primitives.elementwise import exp

__all__ = [
    "Digamma", "Erf", "Erfc", "Erfinv", "Lgamma", "Polygamma", "digamma", "erf", "erfc", "erfinv",
    "lgamma", "polygamma",
]  # fmt: skip

# Of a polygamma function: factors of the reflection formula are no float64 from 164 on.
HIGHEST_ORDER = 160


class Erf(Elementwise):
    """y = 2/√π ∫₀ˣ exp(-t²) dt,   dy = 2/√π exp(-x²) dx;   real only"""

    key = "std::erf"
    accepts = "float"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return 2 / sqrt(pi) * exp(-(x * x))


class Erfc(Elementwise):
    """y = 1 - erf x,   dy = -2/√π exp(-x²) dx;   real only"""

    key = "std::erfc"
    accepts = "float"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return -2 / sqrt(pi) * exp(-(x * x))


class Erfinv(Elementwise):
    """erf y = x,   dy = √π/2 exp(y²) dx;   real only"""

    key = "std::erfinv"
    accepts = "float"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return sqrt(pi) / 2 * exp(y * y)


class Lgamma(Elementwise):
    """y = ln |Γ(x)|,   dy = ψ(x) dx;   real only"""

    key = "std::lgamma"
    accepts = "float"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return digamma(x)


class Digamma(Elementwise):
    """y = ψ(x) = Γ'(x)/Γ(x),   dy = ψ⁽¹⁾(x) dx;   real only"""

    key = "std::digamma"
    accepts = "float"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return polygamma(1, x)


class Polygamma(Elementwise):
    """y = ψ⁽ⁿ⁾(x), n >= 1,   dy = ψ⁽ⁿ⁺¹⁾(x) dx;   real only"""

    key = "std::polygamma"
    accepts = "float"
    order: int

    def __post_init__(self) -> None:
        fact = "no such derivative (`digamma` is order 0)"
        order = integer(self, "order", fact, minimum=1, maximum=HIGHEST_ORDER)
        self._set(order=order)

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return polygamma(self.order + 1, x)


def erf(x: H) -> H:
    """Take the error function.

    x: f[*s]   →   y: f[*s]

    Definition   y = 2/√π ∫₀ˣ exp(-t²) dt
    Raises       DTypeMismatchError: if the operand is complex.
    Source       Abramowitz & Stegun (1964), 7.1.1 and 7.1.19

    >>> from tenferro.primitives import erf, variable
    >>> erf(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Erf(), x)


def erfc(x: H) -> H:
    """Take the complementary error function, without loss of digits where it is small.

    x: f[*s]   →   y: f[*s]

    Definition   y = 2/√π ∫ₓ^∞ exp(-t²) dt = 1 - erf x
    JVP          dy = -2/√π exp(-x²) dx
    Raises       DTypeMismatchError: if the operand is complex.
    Source       Abramowitz & Stegun (1964), 7.1.2 and 7.1.19

    >>> from tenferro.primitives import erfc, variable
    >>> erfc(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Erfc(), x)


def erfinv(x: H) -> H:
    """Take the inverse of the error function.

    x: f[*s]   →   y: f[*s]

    Definition   erf y = x; ±inf at ±1, nan beyond
    JVP          dy = √π/2 exp(y²) dx
    Raises       DTypeMismatchError: if the operand is complex.
    Source       the inverse function rule with Abramowitz & Stegun (1964), 7.1.19

    >>> from tenferro.primitives import erfinv, variable
    >>> erfinv(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Erfinv(), x)


def lgamma(x: H) -> H:
    """Take the logarithm of the absolute value of the gamma function.

    x: f[*s]   →   y: f[*s]

    Definition   y = ln |Γ(x)|; inf at 0, -1, -2, …
    JVP          dy = ψ(x) dx
    Raises       DTypeMismatchError: if the operand is complex.
    Source       Abramowitz & Stegun (1964), 6.1.1 and 6.3.1

    >>> from tenferro.primitives import lgamma, variable
    >>> lgamma(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Lgamma(), x)


def digamma(x: H) -> H:
    """Take the logarithmic derivative of the gamma function.

    x: f[*s]   →   y: f[*s]

    Definition   y = ψ(x) = Γ'(x) / Γ(x); poles at 0, -1, -2, …
    JVP          dy = ψ⁽¹⁾(x) dx
    Raises       DTypeMismatchError: if the operand is complex.
    Source       Abramowitz & Stegun (1964), 6.3.1 and 6.4.1

    >>> from tenferro.primitives import digamma, variable
    >>> digamma(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Digamma(), x)


def polygamma(order: int, x: H) -> H:
    """Take a derivative of the digamma function; order 0 is digamma itself.

    x: f[*s]   →   y: f[*s]

    Definition   y = dⁿψ/dxⁿ = (-1)ⁿ⁺¹ n! Σ_k (x + k)⁻ⁿ⁻¹
    JVP          dy = ψ⁽ⁿ⁺¹⁾(x) dx
    Raises       DTypeMismatchError: if the operand is complex.
                 InvalidParameterError: if the order is negative.
    Source       Abramowitz & Stegun (1964), 6.4.1 and 6.4.10

    >>> from tenferro.primitives import polygamma, variable
    >>> polygamma(1, variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Polygamma(order) if order else Digamma(), x)

"""Modified Bessel functions, plain and without their exponential factor.

I has integer orders, K real ones.

Derivatives raise and lower the order, so that they exist to every order, those of I at 0 too. Where
x is large, the slope of a scaled function is what two nearly equal ones leave; there it is taken
from the asymptotic series instead. Formulas of Abramowitz & Stegun (1964), chapter 9, and of the
NIST Digital Library of Mathematical Functions (DLMF), chapter 10. Read next: ``cylinder.py``.
"""

from __future__ import annotations

from math import pi

from tenferro.primitives import _bessel_formulas as formulas
from tenferro.primitives._bessel_formulas import HIGHEST_ORDER
from tenferro.primitives._checks import integers, order_up_to
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Elementwise, bind
from tenferro.primitives.arithmetic import abs as absolute
from tenferro.primitives.arithmetic import rsqrt, sign
from tenferro.primitives.comparison import gt, select
from tenferro.primitives.constants import full_like

__all__ = [
    "BesselI", "BesselIe", "BesselK", "BesselKe", "bessel_i", "bessel_ie", "bessel_k", "bessel_ke",
]  # fmt: skip

_MIN_X_OF_ASYMPTOTIC_SERIES = 40.0  # beyond it fifteen terms of the series for large x are enough
_TERMS = 16


class BesselI(Elementwise):
    """y = Iₙ(x),   dy = ½ (Iₙ₋₁(x) + Iₙ₊₁(x)) dx;   real only"""

    key = "std::bessel_i"
    accepts = "float"
    order: int = 0

    def __post_init__(self) -> None:
        self._set(order=integers(self, "order", (self.order,))[0])

    def derivative(self, x: Handle, y: Handle) -> Handle:
        if not self.order:
            return bessel_i(1, x)
        return (bessel_i(self.order - 1, x) + bessel_i(self.order + 1, x)) * 0.5

    def decompose(self, x: Handle) -> Handle:
        def formula(x: Handle) -> Handle:
            scaled = formulas.bessel_i_scaled(self.order, x)
            return formulas.unscaled(scaled, absolute(x))

        return formulas.widened(formula, x)


class BesselIe(Elementwise):
    """y = exp(-|x|) Iₙ(x),   dy = (½ (yₙ₋₁ + yₙ₊₁) - sgn(x) y) dx, with sgn 0 = 0;   real only"""

    key = "std::bessel_ie"
    accepts = "float"
    order: int = 0

    def __post_init__(self) -> None:
        self._set(order=integers(self, "order", (self.order,))[0])

    def derivative(self, x: Handle, y: Handle) -> Handle:
        n, border = self.order, max(_MIN_X_OF_ASYMPTOTIC_SERIES, 4.0 * self.order**2)
        far = full_like(x, border)
        is_far = gt(absolute(x), far)
        size = select(is_far, absolute(x), far)
        beyond = _asymptotic_slope(n, size, border, -1, (2 * pi) ** -0.5)
        beyond = beyond if n % 2 else beyond * sign(x)
        raised = bessel_ie(n + 1, x)
        near = (bessel_ie(n - 1, x) + raised) * 0.5 if n else raised
        return select(is_far, beyond, near - sign(x) * y)

    def decompose(self, x: Handle) -> Handle:
        return formulas.widened(lambda x: formulas.bessel_i_scaled(self.order, x), x)


class BesselK(Elementwise):
    """y = K_ν(x),   dy = -½ (K_{ν-1}(x) + K_{ν+1}(x)) dx, with K_{-ν} = K_ν;   real only"""

    key = "std::bessel_k"
    accepts = "float"
    order: float = 0

    def __post_init__(self) -> None:
        self._set(order=_order_of_k(self))

    def derivative(self, x: Handle, y: Handle) -> Handle:
        if not self.order:
            return -bessel_k(1, x)
        return (bessel_k(abs(self.order - 1), x) + bessel_k(self.order + 1, x)) * -0.5

    def decompose(self, x: Handle) -> Handle:
        def formula(x: Handle) -> Handle:
            scaled = formulas.bessel_k_scaled(self.order, x)
            return formulas.unscaled(scaled, -x)

        return formulas.widened(formula, x)


class BesselKe(Elementwise):
    """y = exp(x) K_ν(x),   dy = (y - ½ (y_{ν-1} + y_{ν+1})) dx;   real only"""

    key = "std::bessel_ke"
    accepts = "float"
    order: float = 0

    def __post_init__(self) -> None:
        self._set(order=_order_of_k(self))

    def derivative(self, x: Handle, y: Handle) -> Handle:
        n, border = self.order, max(_MIN_X_OF_ASYMPTOTIC_SERIES, 4.0 * self.order**2)
        far = full_like(x, border)
        is_far = gt(x, far)
        beyond = _asymptotic_slope(n, select(is_far, x, far), border, 1, (pi / 2) ** 0.5)
        raised = bessel_ke(n + 1, x)
        near = y - ((bessel_ke(abs(n - 1), x) + raised) * 0.5 if n else raised)
        return select(is_far, beyond, near)

    def decompose(self, x: Handle) -> Handle:
        return formulas.widened(lambda x: formulas.bessel_k_scaled(self.order, x), x)


def _order_of_k(op: BesselK | BesselKe) -> float:
    return order_up_to(op, HIGHEST_ORDER)


def _asymptotic_slope(n: float, x: Handle, border: float, turn: int, factor: float) -> Handle:
    """Sum the derivative of Σ_k c_k x^(-k-½), x >= border, term by term.

    ``turn`` is the sign of a step of the series: -1 for I (A. & S. (1964), 9.7.1), 1 for K (9.7.2).
    """
    coefficients, c = [], factor
    for k in range(_TERMS):
        coefficients.append(-(k + 0.5) * c)
        c *= turn * (4 * n * n - (2 * k + 1) ** 2) / (8 * (k + 1) * border)
    ratio = border / x
    total = full_like(x, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        total = total * ratio + c
    return total * rsqrt(x) / x


def bessel_i(order: int, x: H) -> H:
    """Take a modified Bessel function of the first kind, of integer order.

    x: f[*s]   →   y: f[*s]

    Definition   y = Iₙ(x) = 1/π ∫₀^π exp(x cos t) cos nt dt
    JVP          dy = ½ (Iₙ₋₁(x) + Iₙ₊₁(x))·dx
    Raises       DTypeMismatchError: if the operand is complex.
                 InvalidParameterError: if the order is negative.
    Source       Abramowitz & Stegun (1964), 9.6.19 and 9.6.26

    >>> from tenferro.primitives import bessel_i, variable
    >>> bessel_i(0, variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(BesselI(order), x)


def bessel_ie(order: int, x: H) -> H:
    """Take a modified Bessel function of the first kind, times exp(-|x|): nothing overflows.

    x: f[*s]   →   y: f[*s]

    Definition   y = exp(-|x|) Iₙ(x)
    JVP          dy = (½ (yₙ₋₁ + yₙ₊₁) - sgn(x) yₙ)·dx
    Convention   the derivative at 0 is that of Iₙ: |x| has the derivative 0 there
    Raises       DTypeMismatchError: if the operand is complex.
                 InvalidParameterError: if the order is negative.
    Source       Abramowitz & Stegun (1964), 9.6.26; 9.7.1 where x is large

    >>> from tenferro.primitives import bessel_ie, variable
    >>> bessel_ie(0, variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(BesselIe(order), x)


def bessel_k(order: float, x: H) -> H:
    """Take a modified Bessel function of the second kind, of real order.

    x: f[*s]   →   y: f[*s]

    Definition   y = K_ν(x) = ∫₀^∞ exp(-x cosh t) cosh νt dt;   inf at 0, nan for x < 0
    JVP          dy = -½ (K_{ν-1}(x) + K_{ν+1}(x))·dx
    Raises       DTypeMismatchError: if the operand is complex.
                 InvalidParameterError: if the order is negative, or above 128.
    Source       DLMF 10.32.9 and 10.29.1; Temme (1975) for x < 1

    >>> from tenferro.primitives import bessel_k, variable
    >>> bessel_k(0, variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(BesselK(order), x)


def bessel_ke(order: float, x: H) -> H:
    """Take a modified Bessel function of the second kind, times exp(x): nothing underflows.

    x: f[*s]   →   y: f[*s]

    Definition   y = exp(x) K_ν(x)
    JVP          dy = (y_ν - ½ (y_{ν-1} + y_{ν+1}))·dx
    Raises       DTypeMismatchError: if the operand is complex.
                 InvalidParameterError: if the order is negative, or above 128.
    Source       DLMF 10.29.1; Abramowitz & Stegun (1964), 9.7.2 where x is large

    >>> from tenferro.primitives import bessel_ke, variable
    >>> bessel_ke(0, variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(BesselKe(order), x)

"""The exponential integrals Ei of a real number and E_n of a positive one.

Both have a decomposition that serves every backend: a power series where x is small, a continued
fraction or an asymptotic series of fixed length where it is large. Derivatives of E_n lower the
order down to E₀(x) = exp(-x)/x. Formulas of the NIST Digital Library of Mathematical Functions
(DLMF), chapters 6 and 8. Read next: ``elliptic.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from math import log as ln

from tenferro.primitives._bessel_formulas import EULER, widened
from tenferro.primitives._checks import integer
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Elementwise, bind
from tenferro.primitives.comparison import eq, gt, le, lt, select
from tenferro.primitives.constants import full_like, zeros_like
from tenferro.primitives.elementwise import exp, log

__all__ = ["Expi", "Expn", "expi", "expn"]

INF, NAN = float("inf"), float("nan")
_MAX_X_OF_SERIES = 1.5  # beyond it the terms of E₁ cancel
_DEPTH = 64  # of the continued fraction: its error is exp(-4 √(depth · x)), x >= 1.5
_MIN_ORDER_OF_FRACTION = 16  # from here on the continued fraction serves every x
# Σ (-x)^k/(k k!), k >= 1, divided by x
_SERIES = tuple((-1) ** k / (k * factorial(k)) for k in range(1, 22))
_BORDER = {True: 40, False: 20}  # of Ei, by double precision: k!/x^k falls below its rounding there


def _min_x_of_overflow(largest: float) -> float:
    """Return an x from which exp(x)/x is above the largest number, by x = ln(largest) + ln x."""
    limit = ln(largest)
    return limit + ln(limit + 2 * ln(limit))


class Expi(Elementwise):
    """y = Ei(x), the principal value of ∫ exp(t)/t dt from -∞ to x,   dy = exp(x)/x dx"""

    key = "std::expi"
    accepts = "float"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        # exp(x) overflows before exp(x)/x does; where that does as well, terms of opposite signs
        # would overflow in its derivatives.
        is_far = gt(x, full_like(x, _min_x_of_overflow(x.dtype.largest)))
        near, far = select(is_far, full_like(x, 1), x), select(is_far, x, zeros_like(x))
        half = exp(near * 0.5)
        return select(is_far, exp(far), half / near * half)

    def decompose(self, x: Handle) -> Handle:
        return widened(_expi, x)


class Expn(Elementwise):
    """y = E_n(x) = ∫₁^∞ exp(-xt)/tⁿ dt, x >= 0,   dy = -E_{n-1}(x) dx;   real only"""

    key = "std::expn"
    accepts = "float"
    order: int = 1

    def __post_init__(self) -> None:
        self._set(order=integer(self, "order", "no such exponential integral", minimum=0))

    def derivative(self, x: Handle, y: Handle) -> Handle:
        if not self.order:
            return -y * (1 + 1 / x)
        return -expn(self.order - 1, x)

    def decompose(self, x: Handle) -> Handle:
        return widened(lambda x: _expn(self.order, x), x)


def _expi(x: Handle) -> Handle:
    """Return -E₁(-x) for x < 0, else γ + ln x + Σ x^k/(k k!), or exp(x)/x Σ k!/x^k: DLMF 6.6, 6.12.

    Near the zero 0.3725 the error is relative to the terms.
    """
    border = _BORDER[x.dtype.bits == 64]
    count = int(2.8 * border)
    zero, top = zeros_like(x), full_like(x, border)
    is_negative, is_far = lt(x, zero), gt(x, top)
    negative = -_expn(1, select(is_negative, -x, full_like(x, 1)))
    near = select(is_negative, full_like(x, 1), select(is_far, top, x))
    ratio = near * (1 / border)
    terms = [border**k / (k * factorial(k)) for k in range(1, count)]
    series = log(near) + EULER + ratio * _horner(terms, ratio)
    far = select(is_far, x, top)
    inverse = border / far
    tail = _horner([factorial(k) / border**k for k in range(border)], inverse)
    half = exp(far * 0.5)
    beyond = select(eq(far, full_like(x, INF)), far, half * (half / far * tail))
    return select(is_negative, negative, select(is_far, beyond, series))


def _expn(order: int, x: Handle) -> Handle:
    """Return E_n by DLMF 8.19.17 where x is large, else by 6.6.2 and the recurrence 8.19.12."""
    if not order:
        return select(lt(x, zeros_like(x)), full_like(x, NAN), exp(-x) / x)
    is_near = le(x, full_like(x, _MAX_X_OF_SERIES if order < _MIN_ORDER_OF_FRACTION else -1))
    far = select(is_near, full_like(x, _MAX_X_OF_SERIES), x)
    fraction = far + (order + 2 * _DEPTH)
    for k in range(_DEPTH, 0, -1):
        fraction = far + (order + 2 * (k - 1)) - k * (order + k - 1) / fraction
    value = exp(-far) / fraction
    if order < _MIN_ORDER_OF_FRACTION:
        near = _expn_near(order, select(is_near, x, full_like(x, 1)))
        value = select(is_near, near, value)
    value = select(eq(x, full_like(x, INF)), zeros_like(x), value)
    return select(lt(x, zeros_like(x)), full_like(x, NAN), value)


def _expn_near(order: int, x: Handle) -> Handle:
    is_zero = eq(x, zeros_like(x))
    inner = select(is_zero, full_like(x, 1), x)
    value = -(log(inner) + EULER) - inner * _horner(_SERIES, inner)
    grown = exp(-inner)
    for n in range(1, order):
        value = (grown - inner * value) * (1 / n)
    return select(is_zero, full_like(x, 1 / (order - 1) if order > 1 else INF), value)


def _horner(coefficients: Sequence[float], x: Handle) -> Handle:
    """Compute Σ_k c_k x^k."""
    value = full_like(x, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        value = value * x + coefficient
    return value


def expi(x: H) -> H:
    """Take the exponential integral Ei.

    x: f[*s]   →   y: f[*s]

    Definition   y = Ei(x), the principal value of ∫ exp(t)/t dt from -∞ to x; -inf at 0
    JVP          dy = exp(x)/x·dx
    Raises       DTypeMismatchError: if the operand is complex.
    Source       NIST Digital Library of Mathematical Functions (DLMF), 6.2.5, 6.6.1 and 6.12.2

    >>> from tenferro.primitives import expi, variable
    >>> expi(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Expi(), x)


def expn(order: int, x: H) -> H:
    """Take the generalized exponential integral of an integer order.

    x: f[*s]   →   y: f[*s]

    Definition   y = E_n(x) = ∫₁^∞ exp(-xt)/tⁿ dt;   nan for x < 0
    JVP          dy = -E_{n-1}(x)·dx, with E₀(x) = exp(-x)/x
    Raises       DTypeMismatchError: if the operand is complex.
                 InvalidParameterError: if the order is negative.
    Source       DLMF 8.19.3, 8.19.12, 8.19.13 and 8.19.17

    >>> from tenferro.primitives import expn, variable
    >>> expn(1, variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Expn(order), x)

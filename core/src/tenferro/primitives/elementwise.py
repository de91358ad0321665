"""Analytic functions, element by element, real and complex.

One line of mathematics each: ``derivative(x, y)`` is the holomorphic derivative in terms of the
input and the output; the base class derives the JVP and the conjugated VJP. The formulas are those
of Abramowitz & Stegun, Handbook of Mathematical Functions (1964), chapters 4 and 7; where two
forms are equal, the one that does not lose digits is taken. Read next: ``arithmetic.py``.
"""

from __future__ import annotations

from math import pi, sqrt

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import of_kind
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Elementwise, bind


class Exp(Elementwise):
    """y = eˣ,   dy = y dx"""

    key = "std::exp"

    def abstract_eval(self, x: Aval) -> Aval:
        return of_kind(self, "inexact", x)

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return y


class Log(Elementwise):
    """y = ln x,   dy = dx / x"""

    key = "std::log"

    def abstract_eval(self, x: Aval) -> Aval:
        return of_kind(self, "inexact", x)

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return 1 / x


class Expm1(Elementwise):
    """y = eˣ - 1,   dy = eˣ dx  (y + 1 would lose the digits of small eˣ)"""

    key = "std::expm1"

    def abstract_eval(self, x: Aval) -> Aval:
        return of_kind(self, "inexact", x)

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return exp(x)


class Log1p(Elementwise):
    """y = ln(1 + x),   dy = dx / (1 + x)"""

    key = "std::log1p"

    def abstract_eval(self, x: Aval) -> Aval:
        return of_kind(self, "inexact", x)

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return 1 / (1 + x)


class Sin(Elementwise):
    """y = sin x,   dy = cos x dx"""

    key = "std::sin"

    def abstract_eval(self, x: Aval) -> Aval:
        return of_kind(self, "inexact", x)

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return cos(x)


class Cos(Elementwise):
    """y = cos x,   dy = -sin x dx"""

    key = "std::cos"

    def abstract_eval(self, x: Aval) -> Aval:
        return of_kind(self, "inexact", x)

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return -sin(x)


class Tan(Elementwise):
    """y = tan x,   dy = (1 + y²) dx"""

    key = "std::tan"

    def abstract_eval(self, x: Aval) -> Aval:
        return of_kind(self, "inexact", x)

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return 1 + y * y


class Tanh(Elementwise):
    """y = tanh x,   dy = (1 - y²) dx"""

    key = "std::tanh"

    def abstract_eval(self, x: Aval) -> Aval:
        return of_kind(self, "inexact", x)

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return 1 - y * y


class Logistic(Elementwise):
    """y = 1 / (1 + e⁻ˣ),   dy = y (1 - y) dx"""

    key = "std::logistic"

    def abstract_eval(self, x: Aval) -> Aval:
        return of_kind(self, "inexact", x)

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return y * logistic(-x)  # 1 - y would cancel where y is near 1


class Erf(Elementwise):
    """y = 2/√π ∫₀ˣ exp(-t²) dt,   dy = 2/√π exp(-x²) dx;   real only"""

    key = "std::erf"

    def abstract_eval(self, x: Aval) -> Aval:
        return of_kind(self, "float", x)

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return 2 / sqrt(pi) * exp(-(x * x))


def exp(x: H) -> H:
    """Raise e to the power x.

    x: f[*s]   →   y: f[*s]

    >>> from tenferro.primitives import exp, variable
    >>> exp(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Exp(), x)


def log(x: H) -> H:
    """Take the natural logarithm.

    x: f[*s]   →   y: f[*s]

    Convention   complex: the principal branch, cut along the negative real axis

    >>> from tenferro.primitives import log, variable
    >>> log(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Log(), x)


def expm1(x: H) -> H:
    """Compute eˣ - 1 without loss of digits near 0.

    x: f[*s]   →   y: f[*s]

    >>> from tenferro.primitives import expm1, variable
    >>> expm1(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Expm1(), x)


def log1p(x: H) -> H:
    """Compute ln(1 + x) without loss of digits near 0.

    x: f[*s]   →   y: f[*s]

    Convention   complex: the principal branch

    >>> from tenferro.primitives import log1p, variable
    >>> log1p(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Log1p(), x)


def sin(x: H) -> H:
    """Take the sine of an angle in radians.

    x: f[*s]   →   y: f[*s]

    >>> from tenferro.primitives import sin, variable
    >>> sin(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Sin(), x)


def cos(x: H) -> H:
    """Take the cosine of an angle in radians.

    x: f[*s]   →   y: f[*s]

    >>> from tenferro.primitives import cos, variable
    >>> cos(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Cos(), x)


def tan(x: H) -> H:
    """Take the tangent of an angle in radians.

    x: f[*s]   →   y: f[*s]

    >>> from tenferro.primitives import tan, variable
    >>> tan(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Tan(), x)


def tanh(x: H) -> H:
    """Take the hyperbolic tangent.

    x: f[*s]   →   y: f[*s]

    Convention   the derivative 1 - y² has an absolute error of one rounding, as y itself

    >>> from tenferro.primitives import tanh, variable
    >>> tanh(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Tanh(), x)


def logistic(x: H) -> H:
    """Take the logistic sigmoid, without overflow at either end.

    x: f[*s]   →   y: f[*s]

    Definition   y = 1 / (1 + e⁻ˣ)

    >>> from tenferro.primitives import logistic, variable
    >>> logistic(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Logistic(), x)


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

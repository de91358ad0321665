"""Exponentials and logarithms, real and complex.

One line of mathematics each: ``derivative(x, y)`` is the holomorphic derivative in terms of the
input and the output; the base class derives the JVP and the conjugated VJP. The formulas are those
of Abramowitz & Stegun, Handbook of Mathematical Functions (1964), chapter 4; where two forms are
equal, the one that does not lose digits is taken. Read next: ``trigonometric.py``.
"""

from __future__ import annotations

from math import log as ln

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import accepted
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Elementwise, Mixed, bind, dtype_of, pointwise
from tenferro.primitives.comparison import eq, logical_and, lt, ne, select
from tenferro.primitives.constants import zeros_like

__all__ = [
    "Exp", "Exp2", "Expm1", "Log", "Log1p", "Log2", "Log10", "Logaddexp", "Logistic", "exp", "exp2",
    "expm1", "log", "log1p", "log2", "log10", "logaddexp", "logistic",
]  # fmt: skip


class Exp(Elementwise):
    """y = eˣ,   dy = y dx"""

    key = "std::exp"
    accepts = "inexact"
    rules_look_at = dtype_of

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return y


class Log(Elementwise):
    """y = ln x,   dy = dx / x"""

    key = "std::log"
    accepts = "inexact"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return 1 / x


class Expm1(Elementwise):
    """y = eˣ - 1,   dy = eˣ dx  (y + 1 would lose the digits of small eˣ)"""

    key = "std::expm1"
    accepts = "inexact"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return exp(x)


class Log1p(Elementwise):
    """y = ln(1 + x),   dy = dx / (1 + x)"""

    key = "std::log1p"
    accepts = "inexact"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return 1 / (1 + x)


class Logistic(Elementwise):
    """y = 1 / (1 + e⁻ˣ),   dy = y (1 - y) dx"""

    key = "std::logistic"
    accepts = "inexact"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return y * logistic(-x)  # 1 - y would cancel where y is near 1


class Exp2(Elementwise):
    """y = 2ˣ,   dy = y ln 2 dx"""

    key = "std::exp2"
    accepts = "inexact"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return ln(2) * y


class Log2(Elementwise):
    """y = log₂ x,   dy = dx / (x ln 2)"""

    key = "std::log2"
    accepts = "inexact"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return 1 / ln(2) / x


class Log10(Elementwise):
    """y = log₁₀ x,   dy = dx / (x ln 10)"""

    key = "std::log10"
    accepts = "inexact"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return 1 / ln(10) / x


class Logaddexp(Mixed):
    """z = ln(eˣ + eʸ),   dz = σ(x - y) dx + σ(y - x) dy, σ the logistic function;   real only"""

    key = "std::logaddexp"
    accepts = "float"
    batch = pointwise
    commutative = True
    linear = ()

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y)

    def decompose(self, x: Handle, y: Handle) -> Handle:
        return select(lt(x, y), y, x) + log1p(exp(-abs(excess(x, y))))

    def jvp_x(self, dx: Handle, x: Handle, y: Handle, z: Handle) -> Handle:
        return logistic(excess(x, y)) * dx

    def jvp_y(self, dy: Handle, x: Handle, y: Handle, z: Handle) -> Handle:
        return logistic(-excess(x, y)) * dy


def excess(x: Handle, y: Handle) -> Handle:
    """x - y, and 0 for equal infinities: they share equally, as at every tie."""
    difference = x - y
    infinite = logical_and(eq(x, y), ne(difference, difference))  # inf - inf is nan
    return select(infinite, zeros_like(x), difference)


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


def logistic(x: H) -> H:
    """Take the logistic sigmoid, without overflow at either end.

    x: f[*s]   →   y: f[*s]

    Definition   y = 1 / (1 + e⁻ˣ)

    >>> from tenferro.primitives import logistic, variable
    >>> logistic(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Logistic(), x)


def exp2(x: H) -> H:
    """Raise 2 to the power x.

    x: f[*s]   →   y: f[*s]

    >>> from tenferro.primitives import exp2, variable
    >>> exp2(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Exp2(), x)


def log2(x: H) -> H:
    """Take the logarithm to the base 2.

    x: f[*s]   →   y: f[*s]

    Convention   complex: the principal branch, cut along the negative real axis

    >>> from tenferro.primitives import log2, variable
    >>> log2(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Log2(), x)


def log10(x: H) -> H:
    """Take the logarithm to the base 10.

    x: f[*s]   →   y: f[*s]

    Convention   complex: the principal branch, cut along the negative real axis

    >>> from tenferro.primitives import log10, variable
    >>> log10(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Log10(), x)


def logaddexp(x: H, y: H) -> H:
    """Add two numbers that are given by their logarithms, without overflow.

    x: f[*s]   y: f[*s]   →   z: f[*s]

    Definition   z = ln(eˣ + eʸ)
    JVP          dz = σ(x - y)·dx + σ(y - x)·dy
    Convention   equal infinities share equally
    Raises       DTypeMismatchError: if the operands are complex.

    >>> from tenferro.primitives import logaddexp, variable
    >>> logaddexp(variable("x", (2,), "f64"), variable("y", (2,), "f64")).aval
    f64[2]
    """
    return bind(Logaddexp(), x, y)

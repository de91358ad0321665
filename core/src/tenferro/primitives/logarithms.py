"""Products with logarithms, right where a factor is 0; entropies, logit, (exp(x) - 1)/x.

A formula with ``log`` alone gives nan at 0·ln 0, and a mask around it loses a derivative; here the
value is 0 and the derivatives are those of the limit. Read next: ``exponential_sums.py``.
"""

from __future__ import annotations

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import accepted, integers
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Elementwise, Mixed, bind, pointwise
from tenferro.primitives.arithmetic import abs as absolute
from tenferro.primitives.comparison import eq, ge, le, logical_and, lt, select
from tenferro.primitives.constants import full_like, zeros_like
from tenferro.primitives.elementwise import exp, expm1, log, log1p

__all__ = [
    "Exprel", "KlDiv", "Logit", "RelEntr", "ScaledExpm1", "Xlog1py", "Xlogy", "exprel", "kl_div",
    "logit", "rel_entr", "scaled_expm1", "xlog1py", "xlogy",
]  # fmt: skip

_NEAREST = 0.54  # the ratio of the smaller one to the larger one from which |s| < 0.3
_ARTANH = tuple(1 / (2 * k + 3) for k in range(14))  # (artanh(s) - s)/s³ by powers of s² < 0.09


class Xlogy(Mixed):
    """z = x ln y, 0 where x = 0,   dz = ln y dx + x/y dy, with 0/0 = 0;   real only"""

    key = "std::xlogy"
    accepts = "float"
    batch = pointwise
    linear = ()

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y)

    def decompose(self, x: Handle, y: Handle) -> Handle:
        idle = logical_and(_is_zero(x), eq(y, y))
        return select(idle, zeros_like(x), x * log(select(idle, full_like(y, 1), y)))

    def jvp_x(self, dx: Handle, x: Handle, y: Handle, z: Handle) -> Handle:
        return log(y) * dx

    def jvp_y(self, dy: Handle, x: Handle, y: Handle, z: Handle) -> Handle:
        return _ratio(x, y) * dy


class Xlog1py(Mixed):
    """z = x ln(1 + y), 0 where x = 0,   dz = ln(1 + y) dx + x/(1 + y) dy, with 0/0 = 0"""

    key = "std::xlog1py"
    accepts = "float"
    batch = pointwise
    linear = ()

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y)

    def decompose(self, x: Handle, y: Handle) -> Handle:
        idle = logical_and(_is_zero(x), eq(y, y))
        return select(idle, zeros_like(x), x * log1p(select(idle, zeros_like(y), y)))

    def jvp_x(self, dx: Handle, x: Handle, y: Handle, z: Handle) -> Handle:
        return log1p(y) * dx

    def jvp_y(self, dy: Handle, x: Handle, y: Handle, z: Handle) -> Handle:
        return _ratio(x, 1 + y) * dy


class RelEntr(Mixed):
    """z = x ln(x/y), 0 where x = 0 <= y,   dz = (ln(x/y) + 1) dx - x/y dy;   real only"""

    key = "std::rel_entr"
    accepts = "float"
    batch = pointwise
    linear = ()

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y)

    def decompose(self, x: Handle, y: Handle) -> Handle:
        idle = logical_and(_is_zero(x), le(x, y))
        safe = select(idle, full_like(x, 1), x)
        return select(idle, zeros_like(x), safe * _log_ratio(safe, y))

    def jvp_x(self, dx: Handle, x: Handle, y: Handle, z: Handle) -> Handle:
        return (_log_ratio(x, y) + 1) * dx

    def jvp_y(self, dy: Handle, x: Handle, y: Handle, z: Handle) -> Handle:
        return -_ratio(x, y) * dy


class KlDiv(Mixed):
    """z = x ln(x/y) - x + y, y where x = 0 <= y,   dz = ln(x/y) dx + (y - x)/y dy;   real only"""

    key = "std::kl_div"
    accepts = "float"
    batch = pointwise
    linear = ()

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y)

    def decompose(self, x: Handle, y: Handle) -> Handle:
        """Write ln(x/y) as 2 artanh(s), s = (x - y)/(x + y), near x = y.

        There z is 2x (artanh(s) - s) + s (x - y). The difference comes from its series, and is at
        most a fifth of the other term, so that no digits cancel.
        """
        one = full_like(x, 1)
        is_near = logical_and(lt(x * _NEAREST, y), lt(y * _NEAREST, x))
        top, base = select(is_near, x, one), select(is_near, y, one)
        above, below = select(is_near, one, x), select(is_near, one, y)
        excess = (top - base) / base
        s = excess / (excess + 2)
        square = s * s
        series = full_like(x, _ARTANH[-1])
        for coefficient in reversed(_ARTANH[:-1]):
            series = series * square + coefficient
        near = top * (2 * s * square * series) + s * (top - base)
        idle = logical_and(_is_zero(above), le(above, below))
        safe = select(idle, one, above)
        far = select(idle, below, safe * _log_ratio(safe, below) - safe + below)
        return select(is_near, near, far)

    def jvp_x(self, dx: Handle, x: Handle, y: Handle, z: Handle) -> Handle:
        return _log_ratio(x, y) * dx

    def jvp_y(self, dy: Handle, x: Handle, y: Handle, z: Handle) -> Handle:
        is_near = lt(y * 0.5, x)  # x - y is exact, or 1 - x/y keeps its digits by itself
        base = select(is_near, y, full_like(y, 1))
        return select(is_near, (base - x) / base, 1 - _ratio(x, y)) * dy


class Logit(Elementwise):
    """y = ln(x / (1 - x)),   dy = dx / (x (1 - x));   real only"""

    key = "std::logit"
    accepts = "float"

    def decompose(self, x: Handle) -> Handle:
        excess = 2 * x - 1
        middle = lt(absolute(excess), full_like(x, 0.5))  # there 2x - 1 is exact
        inner = select(middle, excess, zeros_like(x))
        outer = select(middle, full_like(x, 0.5), x)
        return select(middle, log1p(inner) - log1p(-inner), log(outer) - log1p(-outer))

    def derivative(self, x: Handle, y: Handle) -> Handle:
        # Derivatives of a product would multiply 1/x² by 1 - x and by -x, which are inf near 0.
        in_middle = le(absolute(2 * x - 1), full_like(x, 0.5))
        inner = select(in_middle, x, full_like(x, 0.5))
        outer = select(in_middle, full_like(x, 0.5), x)
        return select(in_middle, 1 / (inner * (1 - inner)), 1 / outer + 1 / (1 - outer))


class Exprel(Elementwise):
    """y = ∫₀¹ tⁿ exp(xt) dt, (exp(x) - 1)/x for n = 0,   dy/dx = that of n + 1;   real only"""

    key = "std::exprel"
    accepts = "float"
    order: int = 0

    def __post_init__(self) -> None:
        self._set(order=integers(self, "order", (self.order,))[0])

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return exprel(x, self.order + 1)


class ScaledExpm1(Mixed):
    """z = (exp(xy) - 1)/y, x where y = 0,   dz = exp(xy) dx + x² exprel₁(xy) dy;   real only"""

    key = "std::scaled_expm1"
    accepts = "float"
    batch = pointwise
    linear = ()

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y)

    def decompose(self, x: Handle, y: Handle) -> Handle:
        exponent = _exponent(x, y)
        is_far = ge(absolute(exponent), full_like(x, 1))
        far, base = select(is_far, exponent, zeros_like(x)), select(is_far, y, full_like(y, 1))
        near = exprel(select(is_far, zeros_like(x), exponent))
        return select(is_far, expm1(far) / base, x * near)

    def jvp_x(self, dx: Handle, x: Handle, y: Handle, z: Handle) -> Handle:
        return exp(_exponent(x, y)) * dx

    def jvp_y(self, dy: Handle, x: Handle, y: Handle, z: Handle) -> Handle:
        """Use (x exp(xy) - z)/y for |xy| >= 1: derivatives of x² exprel₁(xy) by x cancel there."""
        exponent = _exponent(x, y)
        is_far = ge(absolute(exponent), full_like(x, 1))
        base, there = select(is_far, y, full_like(y, 1)), select(is_far, x, zeros_like(x))
        grown = _with_factor(there, exp(there * base))
        far = (grown - select(is_far, z, zeros_like(z))) / base
        width = select(is_far, zeros_like(x), x)
        near = width * width * exprel(select(is_far, zeros_like(x), exponent), 1)
        return select(is_far, far, near) * dy


def _exponent(x: Handle, y: Handle) -> Handle:
    """x y, and 0 for an infinite x times 0."""
    endless = logical_and(eq(absolute(x), full_like(x, float("inf"))), _is_zero(y))
    return select(endless, zeros_like(x), x) * y


def _with_factor(x: Handle, factor: Handle) -> Handle:
    """Multiply by a factor; an infinite x times 0 is 0."""
    return select(_is_zero(factor), zeros_like(x), x) * factor


def _is_zero(x: Handle) -> Handle:
    return eq(x, zeros_like(x))


def _ratio(x: Handle, y: Handle) -> Handle:
    """x/y, and 0 for 0/0."""
    return x / select(logical_and(_is_zero(x), _is_zero(y)), full_like(y, 1), y)


def _log_ratio(x: Handle, y: Handle) -> Handle:
    """ln(x/y): with all digits near x = y, and where the ratio overflows or underflows."""
    one = full_like(x, 1)
    is_near = logical_and(lt(x * 0.5, y), lt(y * 0.5, x))
    top, base = select(is_near, x, one), select(is_near, y, one)
    above, below = select(is_near, one, x), select(is_near, one, y)
    return select(is_near, log1p((top - base) / base), log(above) - log(below))


def xlogy(x: H, y: H) -> H:
    """Multiply by a logarithm; 0 times it is 0, also where it is infinite.

    x: f[*s]   y: f[*s]   →   z: f[*s]

    Definition   z = x ln y, and 0 where x = 0 and y is a number
    JVP          dz = ln y·dx + x/y·dy
    Convention   at x = y = 0 the derivatives are the limits along the axes: -inf in x, 0 in y
    Raises       DTypeMismatchError: if the operands are complex.

    >>> from tenferro.primitives import variable, xlogy
    >>> xlogy(variable("x", (2,), "f64"), variable("y", (2,), "f64")).aval
    f64[2]
    """
    return bind(Xlogy(), x, y)


def xlog1py(x: H, y: H) -> H:
    """Multiply by ln(1 + y); 0 times it is 0, also where it is infinite.

    x: f[*s]   y: f[*s]   →   z: f[*s]

    Definition   z = x ln(1 + y), and 0 where x = 0 and y is a number
    JVP          dz = ln(1 + y)·dx + x/(1 + y)·dy
    Convention   at x = 0, y = -1 the derivatives are the limits along the axes
    Raises       DTypeMismatchError: if the operands are complex.

    >>> from tenferro.primitives import variable, xlog1py
    >>> xlog1py(variable("x", (2,), "f64"), variable("y", (2,), "f64")).aval
    f64[2]
    """
    return bind(Xlog1py(), x, y)


def rel_entr(x: H, y: H) -> H:
    """Multiply by the logarithm of a ratio, as relative entropies do; 0 times it is 0.

    x: f[*s]   y: f[*s]   →   z: f[*s]

    Definition   z = x ln(x/y), and 0 where x = 0 <= y
    JVP          dz = (ln(x/y) + 1)·dx - x/y·dy
    Raises       DTypeMismatchError: if the operands are complex.

    >>> from tenferro.primitives import rel_entr, variable
    >>> rel_entr(variable("x", (2,), "f64"), variable("y", (2,), "f64")).aval
    f64[2]
    """
    return bind(RelEntr(), x, y)


def scaled_expm1(x: H, y: H) -> H:
    """Compute the growth (exp(xy) - 1)/y at a rate y, which is x where the rate is 0.

    x: f[*s]   y: f[*s]   →   z: f[*s]

    Definition   z = ∫₀ˣ exp(ty) dt
    JVP          dz = exp(xy)·dx + (x exp(xy) - z)/y·dy
    Raises       DTypeMismatchError: if the operands are complex.
    Source       differentiated under the integral

    >>> from tenferro.primitives import scaled_expm1, variable
    >>> scaled_expm1(variable("x", (2,), "f64"), variable("y", (2,), "f64")).aval
    f64[2]
    """
    return bind(ScaledExpm1(), x, y)


def kl_div(x: H, y: H) -> H:
    """Compute the terms of the Kullback-Leibler divergence, with all digits near x = y.

    x: f[*s]   y: f[*s]   →   z: f[*s]

    Definition   z = x ln(x/y) - x + y, and y where x = 0 <= y
    JVP          dz = ln(x/y)·dx + (y - x)/y·dy
    Raises       DTypeMismatchError: if the operands are complex.
    Source       Abramowitz & Stegun (1964), 4.1.28 of ln(x/y) and 4.6.33 of artanh

    >>> from tenferro.primitives import kl_div, variable
    >>> kl_div(variable("x", (2,), "f64"), variable("y", (2,), "f64")).aval
    f64[2]
    """
    return bind(KlDiv(), x, y)


def logit(x: H) -> H:
    """Take the logarithm of the odds, with all digits near ½.

    x: f[*s]   →   y: f[*s]

    Definition   y = ln(x / (1 - x)); -inf at 0, inf at 1, nan beyond
    JVP          dy = dx / (x (1 - x))
    Raises       DTypeMismatchError: if the operand is complex.

    >>> from tenferro.primitives import logit, variable
    >>> logit(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Logit(), x)


def exprel(x: H, order: int = 0) -> H:
    """Compute (exp(x) - 1)/x, 1 at 0, or a derivative of it.

    x: f[*s]   →   y: f[*s]

    Definition   y = ∫₀¹ tⁿ exp(xt) dt
    JVP          dy = y_{n+1}·dx
    Raises       DTypeMismatchError: if the operand is complex.
                 InvalidParameterError: if the order is negative.
    Source       Abramowitz & Stegun (1964), 13.2.1 with a = n + 1, b = n + 2

    >>> from tenferro.primitives import exprel, variable
    >>> exprel(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Exprel(order), x)

"""Products with logarithms, right where a factor is 0; relative entropy, logit, (exp(x) - 1)/x.

A formula with ``log`` alone gives nan at 0·ln 0, and a mask around it loses a derivative; here the
value is 0 and the derivatives are those of the limit. Read next: ``exponential_sums.py``.
"""

from __future__ import annotations

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import accepted, integers
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Elementwise, Mixed, bind, pointwise
from tenferro.primitives.arithmetic import abs as absolute
from tenferro.primitives.comparison import eq, le, logical_and, lt, select
from tenferro.primitives.constants import full_like, zeros_like
from tenferro.primitives.elementwise import log, log1p

__all__ = [
    "Exprel", "Logit", "RelEntr", "Xlog1py", "Xlogy", "exprel", "logit", "rel_entr", "xlog1py",
    "xlogy",
]  # fmt: skip


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

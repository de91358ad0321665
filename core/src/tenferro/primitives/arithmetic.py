"""Arithmetic of two operands of one shape and dtype, and the algebraic functions of one.

Nothing broadcasts and nothing is promoted here; the user-level functions do that. Where a function
has a kink, the convention is said in its docstring: |x|'(0) = 0, ties share equally, clamp is
strict. Masks are made by ``select`` with real zeros. Integers have values and no derivatives.
Read next: ``rounding.py``.
"""

from __future__ import annotations

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import accepted, integer, invalid
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import (
    Elementwise,
    Linear,
    Mixed,
    Multilinear,
    bind,
    dtype_of,
    pointwise,
)
from tenferro.primitives._simplify import has_literal, is_factor_one, is_term_zero
from tenferro.primitives.comparison import (
    eq,
    ge,
    gt,
    le,
    logical_and,
    logical_not,
    logical_or,
    lt,
    select,
)
from tenferro.primitives.complex import complex, conj, real
from tenferro.primitives.constants import full_like, zeros_like
from tenferro.primitives.elementwise import log

__all__ = [
    "Abs", "Add", "Cbrt", "Clamp", "Div", "IntegerPow", "Maximum", "Minimum", "Mul", "Neg", "Pow",
    "Rsqrt", "Sign", "Sqrt", "Square", "Sub", "abs", "add", "cbrt", "clamp", "div", "integer_pow",
    "maximum", "minimum", "mul", "neg", "pow", "rsqrt", "sign", "sqrt", "square", "sub",
]  # fmt: skip


class Add(Linear):
    """z = x + y"""

    key = "std::add"
    accepts = "numeric"
    simplify_triggers = ()
    batch = pointwise
    rules_look_at = dtype_of
    commutative = True

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y)

    def simplify(self, x: Handle, y: Handle) -> Handle | None:
        if not has_literal(x, y):
            return None
        if is_term_zero(y, x):
            return x
        return y if is_term_zero(x, y) else None

    def transpose_x(self, ct: Handle, x: Handle, y: Handle) -> Handle:
        return ct

    def transpose_y(self, ct: Handle, x: Handle, y: Handle) -> Handle:
        return ct


class Sub(Linear):
    """z = x - y"""

    key = "std::sub"
    accepts = "numeric"
    simplify_triggers = ()
    batch = pointwise
    rules_look_at = dtype_of

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y)

    def simplify(self, x: Handle, y: Handle) -> Handle | None:
        if is_term_zero(y, x, subtracted=True):
            return x
        return neg(y) if y.flow and is_term_zero(x, y) else None

    def decompose(self, x: Handle, y: Handle) -> Handle:
        return add(x, neg(y))

    def transpose_x(self, ct: Handle, x: Handle, y: Handle) -> Handle:
        return ct

    def transpose_y(self, ct: Handle, x: Handle, y: Handle) -> Handle:
        return -ct


class Mul(Multilinear):
    """z = x y"""

    key = "std::mul"
    accepts = "numeric"
    simplify_triggers = ()
    batch = pointwise
    rules_look_at = dtype_of
    commutative = True

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y)

    def simplify(self, x: Handle, y: Handle) -> Handle | None:
        if not has_literal(x, y):
            return None
        if is_factor_one(y, x):
            return x
        return y if is_factor_one(x, y) else None

    def transpose_x(self, ct: Handle, x: Handle, y: Handle) -> Handle:
        return ct * conj(y)

    def transpose_y(self, ct: Handle, x: Handle, y: Handle) -> Handle:
        return conj(x) * ct


class Div(Mixed):
    """z = x / y,   dz = dx / y - (z / y) dy"""

    key = "std::div"
    accepts = "numeric"
    simplify_triggers = ()
    batch = pointwise
    rules_look_at = dtype_of
    linear = ((0,),)

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y)

    def simplify(self, x: Handle, y: Handle) -> Handle | None:
        return x if is_factor_one(y, x) else None

    def transpose_x(self, ct: Handle, x: Handle, y: Handle) -> Handle:
        return ct / conj(y)

    def jvp_y(self, dy: Handle, x: Handle, y: Handle, z: Handle) -> Handle:
        return -(z / y) * dy


class Neg(Linear):
    """y = -x"""

    key = "std::neg"
    accepts = "numeric"
    simplify_triggers = ("neg",)
    batch = pointwise
    rules_look_at = dtype_of

    def abstract_eval(self, x: Aval) -> Aval:
        return accepted(self, x)

    def simplify(self, x: Handle) -> Handle | None:
        return x.operand_of(Neg)

    def transpose_x(self, ct: Handle, x: Handle) -> Handle:
        return -ct


class Abs(Mixed):
    """y = |x|, real;   dy = Re(conj(x/|x|) dx), and |x|'(0) = 0"""

    key = "std::abs"
    accepts = "numeric"
    batch = pointwise
    linear = ()

    def abstract_eval(self, x: Aval) -> Aval:
        accepted(self, x)
        return x.with_dtype(x.dtype.real_dtype)

    def jvp_x(self, dx: Handle, x: Handle, y: Handle) -> Handle:
        return real(conj(_direction(x, y)) * dx)


def _direction(x: Handle, size: Handle) -> Handle:
    """x / |x|, 0 at 0: constant for real x, but it turns with a complex one at second order."""
    if not x.dtype.is_complex:
        return sign(x)
    at_zero = eq(size, zeros_like(size))
    safe = select(at_zero, full_like(size, 1), size)
    return select(at_zero, zeros_like(x), x) / complex(safe, zeros_like(safe))


class Sign(Mixed):
    """y = x / |x|, 0 at 0;   dy = (dx - y Re(conj(y) dx)) / |x|, 0 at 0 and for real x"""

    key = "std::sign"
    accepts = "numeric"
    batch = pointwise
    linear = ()

    def abstract_eval(self, x: Aval) -> Aval:
        return accepted(self, x)

    def carries(self, aval: Aval) -> bool:
        return aval.dtype.is_complex

    def jvp_x(self, dx: Handle, x: Handle, y: Handle) -> Handle:
        size = abs(x)
        at_zero = eq(size, zeros_like(size))
        safe = select(at_zero, full_like(size, 1), size)
        along = real(conj(y) * dx)
        across = dx - y * complex(along, zeros_like(along))
        scaled = across / complex(safe, zeros_like(safe))
        return select(at_zero, zeros_like(dx), scaled)


class Maximum(Mixed):
    """z = max(x, y), nan if either is;   dz = dx where x > y, dx/2 at a tie or a nan"""

    key = "std::maximum"
    accepts = "ordered"
    batch = pointwise
    linear = ()

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y)

    def jvp_x(self, dx: Handle, x: Handle, y: Handle, z: Handle) -> Handle:
        return _share(dx, lt(x, y), gt(x, y))

    def jvp_y(self, dy: Handle, x: Handle, y: Handle, z: Handle) -> Handle:
        return _share(dy, lt(y, x), gt(y, x))


class Minimum(Mixed):
    """z = min(x, y), nan if either is;   dz = dx where x < y, dx/2 at a tie or a nan"""

    key = "std::minimum"
    accepts = "ordered"
    batch = pointwise
    linear = ()

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y)

    def jvp_x(self, dx: Handle, x: Handle, y: Handle, z: Handle) -> Handle:
        return _share(dx, gt(x, y), lt(x, y))

    def jvp_y(self, dy: Handle, x: Handle, y: Handle, z: Handle) -> Handle:
        return _share(dy, gt(y, x), lt(y, x))


def _share(dx: Handle, loses: Handle, wins: Handle) -> Handle:
    """Return 0 where its side loses, the whole tangent where it wins, half of it elsewhere.

    Next to a nan no side loses or wins: where the value is nan, the gradient is not silently 0. The
    share is not a function of the tangent, so that two operations are left for each direction.
    """
    half = full_like(dx, 0.5)
    return select(loses, zeros_like(dx), select(wins, full_like(dx, 1), half) * dx)


class Clamp(Mixed):
    """y = min(max(x, lo), hi);   x is active iff lo < x < hi, and at a bound nothing is"""

    key = "std::clamp"
    accepts = "ordered"
    batch = pointwise
    linear = ()

    def abstract_eval(self, lo: Aval, x: Aval, hi: Aval) -> Aval:
        return accepted(self, lo, x, hi)

    def decompose(self, lo: Handle, x: Handle, hi: Handle) -> Handle:
        return minimum(maximum(x, lo), hi)

    def jvp_lo(self, dlo: Handle, lo: Handle, x: Handle, hi: Handle, y: Handle) -> Handle:
        return _unless(logical_or(ge(x, lo), ge(lo, hi)), dlo)

    def jvp_x(self, dx: Handle, lo: Handle, x: Handle, hi: Handle, y: Handle) -> Handle:
        return _unless(logical_or(le(x, lo), ge(x, hi)), dx)

    def jvp_hi(self, dhi: Handle, lo: Handle, x: Handle, hi: Handle, y: Handle) -> Handle:
        return _unless(ge(hi, maximum(x, lo)), dhi)


def _unless(idle: Handle, dx: Handle) -> Handle:
    """Return a real zero where ``idle`` holds, the tangent elsewhere. ``idle`` is False at a
    nan.
    """
    return select(idle, zeros_like(dx), dx)


class Pow(Mixed):
    """z = x^y,   dz = y x^(y-1) dx + z ln x dy, guarded where x = 0"""

    key = "std::pow"
    accepts = "numeric"
    simplify_triggers = ()
    batch = pointwise
    linear = ()

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y)

    def simplify(self, x: Handle, y: Handle) -> Handle | None:
        return x if is_factor_one(y, x) else None

    def jvp_x(self, dx: Handle, x: Handle, y: Handle, z: Handle) -> Handle:
        """0·x⁻¹ is 0 everywhere; the base is guarded, not the product, so that d/dy is right."""
        risky = logical_and(eq(y, zeros_like(y)), logical_not(_is_normal(x)))
        base = select(risky, full_like(x, 1), x)
        return y * pow(base, y - 1) * dx

    def jvp_y(self, dy: Handle, x: Handle, y: Handle, z: Handle) -> Handle:
        """z ln x tends to 0 with x where z stays finite, which is where Re y >= 0."""
        exponent = real(y)
        finite = logical_and(eq(x, zeros_like(x)), ge(exponent, zeros_like(exponent)))
        return z * log(select(finite, full_like(x, 1), x)) * dy


def _is_normal(x: Handle) -> Handle:
    """Return True where 1/x is finite: x is neither zero nor subnormal nor nan."""
    size = abs(x)
    return ge(size, full_like(size, x.dtype.smallest_normal))


class IntegerPow(Elementwise):
    """y = xⁿ,   dy = n xⁿ⁻¹ dx"""

    key = "std::integer_pow"
    accepts = "numeric"
    simplify_triggers = ()
    exponent: int

    def __post_init__(self) -> None:
        self._set(exponent=integer(self, "exponent", "not an integer power"))

    def abstract_eval(self, x: Aval) -> Aval:
        accepted(self, x)
        if x.dtype.is_integer and self.exponent < 0:
            raise invalid(
                self,
                "exponent",
                "a negative power of integers is not an integer",
                got=f"exponent={self.exponent} for {x}",
                need="exponent >= 0, or a float operand",
            )
        return x

    def simplify(self, x: Handle) -> Handle | None:
        if x.dtype.is_bool or self.exponent not in (0, 1):
            return None
        return x if self.exponent else full_like(x, 1)

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return self.exponent * integer_pow(x, self.exponent - 1)


class Square(Elementwise):
    """y = x²,   dy = 2 x dx"""

    key = "std::square"
    accepts = "numeric"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return 2 * x

    def decompose(self, x: Handle) -> Handle:
        return x * x


class Sqrt(Elementwise):
    """y = √x,   dy = dx / (2 y), inf at 0"""

    key = "std::sqrt"
    accepts = "inexact"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return 0.5 / y


class Rsqrt(Elementwise):
    """y = 1 / √x,   dy = -y / (2 x) dx"""

    key = "std::rsqrt"
    accepts = "inexact"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return -0.5 * (y / x)


class Cbrt(Elementwise):
    """y = ∛x, also of negative x,   dy = dx / (3 y²), inf at 0;   real only"""

    key = "std::cbrt"
    accepts = "float"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return (1 / 3 / y) * (1 / y)  # y² would lose digits to underflow


def add(x: H, y: H) -> H:
    """Add.

    x: [*s]   y: [*s]   →   z: [*s]

    Convention   integers wrap around
    Raises       ShapeMismatchError, DTypeMismatchError: if the operands differ in shape or dtype.

    >>> from tenferro.primitives import add, variable
    >>> add(variable("x", (2,), "f64"), variable("y", (2,), "f64")).aval
    f64[2]
    """
    return bind(Add(), x, y)


def sub(x: H, y: H) -> H:
    """Subtract.

    x: [*s]   y: [*s]   →   z: [*s]

    Convention   integers wrap around
    Raises       ShapeMismatchError, DTypeMismatchError: if the operands differ in shape or dtype.

    >>> from tenferro.primitives import sub, variable
    >>> sub(variable("x", (2,), "f64"), variable("y", (2,), "f64")).aval
    f64[2]
    """
    return bind(Sub(), x, y)


def mul(x: H, y: H) -> H:
    """Multiply element by element.

    x: [*s]   y: [*s]   →   z: [*s]

    JVP          dz = dx·y + x·dy
    Transpose    ct_x = ct·conj(y)
    Convention   integers wrap around
    Raises       ShapeMismatchError, DTypeMismatchError: if the operands differ in shape or dtype.

    >>> from tenferro.primitives import mul, variable
    >>> mul(variable("x", (2,), "f64"), variable("y", (2,), "f64")).aval
    f64[2]
    """
    return bind(Mul(), x, y)


def div(x: H, y: H) -> H:
    """Divide.

    x: [*s]   y: [*s]   →   z: [*s]

    JVP          dz = dx/y - (z/y)·dy
    Transpose    ct_x = ct/conj(y)
    Convention   integers truncate towards zero
    Raises       ShapeMismatchError, DTypeMismatchError: if the operands differ in shape or dtype.

    >>> from tenferro.primitives import div, variable
    >>> div(variable("x", (2,), "f64"), variable("y", (2,), "f64")).aval
    f64[2]
    """
    return bind(Div(), x, y)


def neg(x: H) -> H:
    """Negate.

    x: [*s]   →   y: [*s]

    >>> from tenferro.primitives import neg, variable
    >>> neg(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Neg(), x)


def abs(x: H) -> H:
    """Take the absolute value; of a complex operand, the modulus, which is real.

    x: [*s]   →   y: [*s]

    JVP          dy = Re(conj(sign x)·dx)
    Transpose    ct_x = ct·sign(x)
    Convention   |x|'(0) = 0

    >>> from tenferro.primitives import abs, variable
    >>> abs(variable("z", (2,), "c128")).aval
    f64[2]
    """
    return bind(Abs(), x)


def sign(x: H) -> H:
    """Take the sign: x / |x|, and 0 at 0.

    x: [*s]   →   y: [*s]

    JVP          dy = (dx - y·Re(conj(y)·dx)) / |x| for complex x
    Convention   the derivative of a real sign is 0, that of a complex one is 0 at 0

    >>> from tenferro.primitives import sign, variable
    >>> sign(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Sign(), x)


def maximum(x: H, y: H) -> H:
    """Take the larger of two elements.

    x: [*s]   y: [*s]   →   z: [*s]

    Convention   nan wins; at a tie and next to a nan each side has half of the derivative
    Raises       DTypeMismatchError: if the operands are complex.

    >>> from tenferro.primitives import maximum, variable
    >>> maximum(variable("x", (2,), "f64"), variable("y", (2,), "f64")).aval
    f64[2]
    """
    return bind(Maximum(), x, y)


def minimum(x: H, y: H) -> H:
    """Take the smaller of two elements.

    x: [*s]   y: [*s]   →   z: [*s]

    Convention   nan wins; at a tie and next to a nan each side has half of the derivative
    Raises       DTypeMismatchError: if the operands are complex.

    >>> from tenferro.primitives import minimum, variable
    >>> minimum(variable("x", (2,), "f64"), variable("y", (2,), "f64")).aval
    f64[2]
    """
    return bind(Minimum(), x, y)


def clamp(lo: H, x: H, hi: H) -> H:
    """Confine x between two bounds.

    lo: [*s]   x: [*s]   hi: [*s]   →   y: [*s]

    Definition   y = min(max(x, lo), hi), also where lo > hi
    Convention   masks are strict: x is active iff lo < x < hi, a bound iff x lies beyond it
    Raises       DTypeMismatchError: if the operands are complex.

    >>> from tenferro.primitives import clamp, variable
    >>> x = variable("x", (2,), "f64")
    >>> clamp(variable("lo", (2,), "f64"), x, variable("hi", (2,), "f64")).aval
    f64[2]
    """
    return bind(Clamp(), lo, x, hi)


def pow(x: H, y: H) -> H:
    """Raise x to the power y.

    x: [*s]   y: [*s]   →   z: [*s]

    JVP          dz = y·x^(y-1)·dx + z·ln x·dy
    Convention   at x = 0: d/dx is 0 if y = 0, d/dy is 0 if Re y >= 0; complex: principal branch
    Source       Abramowitz & Stegun (1964), 4.2.6 and 4.2.16

    >>> from tenferro.primitives import pow, variable
    >>> pow(variable("x", (2,), "f64"), variable("y", (2,), "f64")).aval
    f64[2]
    """
    return bind(Pow(), x, y)


def integer_pow(x: H, exponent: int) -> H:
    """Raise x to a fixed integer power.

    x: [*s]   →   y: [*s]

    JVP          dy = n·xⁿ⁻¹·dx
    Convention   x⁰ = 1 for every x
    Raises       InvalidParameterError: if integers are raised to a negative power.

    >>> from tenferro.primitives import integer_pow, variable
    >>> integer_pow(variable("x", (2,), "f64"), -3).aval
    f64[2]
    """
    return bind(IntegerPow(exponent), x)


def square(x: H) -> H:
    """Square; of a complex operand z², not |z|².

    x: [*s]   →   y: [*s]

    >>> from tenferro.primitives import square, variable
    >>> square(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Square(), x)


def sqrt(x: H) -> H:
    """Take the square root.

    x: f[*s]   →   y: f[*s]

    JVP          dy = dx / (2y)
    Convention   the derivative at 0 is inf; complex: the principal branch

    >>> from tenferro.primitives import sqrt, variable
    >>> sqrt(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Sqrt(), x)


def rsqrt(x: H) -> H:
    """Take the reciprocal of the square root.

    x: f[*s]   →   y: f[*s]

    JVP          dy = -y/(2x)·dx
    Convention   complex: the principal branch

    >>> from tenferro.primitives import rsqrt, variable
    >>> rsqrt(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Rsqrt(), x)


def cbrt(x: H) -> H:
    """Take the cube root, a negative one of negative numbers.

    x: f[*s]   →   y: f[*s]

    JVP          dy = dx / (3y²)
    Convention   the derivative at 0 is inf
    Raises       DTypeMismatchError: if the operand is complex.

    >>> from tenferro.primitives import cbrt, variable
    >>> cbrt(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Cbrt(), x)

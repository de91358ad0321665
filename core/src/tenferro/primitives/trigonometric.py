"""Circular functions, their inverses, and polar coordinates.

The derivatives are those of Abramowitz & Stegun (1964), 4.3.105-107 and 4.4.52-54; the branch cuts
of the inverse functions are those of C99 (annex G), where the sign of a zero imaginary part says on
which side of a cut a number lies. The rules keep that sign, so that the derivative on a cut is the
limit from the same side. Read next: ``hyperbolic.py``.
"""

from __future__ import annotations

from math import inf

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import accepted
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Elementwise, Mixed, bind, dtype_of, pointwise
from tenferro.primitives.arithmetic import sqrt
from tenferro.primitives.comparison import eq, logical_or, select
from tenferro.primitives.complex import imag, real
from tenferro.primitives.constants import full_like, zeros_like

__all__ = [
    "Acos", "Asin", "Atan", "Atan2", "Cos", "Hypot", "Sin", "Tan", "acos", "angle", "asin", "atan",
    "atan2", "cos", "hypot", "sin", "tan",
]  # fmt: skip


class Sin(Elementwise):
    """y = sin x,   dy = cos x dx"""

    key = "std::sin"
    accepts = "inexact"
    rules_look_at = dtype_of

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return cos(x)


class Cos(Elementwise):
    """y = cos x,   dy = -sin x dx"""

    key = "std::cos"
    accepts = "inexact"
    rules_look_at = dtype_of

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return -sin(x)


class Tan(Elementwise):
    """y = tan x,   dy = (1 + y²) dx"""

    key = "std::tan"
    accepts = "inexact"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return 1 + y * y


class Asin(Elementwise):
    """y = arcsin x,   dy = dx / √(1 - x²)"""

    key = "std::asin"
    accepts = "inexact"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return asin_slope(x)


def asin_slope(x: Handle) -> Handle:
    """1/√(1 - x²) = 1 / (√(1 - x) √(1 + x)), which neither cancels near ±1 nor overflows."""
    one = unit(x)
    return 1 / (sqrt(one - x) * sqrt(one + x))


def unit(x: Handle) -> Handle:
    """Return 1, or 1 - 0i if x is complex: 1 ± x then keeps the sign of a zero imaginary part."""
    return full_like(x, complex(1, -0.0) if x.dtype.is_complex else 1)


class Acos(Elementwise):
    """y = arccos x,   dy = -dx / √(1 - x²)"""

    key = "std::acos"
    accepts = "inexact"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        return -asin_slope(x)


class Atan(Elementwise):
    """y = arctan x,   dy = dx / (1 + x²)"""

    key = "std::atan"
    accepts = "inexact"

    def derivative(self, x: Handle, y: Handle) -> Handle:
        if x.dtype.is_complex:  # 1 + z² = (z - i)(z + i) would cancel near ±i
            return (1 / (x - 1j)) * (1 / (x + 1j))
        return 1 / (1 + x * x)


class Atan2(Mixed):
    """z = angle of the point (x, y),   dz = (x dy - y dx) / (x² + y²), and 0 at the origin"""

    key = "std::atan2"
    accepts = "float"
    batch = pointwise
    linear = ()

    def abstract_eval(self, y: Aval, x: Aval) -> Aval:
        return accepted(self, y, x)

    def jvp_y(self, dy: Handle, y: Handle, x: Handle, z: Handle) -> Handle:
        return _over_square(x, hypot(x, y)) * dy

    def jvp_x(self, dx: Handle, y: Handle, x: Handle, z: Handle) -> Handle:
        return -_over_square(y, hypot(x, y)) * dx


def _over_square(x: Handle, r: Handle) -> Handle:
    """x/r², 0 where r is 0 or infinite; compilers make r² of x/r/r, but not of this."""
    idle = logical_or(eq(r, zeros_like(r)), eq(r, full_like(r, inf)))
    safe = select(idle, full_like(r, 1), r)
    return (select(idle, zeros_like(x), x) / safe) * (1 / safe)


class Hypot(Mixed):
    """z = √(x² + y²) without overflow,   dz = (x dx + y dy) / z, and 0 at the origin"""

    key = "std::hypot"
    accepts = "float"
    batch = pointwise
    commutative = True
    linear = ()

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y)

    def jvp_x(self, dx: Handle, x: Handle, y: Handle, z: Handle) -> Handle:
        return _share(x, z) * dx

    def jvp_y(self, dy: Handle, x: Handle, y: Handle, z: Handle) -> Handle:
        return _share(y, z) * dy


def _share(x: Handle, r: Handle) -> Handle:
    """x/r; 0 at the origin with all its derivatives, which is the convention of ``abs``."""
    at_origin = eq(r, zeros_like(r))
    return select(at_origin, zeros_like(x), x) / select(at_origin, full_like(r, 1), r)


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


def asin(x: H) -> H:
    """Take the arc sine, between -π/2 and π/2.

    x: f[*s]   →   y: f[*s]

    JVP          dy = dx / √(1 - x²), inf at ±1
    Convention   complex: cuts along the real axis beyond ±1
    Source       Abramowitz & Stegun (1964), 4.4.52; cuts: ISO C99, annex G

    >>> from tenferro.primitives import asin, variable
    >>> asin(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Asin(), x)


def acos(x: H) -> H:
    """Take the arc cosine, between 0 and π.

    x: f[*s]   →   y: f[*s]

    JVP          dy = -dx / √(1 - x²), -inf at ±1
    Convention   complex: cuts along the real axis beyond ±1
    Source       Abramowitz & Stegun (1964), 4.4.53; cuts: ISO C99, annex G

    >>> from tenferro.primitives import acos, variable
    >>> acos(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Acos(), x)


def atan(x: H) -> H:
    """Take the arc tangent, between -π/2 and π/2.

    x: f[*s]   →   y: f[*s]

    JVP          dy = dx / (1 + x²)
    Convention   complex: cuts along the imaginary axis beyond ±i
    Source       Abramowitz & Stegun (1964), 4.4.54; cuts: ISO C99, annex G

    >>> from tenferro.primitives import atan, variable
    >>> atan(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Atan(), x)


def atan2(y: H, x: H) -> H:
    """Take the angle of the point (x, y), between -π and π.

    y: f[*s]   x: f[*s]   →   z: f[*s]

    JVP          dz = (x dy - y dx) / (x² + y²)
    Convention   the derivative at the origin is 0, as that of ``abs``
    Raises       DTypeMismatchError: if the operands are complex.

    >>> from tenferro.primitives import atan2, variable
    >>> atan2(variable("y", (2,), "f64"), variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Atan2(), y, x)


def hypot(x: H, y: H) -> H:
    """Take the distance of the point (x, y) from the origin.

    x: f[*s]   y: f[*s]   →   z: f[*s]

    Definition   z = √(x² + y²); inf if either is infinite, even next to a nan
    JVP          dz = (x dx + y dy) / z
    Convention   the derivative at the origin is 0, as that of ``abs``
    Raises       DTypeMismatchError: if the operands are complex.

    >>> from tenferro.primitives import hypot, variable
    >>> hypot(variable("x", (2,), "f64"), variable("y", (2,), "f64")).aval
    f64[2]
    """
    return bind(Hypot(), x, y)


def angle(z: H) -> H:
    """Take the angle of a complex number, between -π and π.

    z: c[*s]   →   y: f[*s]

    Definition   y = atan2(Im z, Re z)
    Convention   the derivative at 0 is 0, as that of ``abs``
    Raises       DTypeMismatchError: if the operand is not complex.

    >>> from tenferro.primitives import angle, variable
    >>> angle(variable("z", (2,), "c128")).aval
    f64[2]
    """
    return atan2(imag(z), real(z))

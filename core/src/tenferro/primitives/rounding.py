"""Floats as numbers with digits: rounding to integers, remainders, neighbours, signs, finiteness.

A rounded value is constant between its jumps, so its derivative is zero. What moves with x
(remainder, neighbour, the same size with another sign) has the derivative of that motion.
Read next: ``bitwise.py``.
"""

from __future__ import annotations

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import accepted
from tenferro.primitives._dtype import bool_
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind, pointwise
from tenferro.primitives.arithmetic import sign
from tenferro.primitives.constants import full_like

__all__ = [
    "Ceil", "Copysign", "Floor", "IsFinite", "Nextafter", "Rem", "Round", "ceil", "copysign",
    "floor", "is_finite", "nextafter", "rem", "round",
]  # fmt: skip


class Floor(Mixed):
    """y = the largest integer that is at most x;   its derivative is zero"""

    key = "std::floor"
    accepts = "float"
    batch = pointwise
    linear = ()

    def abstract_eval(self, x: Aval) -> Aval:
        return accepted(self, x)

    def carries(self, aval: Aval) -> bool:
        return False


class Ceil(Mixed):
    """y = the smallest integer that is at least x;   its derivative is zero"""

    key = "std::ceil"
    accepts = "float"
    batch = pointwise
    linear = ()

    def abstract_eval(self, x: Aval) -> Aval:
        return accepted(self, x)

    def carries(self, aval: Aval) -> bool:
        return False


class Round(Mixed):
    """y = the nearest integer, the even one of two;   its derivative is zero"""

    key = "std::round"
    accepts = "float"
    batch = pointwise
    linear = ()

    def abstract_eval(self, x: Aval) -> Aval:
        return accepted(self, x)

    def carries(self, aval: Aval) -> bool:
        return False


class Rem(Mixed):
    """z = x - y trunc(x / y), of the sign of x;   dz = dx - trunc(x / y) dy"""

    key = "std::rem"
    accepts = "real"
    batch = pointwise
    linear = ()

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y)

    def jvp_x(self, dx: Handle, x: Handle, y: Handle, z: Handle) -> Handle:
        return dx

    def jvp_y(self, dy: Handle, x: Handle, y: Handle, z: Handle) -> Handle:
        return -round((x - z) / y) * dy  # x - z is a multiple of y; x / y may round up to one


class IsFinite(Mixed):
    """y = x is neither infinite nor nan; of a complex x, both parts"""

    key = "std::is_finite"
    accepts = "inexact"
    batch = pointwise
    linear = ()

    def abstract_eval(self, x: Aval) -> Aval:
        return accepted(self, x).with_dtype(bool_)


class Nextafter(Mixed):
    """z = the neighbour of x towards y;   dz = dx, since the step does not vary"""

    key = "std::nextafter"
    accepts = "float"
    batch = pointwise
    linear = ()

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y)

    def jvp_x(self, dx: Handle, x: Handle, y: Handle, z: Handle) -> Handle:
        return dx

    def jvp_y(self, dy: Handle, x: Handle, y: Handle, z: Handle) -> None:
        return None


class Copysign(Mixed):
    """z = |x| with the sign of y, also of a zero y;   dz = ±sign(x) dx, and 0 at x = 0"""

    key = "std::copysign"
    accepts = "float"
    batch = pointwise
    linear = ()

    def abstract_eval(self, x: Aval, y: Aval) -> Aval:
        return accepted(self, x, y)

    def jvp_x(self, dx: Handle, x: Handle, y: Handle, z: Handle) -> Handle:
        return sign(x) * copysign(full_like(x, 1), y) * dx

    def jvp_y(self, dy: Handle, x: Handle, y: Handle, z: Handle) -> None:
        return None


def floor(x: H) -> H:
    """Round down to an integer.

    x: f[*s]   →   y: f[*s]

    Convention   the derivative is zero, at the jumps too

    >>> from tenferro.primitives import floor, variable
    >>> floor(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Floor(), x)


def ceil(x: H) -> H:
    """Round up to an integer.

    x: f[*s]   →   y: f[*s]

    Convention   the derivative is zero, at the jumps too

    >>> from tenferro.primitives import ceil, variable
    >>> ceil(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Ceil(), x)


def round(x: H) -> H:
    """Round to the nearest integer, a half to the even one.

    x: f[*s]   →   y: f[*s]

    Convention   the derivative is zero, at the jumps too

    >>> from tenferro.primitives import round, variable
    >>> round(variable("x", (2,), "f64")).aval
    f64[2]
    """
    return bind(Round(), x)


def rem(x: H, y: H) -> H:
    """Take the remainder of a division that truncates; it has the sign of x.

    x: [*s]   y: [*s]   →   z: [*s]

    Definition   z = x - y·trunc(x/y), exactly
    JVP          dz = dx - trunc(x/y)·dy
    Raises       DTypeMismatchError: if the operands are bool or complex.

    >>> from tenferro.primitives import rem, variable
    >>> rem(variable("x", (2,), "f64"), variable("y", (2,), "f64")).aval
    f64[2]
    """
    return bind(Rem(), x, y)


def is_finite(x: H) -> H:
    """Find where a number is neither infinite nor nan.

    x: [*s]   →   y: bool[*s]

    >>> from tenferro.primitives import is_finite, variable
    >>> is_finite(variable("x", (2,), "f64")).aval
    bool[2]
    """
    return bind(IsFinite(), x)


def nextafter(x: H, y: H) -> H:
    """Take the number next to x in the direction of y.

    x: f[*s]   y: f[*s]   →   z: f[*s]

    Convention   dz = dx; y where x equals y

    >>> from tenferro.primitives import nextafter, variable
    >>> nextafter(variable("x", (2,), "f64"), variable("y", (2,), "f64")).aval
    f64[2]
    """
    return bind(Nextafter(), x, y)


def copysign(x: H, y: H) -> H:
    """Give x the sign of y, which a zero and a nan have too.

    x: f[*s]   y: f[*s]   →   z: f[*s]

    JVP          dz = sign(x)·(±1)·dx with the sign of y
    Convention   the derivative at x = 0 is 0, as that of ``abs``

    >>> from tenferro.primitives import copysign, variable
    >>> copysign(variable("x", (2,), "f64"), variable("y", (2,), "f64")).aval
    f64[2]
    """
    return bind(Copysign(), x, y)

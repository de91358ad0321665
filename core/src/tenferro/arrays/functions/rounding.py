"""Rounding, floor division and remainders: NumPy's and Python's rules over the primitives.

The derivative of a rounded value is zero; a remainder varies with the dividend at rate one. An
integer division by zero is an error of the backend when the program runs, as
``docs/conventions.md`` says. Read next: ``floating.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._factories import filled, zeros
from tenferro.arrays.functions.complex import imag, real
from tenferro.arrays.handle.array import Array, another_handle
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import cast, floating, pair
from tenferro.arrays.registry import covers
from tenferro.primitives import DTypeMismatchError, arithmetic, int8
from tenferro.primitives import complex as make_complex
from tenferro.primitives import rounding as p
from tenferro.primitives.comparison import eq, logical_and, lt, ne, select
from tenferro.primitives.structural import stop_gradient

_Unary = Callable[[Array], Array]
MAX_DECIMALS = 308  # 10^308 is a float64


def _to_integers(names: str, primitive: _Unary, doc: str) -> Callable[[Any], Array]:
    """Make a rounding function that leaves integers and bools as they are."""

    def function(x: Any) -> Array:
        found = as_array(x)
        return primitive(found) if found.dtype.is_inexact else another_handle(found)

    known = names.split()
    function.__name__ = function.__qualname__ = known[0]
    function.__doc__ = doc
    return covers(*known, ufunc=True)(function)


def _toward_zero(x: Array) -> Array:
    return select(lt(x, zeros(x)), p.ceil(x), p.floor(x))


floor = _to_integers(
    "floor", p.floor, "Return the floor elementwise: the largest integer that is at most x."
)
ceil = _to_integers(
    "ceil", p.ceil, "Return the ceiling elementwise: the smallest integer that is at least x."
)
trunc = _to_integers("trunc", _toward_zero, "Round elementwise toward zero to an integer.")


@covers("fix")
def fix(x: Any) -> Array:
    """Round to the nearest integer toward zero."""
    return trunc(x)


@covers("rint", ufunc=True)
def rint(x: Any) -> Array:
    """Round to the nearest integer, ties to even; a complex number by its parts."""
    return _by_parts(p.round, floating(x))


def _by_parts(function: _Unary, x: Array) -> Array:
    if not x.dtype.is_complex:
        return function(x)
    return make_complex(function(real(x)), function(imag(x)))


@covers("round", "around")
def round(x: Any, decimals: int = 0) -> Array:
    """Round to a number of decimals, which may be negative; ties go to the even digit.

    Raises ValueError: for more than 308 decimals, whose power of ten overflows.

    >>> import tenferro as tn
    >>> tn.round(12.375, 2)
    np.float64(12.38)
    """
    found, decimals = as_array(x), index(decimals)
    if not found.dtype.is_inexact:
        return _round_exact(found, decimals)
    if not decimals:
        return _by_parts(p.round, found)
    if abs(decimals) > MAX_DECIMALS:
        raise at_user_line(ValueError(f"round: {decimals} decimals; at most {MAX_DECIMALS}"))
    scale = 10.0 ** abs(decimals)
    if decimals > 0:
        return _by_parts(lambda part: p.round(part * scale) / scale, found)
    return _by_parts(lambda part: p.round(part / scale) * scale, found)


def _round_exact(x: Array, decimals: int) -> Array:
    """Round integers to a power of ten, ties to the even multiple."""
    if decimals >= 0 or x.dtype.is_bool:
        return rint(x) if x.dtype.is_bool else another_handle(x)
    scale = 10.0**-decimals
    return cast(p.round(floating(x) / scale) * scale, x.dtype)


# ---- division with a remainder -------------------------------------------------------------------


def _numbers(x: Any, y: Any, name: str) -> tuple[Array, Array]:
    """Return real operands of one shape and dtype; bools are divided as int8."""
    a, b = pair(x, y, name)
    if a.dtype.is_complex:
        error = DTypeMismatchError.of(
            name, "not defined for complex numbers", got=f"{a.aval}, {b.aval}", need="real operands"
        )
        raise at_user_line(error)
    return (cast(a, int8), cast(b, int8)) if a.dtype.is_bool else (a, b)


def _is_positive(divisor: Any) -> bool:
    """Return True for a positive Python number, whose sign no program needs to find out."""
    return type(divisor) in (int, float) and divisor > 0


def _borrows(rest: Array, b: Array, positive: bool) -> Array:
    """Return True where the signs of remainder and divisor differ, so that the quotient is one
    less. The divisor may be known to be positive.
    """
    zero = zeros(rest)
    if positive:
        return lt(rest, zero)
    return logical_and(ne(rest, zero), ne(lt(rest, zero), lt(b, zero)))


def _floored(a: Array, b: Array, rest: Array, positive: bool) -> Array:
    """Return the quotient rounded down."""
    if a.dtype.category == "uint":
        return arithmetic.div(a, b)
    if a.dtype.is_integer:
        quotient = arithmetic.div(a, b)
        return select(_borrows(rest, b, positive), quotient - 1, quotient)
    a, b, rest = stop_gradient(a), stop_gradient(b), stop_gradient(rest)
    return _quotient(a, b, rest, _borrows(rest, b, positive))


def _quotient(a: Array, b: Array, rest: Array, borrows: Array) -> Array:
    """Return the integer nearest to (a − rest)/b, one less where the signs differ."""
    exact = (a - rest) / b
    exact = select(borrows, exact - 1, exact)
    down = p.floor(exact)
    near = select(lt(filled(exact, 0.5), exact - down), down + 1, down)
    signed = select(eq(exact, zeros(exact)), p.copysign(zeros(exact), a / b), near)
    return select(eq(b, zeros(b)), a / b, signed)


def _modulo(b: Array, rest: Array, positive: bool) -> Array:
    """Return the remainder with the sign of the divisor."""
    if b.dtype.category == "uint":
        return rest
    modulo = select(_borrows(rest, b, positive), rest + b, rest)
    if b.dtype.is_integer:
        return modulo
    return select(eq(modulo, zeros(modulo)), _moving_zero(modulo, b), modulo)


def _moving_zero(x: Array, sign: Array) -> Array:
    """Return a zero of the given sign that varies as x does, so that a remainder of 0 keeps its
    derivative.
    """
    held = stop_gradient(x)
    return select(lt(sign, zeros(sign)), -(held - x), x - held)


@covers("floor_divide", ufunc=True)
def floor_divide(x: Any, y: Any) -> Array:
    """Divide arguments elementwise and round down, as Python does.

    >>> import tenferro as tn
    >>> tn.floor_divide(-7, 2)
    np.int64(-4)
    """
    a, b = _numbers(x, y, "floor_divide")
    return _floored(a, b, p.rem(a, b), _is_positive(y))


@covers("remainder", "mod", ufunc=True)
def remainder(x: Any, y: Any) -> Array:
    """Compute the remainder x − y · (x // y) elementwise, with the sign of y, as Python does."""
    a, b = _numbers(x, y, "remainder")
    return _modulo(b, p.rem(a, b), _is_positive(y))


@covers("divmod", ufunc=True)
def divmod(x: Any, y: Any) -> tuple[Array, Array]:
    """Return x // y and x % y elementwise."""
    a, b = _numbers(x, y, "divmod")
    rest, positive = p.rem(a, b), _is_positive(y)
    return _floored(a, b, rest, positive), _modulo(b, rest, positive)


@covers("fmod", ufunc=True)
def fmod(x: Any, y: Any) -> Array:
    """Return the elementwise remainder of division with the sign of x, as in C."""
    return p.rem(*_numbers(x, y, "fmod"))


@covers("modf", ufunc=True)
def modf(x: Any) -> tuple[Array, Array]:
    """Return the fractional and the integer part of x, both with the sign of x.

    >>> import tenferro as tn
    >>> tn.modf(-1.25)
    (np.float64(-0.25), np.float64(-1.0))
    """
    found = floating(x)
    whole = _toward_zero(found)
    infinite = eq(arithmetic.abs(found), filled(found, float("inf")))
    fraction = select(infinite, zeros(found), found - whole)
    return p.copysign(fraction, found), p.copysign(whole, found)

"""Comparisons, logic and selection on arrays; masks carry no derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.array._array import Array
from tenferro.array._broadcast import broadcast_shapes, cast, pair, stretch
from tenferro.array._convert import as_array
from tenferro.array._errors import at_user_line
from tenferro.array._registry import covers
from tenferro.array.functions.arithmetic import absolute, negative, subtract
from tenferro.primitives import DTypeMismatchError, bool_
from tenferro.primitives import comparison as p
from tenferro.primitives.complex import imag, real

_Binary = Callable[[Array, Array], Array]


def _comparison(name: str, function: _Binary, symbol: str) -> Callable[[Any, Any], Array]:
    def compare(x: Any, y: Any) -> Array:
        return function(*pair(x, y, name))

    compare.__name__ = compare.__qualname__ = name
    compare.__doc__ = f"x {symbol} y elementwise, as bools."
    return covers(name)(compare)


equal = _comparison("equal", p.eq, "==")
not_equal = _comparison("not_equal", p.ne, "!=")
less = _comparison("less", p.lt, "<")
less_equal = _comparison("less_equal", p.le, "<=")
greater = _comparison("greater", p.gt, ">")
greater_equal = _comparison("greater_equal", p.ge, ">=")


def _truth(x: Any) -> Array:
    """x as bools: whether each element is not zero."""
    return cast(as_array(x), bool_)


def _logic(name: str, function: _Binary, word: str) -> Callable[[Any, Any], Array]:
    def combine(x: Any, y: Any) -> Array:
        return function(*pair(_truth(x), _truth(y), name))

    combine.__name__ = combine.__qualname__ = name
    combine.__doc__ = f"x {word} y elementwise; anything that is not zero is true."
    return covers(name)(combine)


logical_and = _logic("logical_and", p.logical_and, "and")
logical_or = _logic("logical_or", p.logical_or, "or")
logical_xor = _logic("logical_xor", p.logical_xor, "xor")


@covers("logical_not")
def logical_not(x: Any) -> Array:
    """Not x elementwise; anything that is not zero is true."""
    return p.logical_not(_truth(x))


def _bools_only(name: str, function: Any, x: Any, y: Any) -> Array:
    a, b = as_array(x), as_array(y)
    for found in (a, b):
        if not found.dtype.is_bool:
            error = DTypeMismatchError.of(
                name,
                "bitwise operations are covered for bools only",
                got=f"{a.aval}, {b.aval}",
                need="bool operands",
                dtypes=(a.dtype, b.dtype),
            )
            raise at_user_line(error)
    result: Array = function(a, b)
    return result


@covers("bitwise_and")
def bitwise_and(x: Any, y: Any) -> Array:
    """x & y of bools."""
    return _bools_only("bitwise_and", logical_and, x, y)


@covers("bitwise_or")
def bitwise_or(x: Any, y: Any) -> Array:
    """x | y of bools."""
    return _bools_only("bitwise_or", logical_or, x, y)


@covers("bitwise_xor")
def bitwise_xor(x: Any, y: Any) -> Array:
    """x ^ y of bools."""
    return _bools_only("bitwise_xor", logical_xor, x, y)


@covers("invert", "bitwise_not", "bitwise_invert")
def invert(x: Any) -> Array:
    """~x: not for bools, −x − 1 for signed integers."""
    found = as_array(x)
    if found.dtype.is_bool:
        return logical_not(found)
    if found.dtype.kind != "int":
        error = DTypeMismatchError.of(
            "invert", "not defined", got=found.aval, need="bools or signed integers"
        )
        raise at_user_line(error)
    return subtract(negative(found), 1)


@covers("where")
def where(condition: Any, x: Any = None, y: Any = None) -> Array:
    """x where the condition holds, y elsewhere; a NaN or inf in the other branch stays there.

    The derivative of the other branch is multiplied by zero, and 0 · inf is NaN: guard the argument
    too where its derivative is infinite, as in ``where(x > 0, sqrt(where(x > 0, x, 1)), 0)``.

    >>> where(True, 1.0, 2.0).shape
    ()
    """
    if x is None or y is None:
        raise TypeError("where: give all three arguments; positions have a data-dependent shape")
    a, b = pair(x, y, "where")
    mask = _truth(condition)
    shape = broadcast_shapes(mask.shape, a.shape, function="where")
    return p.select(stretch(mask, shape), stretch(a, shape), stretch(b, shape))


@covers("isnan")
def isnan(x: Any) -> Array:
    """Whether each element is NaN."""
    found = as_array(x)
    return not_equal(found, found)


@covers("isinf")
def isinf(x: Any) -> Array:
    """Whether each element is infinite."""
    found = as_array(x)
    if found.dtype.is_complex:
        return logical_or(isinf(real(found)), isinf(imag(found)))
    return equal(absolute(found), float("inf"))


@covers("isfinite")
def isfinite(x: Any) -> Array:
    """Whether each element is neither infinite nor NaN."""
    found = as_array(x)
    if found.dtype.is_complex:  # |z| may overflow where both parts are finite
        return logical_and(isfinite(real(found)), isfinite(imag(found)))
    return less(absolute(found), float("inf"))

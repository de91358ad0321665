"""Comparisons, logic and selection on arrays; masks carry no derivative."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions.arithmetic import absolute
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array, fits
from tenferro.arrays.handle.weak import WeakName
from tenferro.arrays.indexing.plan import is_abstract
from tenferro.arrays.indexing.runs import Runs, runs_of
from tenferro.arrays.promotion.broadcast import broadcast_shapes, cast, pair, stretch
from tenferro.arrays.registry import FUNCTIONS, covers
from tenferro.primitives import Shape, bool_, concatenate, int64, uint64
from tenferro.primitives import comparison as p
from tenferro.primitives import slice as take_slice
from tenferro.primitives.complex import imag, real
from tenferro.primitives.constants import constant

_Binary = Callable[[Array, Array], Array]


def _comparison(
    name: str, function: _Binary, holds: Callable[[int, int], bool], symbol: str
) -> Callable[[Any, Any], Array]:
    def compare(x: Any, y: Any) -> Array:
        if _is_number(x) is not _is_number(y):
            outside = _outside(x, y)
            if outside is not None:
                a, b, shape = outside
                return Array(constant(holds(a, b), bool, shape).key)
            x, y = _wide_enough(x, y)
        return function(*pair(x, y, name))

    compare.__name__ = compare.__qualname__ = name
    compare.__doc__ = f"Compute x {symbol} y elementwise, as bools."
    return covers(name, ufunc=True)(compare)


equal = _comparison("equal", p.eq, operator.eq, "==")
not_equal = _comparison("not_equal", p.ne, operator.ne, "!=")
less = _comparison("less", p.lt, operator.lt, "<")
less_equal = _comparison("less_equal", p.le, operator.le, "<=")
greater = _comparison("greater", p.gt, operator.gt, ">")
greater_equal = _comparison("greater_equal", p.ge, operator.ge, ">=")


def _is_number(x: Any) -> bool:
    """Return True if x is a Python integer, or an argument that was one."""
    if type(x) is Array:
        return type(x.key.identity) is WeakName and x.key.aval.dtype.is_integer
    return type(x) is int


def _outside(x: Any, y: Any) -> tuple[int, int, Shape] | None:
    """Return two numbers in the order of x and y, and their shape, if one integer exceeds the
    other's dtype.

    All elements lie on one side of that integer. Also returns their shape.
    """
    first = _is_number(x)
    number, like = (x, as_array(y).aval) if first else (y, as_array(x).aval)
    dtype = int64 if like.dtype.is_bool else like.dtype
    if not dtype.is_integer or (type(number) is Array and number.dtype is dtype):
        return None
    value = number if type(number) is int else number.key.identity.look()
    if value is None or fits(value, dtype):
        return None
    side = 1 if value > 0 else -1
    return (side, 0, like.shape) if first else (0, side, like.shape)


def _wide_enough(x: Any, y: Any) -> tuple[Any, Any]:
    """Return two operands, integers as int64 if they meet a number whose value is not known.

    The carry of a loop is such a number, which may outgrow their dtype.
    """
    number, other = (x, y) if _is_number(x) else (y, x)
    if type(number) is int or number.key.identity.value is not None:
        return x, y
    other = as_array(other)
    if not other.dtype.is_integer or other.dtype is uint64:
        return x, y
    wide = cast(other, int64)
    return (x, wide) if number is x else (wide, y)


def _truth(x: Any) -> Array:
    """x as bools: whether each element is not zero."""
    return cast(as_array(x), bool_)


def _logic(name: str, function: _Binary, word: str) -> Callable[[Any, Any], Array]:
    def combine(x: Any, y: Any) -> Array:
        return function(*pair(_truth(x), _truth(y), name))

    combine.__name__ = combine.__qualname__ = name
    combine.__doc__ = (
        f"Compute the truth value of x {word.upper()} y elementwise; every nonzero element is true."
    )
    return covers(name, ufunc=True)(combine)


logical_and = _logic("logical_and", p.logical_and, "and")
logical_or = _logic("logical_or", p.logical_or, "or")
logical_xor = _logic("logical_xor", p.logical_xor, "xor")


@covers("logical_not", ufunc=True)
def logical_not(x: Any) -> Array:
    """Compute the truth value of NOT x elementwise; every nonzero element is true."""
    return p.logical_not(_truth(x))


@covers("where")
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Choose x where the condition holds, else y; without both, return the indices where it holds.

    A NaN or inf in the other branch stays there.

    The derivative of the other branch is multiplied by zero, and 0 · inf is NaN: guard the argument
    too where its derivative is infinite, as in ``where(x > 0, sqrt(where(x > 0, x, 1)), 0)``.

    >>> import tenferro as tn
    >>> tn.where(True, 1.0, 2.0).shape
    ()
    """
    if x is None and y is None:
        return FUNCTIONS["nonzero"](condition)
    if x is None or y is None:
        raise at_user_line(ValueError("where: give both values, or neither"))
    a, b = pair(x, y, "where")
    mask = _truth(condition)
    shape = broadcast_shapes(mask.shape, a.shape, function="where")
    if is_abstract(a) or is_abstract(b):
        runs = runs_of(condition, shape)
        if runs is not None:
            return _alternating(runs, stretch(a, shape), stretch(b, shape))
    return p.select(stretch(mask, shape), stretch(a, shape), stretch(b, shape))


def _alternating(runs: Runs, a: Array, b: Array) -> Array:
    """Return parts of a where a known condition holds, and parts of b between them."""
    axis, bounds, holds = runs
    parts = []
    for begin, end in bounds:
        start, limit = [0] * a.ndim, [*a.shape]
        start[axis], limit[axis] = begin, end
        parts.append(take_slice(a if holds else b, start, limit))
        holds = not holds
    return parts[0] if len(parts) == 1 else concatenate(parts, axis)


@covers("isnan", ufunc=True)
def isnan(x: Any) -> Array:
    """Test elementwise for NaN."""
    found = as_array(x)
    return not_equal(found, found)


@covers("isinf", ufunc=True)
def isinf(x: Any) -> Array:
    """Test elementwise for positive or negative infinity."""
    found = as_array(x)
    if found.dtype.is_complex:
        return logical_or(isinf(real(found)), isinf(imag(found)))
    return equal(absolute(found), float("inf"))


@covers("isfinite", ufunc=True)
def isfinite(x: Any) -> Array:
    """Test elementwise for finite values, neither infinite nor NaN."""
    found = as_array(x)
    if found.dtype.is_complex:  # |z| may overflow where both parts are finite
        return logical_and(isfinite(real(found)), isfinite(imag(found)))
    return less(absolute(found), float("inf"))

"""Operands of the functions of ``scipy.special``: their dtype, and orders that are parameters.

Read next: ``special.py``.
"""

from __future__ import annotations

from math import floor, isfinite, nan
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._known import parameter
from tenferro.arrays.handle.array import Array
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.promotion.broadcast import cast, together
from tenferro.primitives import DType, InvalidParameterError, float32, float64


def real_operands(function: str, *xs: Any) -> list[Array]:
    """Return the operands in one shape and one floating dtype, the one that SciPy uses."""
    found = together(function, *xs)
    dtype = found[0].dtype
    if not dtype.is_inexact:
        kinds = [as_array(x).dtype for x in xs if not isinstance(x, (bool, int, float))]
        dtype = _loop(kinds or [dtype])
    return [cast(x, dtype) for x in found]


def _loop(kinds: list[DType]) -> DType:
    small = all(kind.is_bool or kind.bits <= 16 for kind in kinds)
    return float32 if small else float64


def whole_order(function: str, n: Any, least: int = 0) -> int:
    """Return an order as an integer that is known while tracing.

    Raises InvalidParameterError: if it is not an integer, or too small.
    """
    number = parameter(n, function)
    try:
        order = int(number)
    except (TypeError, ValueError, OverflowError):  # inf overflows
        order = -1
    if order < least or order != number:
        raise _order_error(function, n, f"one integer >= {least}")
    return order


def real_order(function: str, v: Any) -> float:
    """Return an order that is known while tracing: a number >= 0, or a negative integer.

    Raises InvalidParameterError: for anything else.
    """
    order = _number(function, v)
    if not isfinite(order) or (order < 0 and order != floor(order)):
        raise _order_error(function, v, "one number >= 0, or an integer")
    return order


def even_order(function: str, v: Any) -> float:
    """Return the size of an order of a function that is even in it.

    Raises InvalidParameterError: if it is not a finite number.
    """
    order = _number(function, v)
    if not isfinite(order):
        raise _order_error(function, v, "one finite number")
    return abs(order)


def _number(function: str, v: Any) -> float:
    """Return an order as a float; nan if it is not a number."""
    number = parameter(v, function)
    try:
        return nan if isinstance(number, str) else float(number)
    except (TypeError, ValueError, OverflowError):
        return nan


def _order_error(function: str, order: Any, need: str) -> Exception:
    error = InvalidParameterError.of(
        function,
        "unsupported order",
        got=order,
        need=need,
        parameter="order",
        value=order,
    )
    return at_user_line(error)

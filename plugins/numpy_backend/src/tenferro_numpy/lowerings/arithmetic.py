"""Arithmetic on NumPy that takes more than one ufunc, and checked integer division.

Read next: `elementwise.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.arithmetic import truncating_division
from tenferro.primitives import Aval
from tenferro.primitives.arithmetic import (
    Clamp,
    Div,
    IntegerPow,
    Maximum,
    Minimum,
    Pow,
    Rsqrt,
)
from tenferro.primitives.constants import Constant
from tenferro_numpy.errors import DivisionByZeroError, NegativePowerError
from tenferro_numpy.ir.expression import Expression, Function, Specialize, called, simple
from tenferro_numpy.lowerings._powers import float_power, integer_power, power_of_any_layout

#: what `np.clip` calls, five microseconds later; it has no public name
_CLIP: Any = getattr(import_module("numpy._core.umath"), "clip", None)

__all__ = ["EXPRESSIONS", "clamp_between", "register"]

#: Elements of a maximum or minimum from which an operand that is a number becomes a row.
_MIN_ELEMENTS_FOR_ROW = 4096
_MIN_ROW_ELEMENTS, _MAX_ROW_ELEMENTS = 64, 1 << 15  # elements of such a row


def register(lowerings: Lowerings) -> None:
    """Register what replaces the shared lowerings: integers without a value are refused."""

    @lowerings.register(Div)
    def div(op: Div, x: Any, y: Any) -> Any:
        if x.dtype.kind not in "iu":
            return np.divide(x, y)
        if not np.all(y):
            raise DivisionByZeroError(
                "div: an integer divided by zero has no value", primitive=op.key
            )
        return truncating_division(np, x, y)

    @lowerings.register(Pow)
    def pow_(op: Pow, x: Any, y: Any) -> Any:
        if x.dtype.kind == "i" and np.any(np.less(y, 0)):
            raise NegativePowerError(
                "pow: an integer to a negative power has no integer value", primitive=op.key
            )
        return power_of_any_layout(x, y) if x.dtype.kind == "f" else np.power(x, y)


def _div(op: Div, avals: tuple[Aval, ...], result: Aval, lowering: Function) -> Expression:
    """Divide integers, which `ufuncs.py` leaves to this module."""
    return called(op, 2, lowering, shares=False)


def _pow(op: Pow, avals: tuple[Aval, ...], result: Aval, lowering: Function) -> Expression:
    if result.dtype.is_integer:
        return called(op, 2, lowering, shares=False)
    return float_power(result) if result.dtype.is_float else simple(np.power, 2)


def _integer_pow(
    op: IntegerPow, avals: tuple[Aval, ...], result: Aval, lowering: Function
) -> Expression:
    if not result.dtype.is_float or -1 <= op.exponent <= 1:
        return called(op, 1, lowering, shares=False)
    if op.exponent == 2:
        return simple(np.square, 1)
    if op.exponent == 3:
        return _cube
    if op.exponent == 4:
        return _fourth
    return integer_power(op.exponent, result)


_cube = Expression(
    "{p0}({0}, {p1}({0}))",
    (np.multiply, np.square),
    broadcasts=True,
    into="{p0}({0}, {p1}({0}, {out}), {out})",
)
_fourth = Expression(
    "{p0}({p0}({0}))",
    (np.square,),
    broadcasts=True,
    into="{p0}({p0}({0}, {out}), {out})",
    in_place=True,
)
_clamp = Expression(
    "{p0}({p1}({1}, {0}), {2})",
    (np.minimum, np.maximum),
    broadcasts=True,
    into="{p0}({p1}({1}, {0}, out={out}), {2}, out={out})",
)
_between = Expression(
    "{p0}({1}, {0}, {2})",
    (_CLIP,),
    broadcasts=True,
    into="{p0}({1}, {0}, {2}, {out})",
    in_place=True,
)
_rsqrt = Expression(
    "{p0}({p1}({0}))",
    (np.reciprocal, np.sqrt),
    broadcasts=True,
    into="{p0}({p1}({0}, {out}), {out})",
    in_place=True,
)


def clamp_between(
    op: Clamp,
    chosen: Expression,
    operands: tuple[int, ...],
    literals: Mapping[int, Any],
    avals: Sequence[Aval],
) -> tuple[Expression, tuple[int, ...]]:
    """Return the line for a clamp and its operands: one call between numbers that are known.

    They are no zeros, whose sign the two calls of the general line may choose otherwise.
    """
    bounds = [literals.get(slot) for slot in (operands[0], operands[2])]
    known = all([type(x) is Constant and x.dtype.is_float and x.value != 0 for x in bounds])
    is_one_call = known and _CLIP is not None and chosen is _clamp
    return (_between if is_one_call else chosen), operands


def _extreme(function: Function) -> Specialize:
    """`maximum` or `minimum`; NumPy takes elements one by one next to a single number."""
    plain = simple(function, 2)
    operands = "{p1}({0}, {1}), {p1}({1}, {0})"
    large = plain._replace(
        template=f"{{p0}}({operands})",
        bound=(function, _as_row),
        into=f"{{p0}}({operands}, out={{out}})",
    )
    return lambda op, avals, result, lowering: (
        large if result.size >= _MIN_ELEMENTS_FOR_ROW else plain
    )


def _as_row(x: Any, other: Any) -> Any:
    """Return the operand; a number becomes a row as long as those of the other operand."""
    if x.ndim or not other.ndim or not _MIN_ROW_ELEMENTS <= other.shape[-1] <= _MAX_ROW_ELEMENTS:
        return x
    row = np.empty(other.shape[-1], x.dtype)
    row.fill(x)
    return row


EXPRESSIONS: dict[type, Specialize] = {
    Div: _div,
    Maximum: _extreme(np.maximum),
    Minimum: _extreme(np.minimum),
    Clamp: lambda op, avals, result, lowering: _clamp,
    Pow: _pow,
    IntegerPow: _integer_pow,
    Rsqrt: lambda op, avals, result, lowering: _rsqrt,
}

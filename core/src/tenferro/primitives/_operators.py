"""Fill the operator table of ``Handle``: strict arithmetic, Python scalars lifted to constants.

A Python scalar takes the shape and dtype of the other operand, so that a rule can say ``1 + y*y``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.primitives._aval import Aval
from tenferro.primitives._handle import OPERATORS, Handle, Scalar
from tenferro.primitives.arithmetic import abs as absolute
from tenferro.primitives.arithmetic import add, div, integer_pow, mul, neg, pow, sub
from tenferro.primitives.constants import constant
from tenferro.primitives.structural import broadcast_in_dim


def lift(x: Handle | Scalar, like: Handle) -> Handle:
    """Return the handle itself, or a constant of the other operand's shape and dtype."""
    return x if isinstance(x, Handle) else constant(x, like.dtype, like.shape)


def _binary(function: Callable[[Handle, Handle], Handle]) -> Callable[..., Any]:
    def operator(x: Any, y: Any) -> Any:
        if isinstance(x, Handle):
            if isinstance(y, Handle):
                return function(x, y)
            return function(x, lift(y, x)) if _is_scalar(y) else NotImplemented
        return function(lift(x, y), y) if _is_scalar(x) else NotImplemented

    return operator


def _is_scalar(x: object) -> bool:
    return isinstance(x, (bool, int, float, complex))


def _power(x: Handle, exponent: Any) -> Any:
    if isinstance(exponent, int) and not isinstance(exponent, bool):
        return integer_pow(x, exponent)
    return _binary(pow)(x, exponent)


def _zeros(aval: Aval) -> Handle:
    return constant(0, aval.dtype, aval.shape)


def _repeat(x: Handle, size: int) -> Handle:
    return broadcast_in_dim(x, (size, *x.shape), range(1, x.ndim + 1))


OPERATORS.update(
    add=_binary(add),
    sub=_binary(sub),
    mul=_binary(mul),
    div=_binary(div),
    pow=_power,
    neg=neg,
    abs=absolute,
    zeros=_zeros,
    repeat=_repeat,
)

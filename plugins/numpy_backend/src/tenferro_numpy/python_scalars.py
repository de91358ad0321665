"""Instructions on float64 and bool of rank 0, computed on Python's own numbers.

A Python float costs a third of a NumPy scalar with an operator, a fifth with a function of `math`.
Where Python raises (`1.0 / 0.0`, `math.exp(1e3)`, `math.log(-1.0)`) NumPy gives inf or nan: the
safe form of a line asks NumPy there, and gives the same bits as the fast one everywhere else.
Integers stay with NumPy, because theirs wrap. Read next: `plan_passes/unboxing.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from tenferro.primitives import Aval, DType
from tenferro_numpy.ir.expression import RAISED, Expression, Function, Scalar

__all__ = ["UNBOXED", "scalar_form"]

_FLOAT, _BOOL = Aval((), DType.of("float64")), Aval((), DType.of("bool"))
UNBOXED = frozenset((_FLOAT, _BOOL))
_ALWAYS = 1_000_000  # functions round as `math` does in every program, so that bits agree
_OPERATOR_GAIN, _CALL_GAIN = 20, 80  # nanoseconds saved by a line


def scalar_form(op: Any, avals: tuple[Aval, ...], result: Aval) -> Scalar | None:
    """Return the instruction on Python numbers; None if NumPy's must be used."""
    if result not in UNBOXED or not UNBOXED.issuperset(avals):
        return None
    found = _form_of(op.key)
    return found if isinstance(found, Scalar) or found is None else found(op, avals, result)


def _operator(template: str, numpy: Function | None = None, gain: int = _OPERATOR_GAIN) -> Scalar:
    """Make a line of operators; `numpy` is called if Python raises."""
    line = Expression(template)
    if numpy is None:
        return Scalar(line, gain)
    return Scalar(Expression(template, safe=_guarded(line.function(), numpy)), gain)


def _function(fast: Function, numpy: Function, count: int = 1, gain: int = _ALWAYS) -> Scalar:
    """Make a call of a function of `math`."""
    operands = ", ".join(f"{{{i}}}" for i in range(count))
    line = Expression(f"{{p0}}({operands})", (fast,), safe=_guarded(fast, numpy))
    return Scalar(line, gain)


def _total(function: Function, count: int, gain: int = _CALL_GAIN) -> Scalar:
    """Make a call of a function that never raises."""
    operands = ", ".join(f"{{{i}}}" for i in range(count))
    return Scalar(Expression(f"{{p0}}({operands})", (function,)), gain)


def _guarded(fast: Function, numpy: Function) -> Function:
    def guarded(*xs: Any) -> float:
        try:
            return fast(*xs)  # type: ignore[no-any-return]
        except RAISED:
            return float(numpy(*[np.float64(x) for x in xs]))

    return guarded


def _boxed(function: Function, count: int) -> Scalar:
    """Make a call of NumPy for a function that Python does not have."""

    def boxed(*xs: Any) -> float:
        return float(function(*xs))

    return _total(boxed, count, gain=-_CALL_GAIN)


def _logistic(x: float) -> float:
    """1/(1 + exp(-x)), whatever x is."""
    try:
        return 1.0 / (1.0 + math.exp(-x))
    except OverflowError:
        return math.exp(x)


def _integer_pow(op: Any, avals: tuple[Aval, ...], result: Aval) -> Scalar | None:
    n = op.exponent
    if n in (2, 3, 4):
        return _operator(("{0} * {0}", "{0} * ({0} * {0})", "({0} * {0}) * ({0} * {0})")[n - 2])
    if n == -1:
        return _operator("1.0 / {0}", np.reciprocal)
    if -1 < n < 2 or abs(n) > 1 << 53:
        return None
    exponent = float(n)
    safe = _guarded(lambda x: math.pow(x, exponent), lambda x: np.power(x, exponent))
    return Scalar(Expression("{p0}({0}, {p1})", (math.pow, exponent), safe=safe), _ALWAYS)


def _convert(op: Any, avals: tuple[Aval, ...], result: Aval) -> Scalar | None:
    if avals[0] is result:
        return None
    return _total(float, 1) if result is _FLOAT else _operator("{0} != 0.0", gain=_CALL_GAIN)


_SIGN = "(1.0 if {0} > 0.0 else -1.0 if {0} < 0.0 else 0.0 if {0} == 0.0 else {0})"
_MAXIMUM = "({0} if {0} > {1} else {1} if {0} < {1} else {p0}({0}, {1}))"
_MINIMUM = "({0} if {0} < {1} else {1} if {0} > {1} else {p0}({0}, {1}))"


def _extreme(template: str, numpy: Function) -> Expression:
    """Make the larger or smaller of two numbers.

    NumPy is asked for equal numbers and nan: which of -0.0 and 0.0, and which nan, its loops take
    depends on the processor, and arrays take the same.
    """

    def equal(x: float, y: float) -> float:
        return x if x == y != 0.0 else float(numpy(x, y))

    return Expression(template, (equal,))


def _clamp() -> Function:
    maximum = _extreme(_MAXIMUM, np.maximum).function()
    minimum = _extreme(_MINIMUM, np.minimum).function()
    return lambda low, x, high: minimum(maximum(x, low), high)


def _all_of(kind: Aval, form: Scalar) -> Callable[..., Scalar | None]:
    """Return the form if all operands are of one kind."""
    return lambda op, avals, result: form if all(aval is kind for aval in avals) else None


#: The form of a primitive, or a function of operation and avals that chooses one.
_Form = Scalar | Callable[..., Scalar | None]
#: what makes the form of each primitive, by its key
_FORMS: dict[str, Callable[[], _Form]] = {
    "std::add": lambda: _all_of(_FLOAT, _operator("{0} + {1}")),
    "std::sub": lambda: _operator("{0} - {1}"),
    "std::mul": lambda: _all_of(_FLOAT, _operator("{0} * {1}")),
    "std::div": lambda: _operator("{0} / {1}", np.divide),
    "std::neg": lambda: _operator("-{0}"),
    "std::abs": lambda: _all_of(_FLOAT, _total(abs, 1)),
    "std::sign": lambda: _operator(_SIGN, gain=_CALL_GAIN),
    "std::maximum": lambda: _all_of(_FLOAT, Scalar(_extreme(_MAXIMUM, np.maximum), _CALL_GAIN)),
    "std::minimum": lambda: _all_of(_FLOAT, Scalar(_extreme(_MINIMUM, np.minimum), _CALL_GAIN)),
    "std::clamp": lambda: _all_of(_FLOAT, _total(_clamp(), 3)),
    "std::pow": lambda: _function(math.pow, np.power, 2),
    "std::integer_pow": lambda: _integer_pow,
    "std::square": lambda: _operator("{0} * {0}"),
    "std::sqrt": lambda: _function(math.sqrt, np.sqrt, gain=_CALL_GAIN),
    "std::cbrt": lambda: _function(math.cbrt, np.cbrt),
    "std::rsqrt": lambda: Scalar(
        Expression(
            "1.0 / {p0}({0})",
            (math.sqrt,),
            safe=_guarded(lambda x: 1.0 / math.sqrt(x), lambda x: np.reciprocal(np.sqrt(x))),
        ),
        _CALL_GAIN,
    ),
    "std::floor": lambda: _boxed(np.floor, 1),
    "std::ceil": lambda: _boxed(np.ceil, 1),
    "std::round": lambda: _boxed(np.rint, 1),
    "std::rem": lambda: _all_of(_FLOAT, _function(math.fmod, np.fmod, 2, gain=_CALL_GAIN)),
    "std::nextafter": lambda: _total(math.nextafter, 2),
    "std::copysign": lambda: _total(math.copysign, 2),
    "std::eq": lambda: _operator("{0} == {1}"),
    "std::ne": lambda: _operator("{0} != {1}"),
    "std::lt": lambda: _operator("{0} < {1}"),
    "std::le": lambda: _operator("{0} <= {1}"),
    "std::gt": lambda: _operator("{0} > {1}"),
    "std::ge": lambda: _operator("{0} >= {1}"),
    "std::logical_and": lambda: _operator("{0} & {1}"),
    "std::logical_or": lambda: _operator("{0} | {1}"),
    "std::logical_xor": lambda: _operator("{0} ^ {1}"),
    "std::logical_not": lambda: _operator("not {0}"),
    "std::select": lambda: _operator("{1} if {0} else {2}"),
    "std::convert": lambda: _convert,
    "std::is_finite": lambda: _all_of(_FLOAT, _total(math.isfinite, 1)),
    "std::exp": lambda: _function(math.exp, np.exp),
    "std::log": lambda: _function(math.log, np.log),
    "std::expm1": lambda: _function(math.expm1, np.expm1),
    "std::log1p": lambda: _function(math.log1p, np.log1p),
    "std::logistic": lambda: _total(_logistic, 1, gain=_ALWAYS),
    "std::exp2": lambda: _function(math.exp2, np.exp2),
    "std::log2": lambda: _function(math.log2, np.log2),
    "std::log10": lambda: _function(math.log10, np.log10),
    "std::logaddexp": lambda: _boxed(np.logaddexp, 2),
    "std::sin": lambda: _function(math.sin, np.sin),
    "std::cos": lambda: _function(math.cos, np.cos),
    "std::tan": lambda: _function(math.tan, np.tan),
    "std::asin": lambda: _function(math.asin, np.arcsin),
    "std::acos": lambda: _function(math.acos, np.arccos),
    "std::atan": lambda: _function(math.atan, np.arctan),
    "std::atan2": lambda: _function(math.atan2, np.arctan2, 2),
    "std::hypot": lambda: _function(math.hypot, np.hypot, 2),
    "std::sinh": lambda: _function(math.sinh, np.sinh),
    "std::cosh": lambda: _function(math.cosh, np.cosh),
    "std::tanh": lambda: _function(math.tanh, np.tanh),
    "std::asinh": lambda: _function(math.asinh, np.arcsinh),
    "std::acosh": lambda: _function(math.acosh, np.arccosh),
    "std::atanh": lambda: _function(math.atanh, np.arctanh),
    "std::erf": lambda: _total(math.erf, 1, gain=_ALWAYS),
    "std::erfc": lambda: _function(math.erfc, lambda x: 0.0),
}


@cache
def _form_of(key: str) -> _Form | None:
    """Return the form of a primitive; made for the first program that computes it of numbers."""
    make = _FORMS.get(key)
    return None if make is None else make()

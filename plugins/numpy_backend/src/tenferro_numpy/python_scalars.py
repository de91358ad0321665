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
#: nanoseconds that a line takes
_OPERATOR_COST, _QUOTIENT_COST, _FUNCTION_COST, _NUMPY_COST = 20, 40, 70, 1500


def scalar_form(op: Any, avals: tuple[Aval, ...], result: Aval) -> Scalar | None:
    """Return the instruction on Python numbers; None if NumPy's must be used."""
    if result not in UNBOXED or not UNBOXED.issuperset(avals):
        return None
    found = _form_of(op.key)
    return found if isinstance(found, Scalar) or found is None else found(op, avals, result)


def _operator(template: str, gain: int = _OPERATOR_GAIN, cost: int = _OPERATOR_COST) -> Scalar:
    """Make a line of operators that never raises."""
    line = Expression(template)
    return Scalar(line, gain, line, cost)


def _quotient(template: str, numpy: Function, divisor: str, count: int) -> Scalar:
    """Make a line of operators that raises where the divisor is zero; `numpy` is called there."""
    line = Expression(template)
    guarded = _guarded(line.function(), numpy)
    fast = Expression(template, safe=guarded)
    return Scalar(fast, _OPERATOR_GAIN, _within(fast, divisor, guarded, count), _QUOTIENT_COST)


def _function(
    fast: Function, numpy: Function, count: int = 1, gain: int = _ALWAYS, within: str = ""
) -> Scalar:
    """Make a call of a function of `math`, which does not raise `within` some numbers."""
    guarded = _guarded(fast, numpy)
    line = Expression(f"{{p0}}({_operands(count)})", (fast,), safe=guarded)
    return Scalar(line, gain, _within(line, within, guarded, count), _FUNCTION_COST)


def _total(function: Function, count: int, gain: int = _CALL_GAIN) -> Scalar:
    """Make a call of a function that never raises."""
    line = Expression(f"{{p0}}({_operands(count)})", (function,))
    return Scalar(line, gain, line, _FUNCTION_COST)


def _operands(count: int) -> str:
    return ", ".join(f"{{{i}}}" for i in range(count))


def _within(fast: Expression, condition: str, guarded: Function, count: int) -> Expression:
    """Make the line that calls what never raises where the condition does not hold."""
    bound = len(fast.bound)
    call = f"{{p{bound}}}({_operands(count)})"
    if not condition:
        return Expression(f"{{p0}}({_operands(count)})", (guarded,))
    return Expression(f"{fast.template} if {condition} else {call}", (*fast.bound, guarded))


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

    return _total(boxed, count, gain=-_CALL_GAIN)._replace(cost=_NUMPY_COST)


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
        return _quotient("1.0 / {0}", np.reciprocal, "{0}", 1)
    if -1 < n < 2 or abs(n) > 1 << 53:
        return None
    exponent = float(n)
    safe = _guarded(lambda x: math.pow(x, exponent), lambda x: np.power(x, exponent))
    line = Expression("{p0}({0}, {p1})", (math.pow, exponent), safe=safe)
    return Scalar(line, _ALWAYS, _within(line, "", safe, 1), _FUNCTION_COST)


def _convert(op: Any, avals: tuple[Aval, ...], result: Aval) -> Scalar | None:
    if avals[0] is result:
        return None
    return _operator("1.0 if {0} else 0.0" if result is _FLOAT else "{0} != 0.0", gain=_CALL_GAIN)


def _rsqrt() -> Scalar:
    safe = _guarded(lambda x: 1.0 / math.sqrt(x), lambda x: np.reciprocal(np.sqrt(x)))
    line = Expression("1.0 / {p0}({0})", (math.sqrt,), safe=safe)
    return Scalar(line, _CALL_GAIN, _within(line, "{0} > 0.0", safe, 1), _FUNCTION_COST)


_MODERATE = "1e-100 < {0} < 1e100 and -3.0 <= {1} <= 3.0"
_SIGN = "(1.0 if {0} > 0.0 else -1.0 if {0} < 0.0 else 0.0 if {0} == 0.0 else {0})"
_MAXIMUM = "({0} if {0} > {1} else {1} if {0} < {1} else {p0}({0}, {1}))"
_MINIMUM = "({0} if {0} < {1} else {1} if {0} > {1} else {p0}({0}, {1}))"


def _extreme(template: str, numpy: Function) -> Scalar:
    """Make the larger or smaller of two numbers.

    NumPy is asked for equal numbers and nan: which of -0.0 and 0.0, and which nan, its loops take
    depends on the processor, and arrays take the same.
    """

    def equal(x: float, y: float) -> float:
        return x if x == y != 0.0 else float(numpy(x, y))

    line = Expression(template, (equal,))
    return Scalar(line, _CALL_GAIN, line, _QUOTIENT_COST)


def _clamp() -> Scalar:
    """Make the nearest number between two; what lies between them is itself."""
    maximum = _extreme(_MAXIMUM, np.maximum).expression.function()
    minimum = _extreme(_MINIMUM, np.minimum).expression.function()
    whole = _total(lambda low, x, high: minimum(maximum(x, low), high), 3)
    text = "({1} if {0} <= {1} <= {2} and {1} else {p0}({0}, {1}, {2}))"  # a zero has a sign
    line = Expression(text, whole.expression.bound)
    return Scalar(line, _CALL_GAIN, line, _OPERATOR_COST)


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
    "std::div": lambda: _quotient("{0} / {1}", np.divide, "{1}", 2),
    "std::neg": lambda: _operator("-{0}"),
    "std::abs": lambda: _all_of(_FLOAT, _total(abs, 1)),
    "std::sign": lambda: _operator(_SIGN, gain=_CALL_GAIN),
    "std::maximum": lambda: _all_of(_FLOAT, _extreme(_MAXIMUM, np.maximum)),
    "std::minimum": lambda: _all_of(_FLOAT, _extreme(_MINIMUM, np.minimum)),
    "std::clamp": lambda: _all_of(_FLOAT, _clamp()),
    "std::pow": lambda: _function(math.pow, np.power, 2, within=_MODERATE),
    "std::integer_pow": lambda: _integer_pow,
    "std::square": lambda: _operator("{0} * {0}"),
    "std::sqrt": lambda: _function(math.sqrt, np.sqrt, gain=_CALL_GAIN, within="{0} >= 0.0"),
    "std::cbrt": lambda: _function(math.cbrt, np.cbrt),
    "std::rsqrt": _rsqrt,
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
    "std::exp": lambda: _function(math.exp, np.exp, within="{0} < 709.0"),
    "std::log": lambda: _function(math.log, np.log, within="{0} > 0.0"),
    "std::expm1": lambda: _function(math.expm1, np.expm1, within="{0} < 709.0"),
    "std::log1p": lambda: _function(math.log1p, np.log1p, within="{0} > -1.0"),
    "std::logistic": lambda: _total(_logistic, 1, gain=_ALWAYS),
    "std::exp2": lambda: _function(math.exp2, np.exp2, within="{0} < 1023.0"),
    "std::log2": lambda: _function(math.log2, np.log2, within="{0} > 0.0"),
    "std::log10": lambda: _function(math.log10, np.log10, within="{0} > 0.0"),
    "std::logaddexp": lambda: _boxed(np.logaddexp, 2),
    "std::sin": lambda: _function(math.sin, np.sin, within="{0} - {0} == 0.0"),
    "std::cos": lambda: _function(math.cos, np.cos, within="{0} - {0} == 0.0"),
    "std::tan": lambda: _function(math.tan, np.tan),
    "std::asin": lambda: _function(math.asin, np.arcsin),
    "std::acos": lambda: _function(math.acos, np.arccos),
    "std::atan": lambda: _function(math.atan, np.arctan),
    "std::atan2": lambda: _function(math.atan2, np.arctan2, 2),
    "std::hypot": lambda: _function(math.hypot, np.hypot, 2),
    "std::sinh": lambda: _function(math.sinh, np.sinh),
    "std::cosh": lambda: _function(math.cosh, np.cosh),
    "std::tanh": lambda: _function(math.tanh, np.tanh, within="{0} == {0}"),
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

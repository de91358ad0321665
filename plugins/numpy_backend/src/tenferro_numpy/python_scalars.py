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

from tenferro import primitives as p
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
    found = _forms().get(type(op))
    return found(op, avals, result) if callable(found) else found


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


@cache
def _forms() -> dict[type, Any]:
    """Return the form of each primitive; made for the first program with single numbers."""
    return {**_forms_of_arithmetic(), **_forms_of_comparisons(), **_forms_of_functions()}


def _forms_of_arithmetic() -> dict[type, Any]:
    return {
        p.Add: _all_of(_FLOAT, _operator("{0} + {1}")),
        p.Sub: _operator("{0} - {1}"),
        p.Mul: _all_of(_FLOAT, _operator("{0} * {1}")),
        p.Div: _operator("{0} / {1}", np.divide),
        p.Neg: _operator("-{0}"),
        p.Abs: _all_of(_FLOAT, _total(abs, 1)),
        p.Sign: _operator(_SIGN, gain=_CALL_GAIN),
        p.Maximum: _all_of(_FLOAT, Scalar(_extreme(_MAXIMUM, np.maximum), _CALL_GAIN)),
        p.Minimum: _all_of(_FLOAT, Scalar(_extreme(_MINIMUM, np.minimum), _CALL_GAIN)),
        p.Clamp: _all_of(_FLOAT, _total(_clamp(), 3)),
        p.Pow: _function(math.pow, np.power, 2),
        p.IntegerPow: _integer_pow,
        p.Square: _operator("{0} * {0}"),
        p.Sqrt: _function(math.sqrt, np.sqrt, gain=_CALL_GAIN),
        p.Cbrt: _function(math.cbrt, np.cbrt),
        p.Rsqrt: Scalar(
            Expression(
                "1.0 / {p0}({0})",
                (math.sqrt,),
                safe=_guarded(lambda x: 1.0 / math.sqrt(x), lambda x: np.reciprocal(np.sqrt(x))),
            ),
            _CALL_GAIN,
        ),
        p.Floor: _boxed(np.floor, 1),
        p.Ceil: _boxed(np.ceil, 1),
        p.Round: _boxed(np.rint, 1),
        p.Rem: _all_of(_FLOAT, _function(math.fmod, np.fmod, 2, gain=_CALL_GAIN)),
        p.Nextafter: _total(math.nextafter, 2),
        p.Copysign: _total(math.copysign, 2),
    }


def _forms_of_comparisons() -> dict[type, Any]:
    return {
        p.Eq: _operator("{0} == {1}"),
        p.Ne: _operator("{0} != {1}"),
        p.Lt: _operator("{0} < {1}"),
        p.Le: _operator("{0} <= {1}"),
        p.Gt: _operator("{0} > {1}"),
        p.Ge: _operator("{0} >= {1}"),
        p.LogicalAnd: _operator("{0} & {1}"),
        p.LogicalOr: _operator("{0} | {1}"),
        p.LogicalXor: _operator("{0} ^ {1}"),
        p.LogicalNot: _operator("not {0}"),
        p.Select: _operator("{1} if {0} else {2}"),
        p.Convert: _convert,
        p.IsFinite: _all_of(_FLOAT, _total(math.isfinite, 1)),
    }


def _forms_of_functions() -> dict[type, Any]:
    return {
        p.Exp: _function(math.exp, np.exp),
        p.Log: _function(math.log, np.log),
        p.Expm1: _function(math.expm1, np.expm1),
        p.Log1p: _function(math.log1p, np.log1p),
        p.Logistic: _total(_logistic, 1, gain=_ALWAYS),
        p.Exp2: _function(math.exp2, np.exp2),
        p.Log2: _function(math.log2, np.log2),
        p.Log10: _function(math.log10, np.log10),
        p.Logaddexp: _boxed(np.logaddexp, 2),
        p.Sin: _function(math.sin, np.sin),
        p.Cos: _function(math.cos, np.cos),
        p.Tan: _function(math.tan, np.tan),
        p.Asin: _function(math.asin, np.arcsin),
        p.Acos: _function(math.acos, np.arccos),
        p.Atan: _function(math.atan, np.arctan),
        p.Atan2: _function(math.atan2, np.arctan2, 2),
        p.Hypot: _function(math.hypot, np.hypot, 2),
        p.Sinh: _function(math.sinh, np.sinh),
        p.Cosh: _function(math.cosh, np.cosh),
        p.Tanh: _function(math.tanh, np.tanh),
        p.Asinh: _function(math.asinh, np.arcsinh),
        p.Acosh: _function(math.acosh, np.arccosh),
        p.Atanh: _function(math.atanh, np.arctanh),
        p.Erf: _total(math.erf, 1, gain=_ALWAYS),
        p.Erfc: _function(math.erfc, lambda x: 0.0),
    }

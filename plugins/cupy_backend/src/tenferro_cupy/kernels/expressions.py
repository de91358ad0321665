"""Primitives that a kernel can compute, as calls of the functions in ``device``.

``call_of`` gives the text for one operation, or None where the region has to leave the operation to
CuPy: all that no table lists. Read next: ``source.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.primitives import (
    Abs,
    Acos,
    Acosh,
    Add,
    Asin,
    Asinh,
    Atan,
    Atan2,
    Atanh,
    Aval,
    Bitcast,
    BitwiseAnd,
    BitwiseNot,
    BitwiseOr,
    BitwiseXor,
    Cbrt,
    Ceil,
    Clamp,
    Complex,
    Conj,
    Convert,
    Copysign,
    Cos,
    Cosh,
    Digamma,
    Div,
    Eq,
    Erf,
    Erfc,
    Erfinv,
    Exp,
    Exp2,
    Expm1,
    Floor,
    Ge,
    Gt,
    Hypot,
    Imag,
    IntegerPow,
    IsFinite,
    Le,
    Lgamma,
    Log,
    Log1p,
    Log2,
    Log10,
    Logaddexp,
    LogicalAnd,
    LogicalNot,
    LogicalOr,
    LogicalXor,
    Logistic,
    Lt,
    Maximum,
    Minimum,
    Mul,
    Ne,
    Neg,
    Nextafter,
    Pow,
    Real,
    ReduceAnd,
    ReduceMax,
    ReduceMin,
    ReduceOr,
    ReduceProd,
    ReduceSum,
    Rem,
    Round,
    Rsqrt,
    Select,
    ShiftLeft,
    ShiftRight,
    Sign,
    Sin,
    Sinh,
    Sqrt,
    Square,
    StopGradient,
    Sub,
    Tan,
    Tanh,
)  # fmt: skip
from tenferro_cupy.kernels.kernel import c_type

__all__ = ["FOLDS", "RECOMPUTED_RATHER_THAN_READ", "call_of", "dtypes_of", "is_more_accurate"]

_FLOAT = frozenset({"float"})
_ANALYTIC = _FLOAT | {"complex"}
_REAL = _FLOAT | {"int", "uint"}
_NUMERIC = _REAL | {"complex"}
_ORDERED = _REAL | {"bool"}
_BITS = frozenset({"bool", "int", "uint"})
_ANY = _NUMERIC | {"bool"}

#: primitive → name of the function, and the categories of operands for which ``device`` has it
_FUNCTIONS: dict[type, tuple[str, frozenset[str]]] = {
    StopGradient: ("positive", _ANY),
    Add: ("add", _NUMERIC), Sub: ("sub", _NUMERIC), Mul: ("mul", _NUMERIC), Div: ("div", _NUMERIC),
    Neg: ("neg", _NUMERIC), Square: ("square", _NUMERIC), Abs: ("abs", _NUMERIC),
    Sign: ("sign", _REAL), Maximum: ("maximum", _ORDERED), Minimum: ("minimum", _ORDERED),
    Clamp: ("clamp", _ORDERED), Pow: ("pow", _NUMERIC), Sqrt: ("sqrt", _ANALYTIC),
    Rsqrt: ("rsqrt", _FLOAT), Cbrt: ("cbrt", _FLOAT),
    Exp: ("exp", _ANALYTIC), Exp2: ("exp2", _FLOAT), Expm1: ("expm1", _FLOAT),
    Log: ("log", _ANALYTIC), Log2: ("log2", _FLOAT), Log10: ("log10", _FLOAT),
    Log1p: ("log1p", _FLOAT), Logaddexp: ("logaddexp", _FLOAT), Logistic: ("logistic", _FLOAT),
    Sin: ("sin", _ANALYTIC), Cos: ("cos", _ANALYTIC), Tan: ("tan", _ANALYTIC),
    Asin: ("asin", _ANALYTIC), Acos: ("acos", _ANALYTIC), Atan: ("atan", _ANALYTIC),
    Atan2: ("atan2", _FLOAT), Hypot: ("hypot", _FLOAT), Sinh: ("sinh", _ANALYTIC),
    Cosh: ("cosh", _ANALYTIC),
    Tanh: ("tanh", _ANALYTIC), Asinh: ("asinh", _ANALYTIC), Acosh: ("acosh", _ANALYTIC),
    Atanh: ("atanh", _ANALYTIC), Erf: ("erf", _FLOAT), Erfc: ("erfc", _FLOAT),
    Erfinv: ("erfinv", _FLOAT), Lgamma: ("lgamma", _FLOAT), Digamma: ("digamma", _FLOAT),
    Floor: ("floor", _FLOAT), Ceil: ("ceil", _FLOAT), Round: ("rint", _FLOAT),
    Rem: ("rem", _REAL), Copysign: ("copysign", _FLOAT), Nextafter: ("nextafter", _FLOAT),
    IsFinite: ("is_finite", _ANALYTIC),
    Eq: ("eq", _ANY), Ne: ("ne", _ANY), Lt: ("lt", _ORDERED), Le: ("le", _ORDERED),
    Gt: ("gt", _ORDERED), Ge: ("ge", _ORDERED), Select: ("select", _ANY),
    LogicalAnd: ("logical_and", _ANY), LogicalOr: ("logical_or", _ANY),
    LogicalXor: ("logical_xor", _ANY), LogicalNot: ("logical_not", _ANY),
    BitwiseAnd: ("bit_and", _BITS), BitwiseOr: ("bit_or", _BITS), BitwiseXor: ("bit_xor", _BITS),
    BitwiseNot: ("bit_not", _BITS), ShiftLeft: ("shift_left", _BITS),
    ShiftRight: ("shift_right", _BITS), Complex: ("make_complex", _FLOAT),
    Real: ("real", frozenset({"complex"})), Imag: ("imag", frozenset({"complex"})),
}  # fmt: skip
#: of these the header has no function for floats of two bytes, or CuPy has no type for a part
_NOT_NARROW = (Nextafter, Complex)

#: bytes of a part → integers up to this size are exact as floats, or fit the template's parameter
_MAX_EXPONENT = {4: 1 << 24, 8: 1 << 53}

#: reduction → name of its struct in ``folds.cuh``, and the categories that it takes
FOLDS: dict[type, tuple[str, frozenset[str]]] = {
    ReduceSum: ("sum", _NUMERIC), ReduceProd: ("product", _NUMERIC),
    ReduceMax: ("largest", _ORDERED), ReduceMin: ("smallest", _ORDERED),
    ReduceAnd: ("all", frozenset({"bool"})), ReduceOr: ("any", frozenset({"bool"})),
}  # fmt: skip

#: Operations that a region computes again rather than reading their result from memory.
RECOMPUTED_RATHER_THAN_READ = frozenset(
    (
        Add, Sub, Mul, Neg, Square, Abs, Maximum, Minimum, Clamp, Sign, Eq, Ne, Lt, Le, Gt, Ge,
        Select, LogicalAnd, LogicalOr, LogicalXor, LogicalNot, Convert, Conj, Real, Imag, Complex,
        BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot, ShiftLeft, ShiftRight, StopGradient,
        Floor, Ceil, Round, IsFinite, Copysign, Bitcast,
    )
)  # fmt: skip


def call_of(op: Any, operands: Sequence[Aval], result: Aval) -> str | None:
    """Return a call with ``{0}`` and so on for the operands; None if CuPy has to do it.

    >>> from tenferro.primitives import Aval, Exp
    >>> x = Aval((3,), "float32")
    >>> call_of(Exp(), (x,), x)
    'exp({0})'
    """
    special = _SPECIAL.get(type(op))
    if special is not None:
        return special(op, operands[0], result)
    name, categories = _FUNCTIONS.get(type(op), ("", frozenset()))
    number = operands[-1] if operands else result  # the condition of `select` comes first
    if number.dtype.category not in categories:
        return None
    if type(op) in _NOT_NARROW and number.dtype.itemsize < 4:
        return None
    places = ", ".join([f"{{{i}}}" for i in range(len(operands))])
    return f"{name}({places})"


def is_more_accurate(op: Any, x: Aval) -> bool:
    """Return True if a kernel's errors are smaller than those of CuPy's function."""
    primitive, dtype = type(op), x.dtype
    if primitive in (Erfc, Erfinv):
        return dtype.name == "float64"
    if primitive in (Pow, IntegerPow):
        return dtype.is_complex
    return primitive in (Lgamma, Digamma)


def dtypes_of(primitive: type) -> frozenset[str]:
    """Return the categories of dtypes for which kernels compute a primitive."""
    if primitive in _SPECIAL:
        return _ANY
    for table in (_FUNCTIONS, FOLDS):
        if primitive in table:
            return table[primitive][1]
    return frozenset()


def _convert(op: Convert, x: Aval, result: Aval) -> str | None:
    if x.dtype.is_complex and not (result.dtype.is_complex or result.dtype.is_bool):
        return None
    return f"convert<{c_type(result.dtype.name)}>({{0}})"


def _bitcast(op: Bitcast, x: Aval, result: Aval) -> str | None:
    if x.dtype.bits != result.dtype.bits:
        return None
    return f"bitcast<{c_type(result.dtype.name)}>({{0}})"


def _conj(op: Conj, x: Aval, result: Aval) -> str:
    return "conj({0})" if x.dtype.is_complex else "positive({0})"


def _integer_pow(op: IntegerPow, x: Aval, result: Aval) -> str | None:
    """Write a power: of floats and complex numbers only short ones are products.

    Of integers all are, since they wrap: a product costs no digits.
    """
    n, kind = op.exponent, x.dtype.kind
    longest = {"f": 4, "c": 16}.get(kind, _MAX_EXPONENT[8])
    if -(longest if kind == "c" else 1) <= n <= longest:
        return f"by_squaring<{n}>({{0}})"
    part = x.dtype.itemsize // (2 if kind == "c" else 1)
    return f"fixed_power<{n}>({{0}})" if abs(n) <= _MAX_EXPONENT[max(part, 4)] else None


_SPECIAL: dict[type, Callable[[Any, Aval, Aval], str | None]] = {
    Convert: _convert,
    Bitcast: _bitcast,
    Conj: _conj,
    IntegerPow: _integer_pow,
}

"""``fold``: operations on constants, where every backend would compute the same number.

A constant here is one Python scalar that fills an array. Sums, products, quotients and square
roots are correctly rounded by IEEE 754, so they are known; exponentials and their kin are not, and
stay. Nothing becomes inf or nan here, and an integer that would be divided by zero raises where it
did before. A count along an axis of size 1 is 0. Read next: ``arithmetic.py``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import prod, sqrt, trunc
from typing import Any

from tenferro.passes._facts import constant, constant_of
from tenferro.passes._rewriter import Rewriter
from tenferro.passes._rounding import holds_integer, rounded
from tenferro.passes._rules import PassRules
from tenferro.primitives._dtype import DType
from tenferro.primitives.arithmetic import (
    Abs,
    Add,
    Div,
    Maximum,
    Minimum,
    Mul,
    Neg,
    Sqrt,
    Square,
    Sub,
)
from tenferro.primitives.comparison import (
    Eq,
    Ge,
    Gt,
    Le,
    LogicalAnd,
    LogicalNot,
    LogicalOr,
    LogicalXor,
    Lt,
    Ne,
)
from tenferro.primitives.complex import Conj, Imag, Real
from tenferro.primitives.constants import Constant, Iota
from tenferro.primitives.reduction import ReduceAnd, ReduceMax, ReduceMin, ReduceOr, ReduceSum
from tenferro.primitives.structural import (
    BroadcastInDim,
    Concatenate,
    Convert,
    Pad,
    Reshape,
    Reverse,
    Slice,
    Transpose,
)

FOLD = PassRules("fold")
_Operands = tuple[int, ...]

_SCALAR: dict[type, Callable[..., Any]] = {
    Add: operator.add,
    Sub: operator.sub,
    Mul: operator.mul,
    Div: operator.truediv,
    Neg: operator.neg,
    Abs: abs,
    Square: lambda x: x * x,
    Sqrt: sqrt,
    Maximum: max,
    Minimum: min,
    Conj: lambda z: z.conjugate(),
    Real: lambda z: z.real,
    Imag: lambda z: z.imag,
    Eq: operator.eq,
    Ne: operator.ne,
    Lt: operator.lt,
    Le: operator.le,
    Gt: operator.gt,
    Ge: operator.ge,
    LogicalNot: operator.not_,
    LogicalAnd: operator.and_,
    LogicalOr: operator.or_,
    LogicalXor: operator.xor,
}
_COMPLEX = frozenset({Add, Sub, Neg, Conj, Real, Imag, Eq, Ne})  # of parts, each rounded once


@FOLD.of(*_SCALAR, reads=[Constant], every=True)
def _elementwise(rw: Rewriter, op: Any, operands: _Operands) -> int | None:
    """Fold an operation of constants, computed as the dtype would."""
    values = []
    for i in operands:
        value = constant_of(rw, i)
        exact = None if value is None else rounded(value, rw.avals[i].dtype)
        if exact is None:
            return None
        values.append(exact)
    found = _computed(type(op), values, rw.avals[operands[0]].dtype)
    if found is None:
        return None
    aval = op.abstract_eval(*[rw.avals[i] for i in operands])
    exact = rounded(found, aval.dtype)
    return None if exact is None else constant(rw, exact, aval)


def _computed(cls: type, values: list[Any], dtype: DType) -> Any:
    """Compute the result in Python's arithmetic; ``None`` if the dtype's result may differ."""
    if dtype.is_complex and cls not in _COMPLEX:
        return None
    if cls is Div and dtype.is_integer:
        return None
    if cls in (Maximum, Minimum) and values[0] == values[1]:  # 0.0 and -0.0
        return None
    try:
        return _SCALAR[cls](*values)
    except (ValueError, ZeroDivisionError, OverflowError):
        return None


@FOLD.of(Convert, reads=[Constant])
def _converted(rw: Rewriter, op: Convert, operands: _Operands) -> int | None:
    """Fold a conversion of a constant: rounded once, truncated towards zero, or its real part."""
    (x,) = operands
    source, target = rw.avals[x].dtype, op.dtype
    value = constant_of(rw, x)
    exact = None if value is None else rounded(value, source)
    if exact is None:
        return None
    if target.is_bool:
        found: Any = exact != 0
    elif target.is_integer:
        found = _truncated(exact, target)
    else:
        found = _inexact(exact, target)
    return None if found is None else constant(rw, found, rw.avals[x].with_dtype(target))


def _truncated(value: Any, dtype: DType) -> int | None:
    if isinstance(value, complex):
        return None
    if not isinstance(value, float):
        return int(rounded(int(value), dtype))
    whole = trunc(value)
    return whole if holds_integer(whole, dtype) else None


def _inexact(value: Any, dtype: DType) -> Any:
    if isinstance(value, complex) and not dtype.is_complex:
        value = value.real
    if isinstance(value, int):  # also bool; float() would round a large one, and the dtype again
        value = float(value) if abs(value) <= 1 << 53 else None
    return None if value is None else rounded(value, dtype)


@FOLD.of(Iota)
def _single_count(rw: Rewriter, op: Iota, operands: _Operands) -> int | None:
    """Fold an iota along an axis of size 1 to 0."""
    if op.shape[op.dimension] != 1:
        return None
    return constant(rw, 0, op.abstract_eval())


@FOLD.of(BroadcastInDim, Reshape, Transpose, Reverse, Slice, reads=[Constant])
def _moved(rw: Rewriter, op: Any, operands: _Operands) -> int | None:
    """Fold a moved, repeated or sliced constant."""
    value = constant_of(rw, operands[0])
    return None if value is None else constant(rw, value, op.abstract_eval(rw.avals[operands[0]]))


@FOLD.of(Concatenate, Pad, reads=[Constant], every=True)
def _joined(rw: Rewriter, op: Any, operands: _Operands) -> int | None:
    """Fold the concatenation of one constant with itself."""
    value = constant_of(rw, operands[0])
    if value is None:
        return None
    for i in operands[1:]:
        other = constant_of(rw, i)
        if other is None or repr(other) != repr(value) or other != value:
            return None
    return constant(rw, value, op.abstract_eval(*[rw.avals[i] for i in operands]))


@FOLD.of(ReduceMax, ReduceMin, ReduceAnd, ReduceOr, reads=[Constant])
def _chosen(rw: Rewriter, op: Any, operands: _Operands) -> int | None:
    """Fold an extremum of equal elements; one over no elements is left to the backend."""
    (x,) = operands
    value, aval = constant_of(rw, x), rw.avals[x]
    if value is None or 0 in [aval.shape[axis] for axis in op.axes]:
        return None
    return constant(rw, value, op.abstract_eval(aval))


@FOLD.of(ReduceSum, reads=[Constant])
def _summed(rw: Rewriter, op: ReduceSum, operands: _Operands) -> int | None:
    """n equal elements, where all partial sums are integers that the dtype holds."""
    (x,) = operands
    value, aval = constant_of(rw, x), rw.avals[x]
    if value is None or isinstance(value, complex) or value != _whole(value):
        return None
    total = prod([aval.shape[axis] for axis in op.axes]) * int(value)
    if aval.dtype.is_integer:
        return constant(rw, rounded(total, aval.dtype), op.abstract_eval(aval))
    if not holds_integer(total, aval.dtype) or not holds_integer(int(value), aval.dtype):
        return None
    return constant(rw, float(total), op.abstract_eval(aval))


def _whole(value: Any) -> Any:
    """Return the integer part of a finite number; ``None`` for others."""
    return trunc(value) if abs(value) < 2.0**64 else None

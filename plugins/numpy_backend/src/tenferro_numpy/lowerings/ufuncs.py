"""Primitives that are one ufunc of NumPy, by their keys; on rank 0 some are an operator instead.

On rank 0 NumPy's own scalars are ten times faster with `a + b` than with `np.add(a, b)`. A table of
names loads faster than a module for each family, and most programs need nothing else. What differs
by dtype in `_LEFT_TO_FAMILIES` is written by the module of the family. Read next: `arithmetic.py`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from tenferro.primitives import Aval
from tenferro_numpy.ir.expression import Expression, simple

__all__ = ["UFUNCS", "ufunc_expression"]

#: by key: the name of the ufunc
UFUNCS = {
    "std::abs": "absolute",
    "std::acos": "arccos",
    "std::acosh": "arccosh",
    "std::add": "add",
    "std::asin": "arcsin",
    "std::asinh": "arcsinh",
    "std::atan": "arctan",
    "std::atan2": "arctan2",
    "std::atanh": "arctanh",
    "std::bitwise_and": "bitwise_and",
    "std::bitwise_not": "invert",
    "std::bitwise_or": "bitwise_or",
    "std::bitwise_xor": "bitwise_xor",
    "std::cbrt": "cbrt",
    "std::ceil": "ceil",
    "std::conj": "conjugate",
    "std::copysign": "copysign",
    "std::cos": "cos",
    "std::cosh": "cosh",
    "std::div": "divide",
    "std::eq": "equal",
    "std::exp": "exp",
    "std::exp2": "exp2",
    "std::expm1": "expm1",
    "std::floor": "floor",
    "std::ge": "greater_equal",
    "std::gt": "greater",
    "std::hypot": "hypot",
    "std::is_finite": "isfinite",
    "std::le": "less_equal",
    "std::log": "log",
    "std::log10": "log10",
    "std::log1p": "log1p",
    "std::log2": "log2",
    "std::logaddexp": "logaddexp",
    "std::logical_and": "logical_and",
    "std::logical_not": "logical_not",
    "std::logical_or": "logical_or",
    "std::logical_xor": "logical_xor",
    "std::lt": "less",
    "std::mul": "multiply",
    "std::ne": "not_equal",
    "std::neg": "negative",
    "std::nextafter": "nextafter",
    "std::rem": "fmod",
    "std::round": "rint",
    "std::shift_left": "left_shift",
    "std::shift_right": "right_shift",
    "std::sign": "sign",
    "std::sin": "sin",
    "std::sinh": "sinh",
    "std::sqrt": "sqrt",
    "std::square": "square",
    "std::sub": "subtract",
    "std::tan": "tan",
    "std::tanh": "tanh",
}
#: by key: the line on rank 0
_OPERATORS = {
    "std::add": "{0} + {1}",
    "std::bitwise_and": "{0} & {1}",
    "std::bitwise_or": "{0} | {1}",
    "std::bitwise_xor": "{0} ^ {1}",
    "std::div": "{0} / {1}",
    "std::eq": "{0} == {1}",
    "std::ge": "{0} >= {1}",
    "std::gt": "{0} > {1}",
    "std::le": "{0} <= {1}",
    "std::logical_and": "{0} & {1}",
    "std::logical_not": "~{0}",
    "std::logical_or": "{0} | {1}",
    "std::logical_xor": "{0} ^ {1}",
    "std::lt": "{0} < {1}",
    "std::mul": "{0} * {1}",
    "std::ne": "{0} != {1}",
    "std::neg": "-{0}",
    "std::square": "{0} * {0}",
    "std::sub": "{0} - {1}",
}
#: by key: the dtypes of results for which the module of the family writes the instruction
_LEFT_TO_FAMILIES = {
    "std::div": "is_integer",
    "std::expm1": "is_complex",
    "std::log1p": "is_complex",
    "std::rem": "is_integer",
}


def ufunc_expression(op: Any, result: Aval) -> Expression | None:
    """Write an instruction that is one ufunc; `None` if the module of its family writes it."""
    key = op.key
    name = UFUNCS.get(key)
    if name is None or (key in _LEFT_TO_FAMILIES and getattr(result.dtype, _LEFT_TO_FAMILIES[key])):
        return None
    line = None if result.shape else _OPERATORS.get(key)
    return _on_arrays(name) if line is None else _on_numbers(line)


@cache
def _on_arrays(name: str) -> Expression:
    """Return the call of a ufunc."""
    ufunc = getattr(np, name)
    return simple(ufunc, ufunc.nin)


@cache
def _on_numbers(line: str) -> Expression:
    """Return an operator on numbers."""
    return Expression(line, broadcasts=True)

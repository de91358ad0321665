"""Python scalars in the arithmetic of a dtype: what a backend would compute, or ``None``.

Python's floats are float64. A sum, product, quotient or square root of two float32 or float16
numbers that is computed in float64 and then rounded is the correctly rounded one, since 53 bits
are more than twice 24 and two. (Figueroa, 1995, When is double rounding innocuous?) What
overflows, or is not a number, is left to the backend. Read next: ``rewrites/folding.py``.
"""

from __future__ import annotations

import struct
from math import frexp, isfinite
from typing import Any

from tenferro.primitives._dtype import DType

_FORMATS = {"float16": "<e", "float32": "<f", "float64": "<d"}


def rounded(value: Any, dtype: DType) -> Any:
    """Round a Python scalar to a dtype; ``None`` if the result is not known."""
    if dtype.is_bool:
        return bool(value)
    if dtype.is_integer:
        return wrapped(value, dtype) if isinstance(value, int) else None
    if dtype.is_float:
        return _rounded_float(value, dtype)
    re = _rounded_float(value.real, dtype.real_dtype)
    im = _rounded_float(value.imag, dtype.real_dtype)
    return None if re is None or im is None else complex(re, im)


def _rounded_float(value: Any, dtype: DType) -> float | None:
    form = _FORMATS.get(dtype.name)
    if form is None or not isfinite(value):
        return None
    try:
        return float(struct.unpack(form, struct.pack(form, value))[0])
    except OverflowError:
        return None


def wrapped(value: int, dtype: DType) -> int:
    """Return an integer modulo the size of the dtype, in two's complement."""
    size = 1 << dtype.bits
    value %= size
    return value - size if dtype.category == "int" and value >= size // 2 else value


def holds_integer(value: int, dtype: DType) -> bool:
    """Return True if a dtype represents an integer, and all smaller ones, exactly."""
    if dtype.is_integer:
        return wrapped(value, dtype) == value
    return dtype.is_inexact and abs(value) <= 1 << dtype.precision


def is_power_of_two(value: Any) -> bool:
    """Return True if a float is ±2ᵏ, so that a product with it is exact unless subnormal."""
    return isfinite(value) and abs(frexp(value)[0]) == 0.5


def negated(value: Any, dtype: DType) -> Any:
    """-value in a dtype."""
    return wrapped(-value, dtype) if dtype.is_integer else -value

"""Powers of arrays that have negative elements.

NumPy's vectorized `power` (SIMD, 3 ns per element) hands each negative base to the C library
(50 to 100 ns). An integer power of x is that of |x| with a sign, so it is computed of |x|.
Read next: `arithmetic.py`, which writes all other instructions of its family.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenferro.primitives import Aval
from tenferro_numpy.ir.expression import Expression, simple
from tenferro_numpy.ir.kept import number

__all__ = ["float_power", "integer_power"]

#: Elements below which `power` takes negative bases one by one faster than other calls avoid them.
_MIN_ELEMENTS = 16
_WITH_SIMD = ("float32", "float64")  # dtypes whose `power` is vectorized

_power = simple(np.power, 2)


def integer_power(exponent: int, result: Aval) -> Expression:
    """Write x**exponent for an array of floats."""
    bound = np.power, number(exponent, result.dtype.name), np.absolute, np.copysign
    if not _has_fast_power(result):
        return Expression(
            "{p0}({0}, {p1})", bound[:2], broadcasts=True, into="{p0}({0}, {p1}, {out})",
            in_place=True,
        )  # fmt: skip
    if exponent % 2 == 0:
        return Expression(
            "{p0}({p2}({0}), {p1})", bound[:3], broadcasts=True,
            into="{p0}({p2}({0}, {out}), {p1}, {out})", in_place=True,
        )  # fmt: skip
    return Expression(
        "{p3}({p0}({p2}({0}), {p1}), {0})", bound, broadcasts=True,
        into="{p3}({p0}({p2}({0}, {out}), {p1}, {out}), {0}, {out})",
    )  # fmt: skip


def float_power(result: Aval) -> Expression:
    """Write x**y for arrays of floats."""
    return _signed if _has_fast_power(result) else _power


def _has_fast_power(result: Aval) -> bool:
    """Return True if a power of |x| costs less than one of x."""
    return result.dtype.name in _WITH_SIMD and result.size >= _MIN_ELEMENTS


def _signed_power(x: Any, y: Any, out: Any = None) -> Any:
    """x**y, by the power of |x| where a base is negative and all exponents are integers."""
    if not np.count_nonzero(np.signbit(x)):
        return np.power(x, y, out)
    half = y * y.dtype.type(0.5)
    rest = half - np.floor(half)  # 0 for an even exponent, 0.5 for an odd one, nan for inf
    odd = rest == 0.5
    if np.count_nonzero((rest == 0) | odd) != odd.size:
        return np.power(x, y, out)
    size = np.absolute(x)
    signed = np.where(odd, x, size)  # before `out`, which may be the memory of an operand, changes
    found = np.power(size, y, out)
    return np.copysign(found, signed, found)


_signed = Expression(
    "{p0}({0}, {1})",
    (_signed_power,),
    broadcasts=True,
    into="{p0}({0}, {1}, {out})",
    onto="{p0}({0}, {1}, {out})",
    in_place=True,
)

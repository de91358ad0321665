"""Powers of arrays: as products and roots where the exponent is small, else by NumPy's `power`.

NumPy's vectorized `power` takes 15 to 30 ns per element of float64, a product, a quotient or a root
1 ns. So integer exponents from -3 to 6 are products, and 1.5 is x·√x. Each product rounds once, so
that xⁿ is within n/2 units in the last place, and n/2 more for a negative n: at most 3. For these
1/x is taken first, because xⁿ overflows where x⁻ⁿ is still a subnormal number. `power`, which is
within one unit, keeps the others.
`power` hands each negative base to the C library (50 to 100 ns). Another integer power of x is that
of |x| with a sign, so it is computed of |x|.
Where one exponent 0.5 serves several elements in memory, `power` of NumPy 2.3 takes square roots:
-0.0 for -0.0 and nan for -inf, where the power of every other layout, of a number, and of other
libraries is 0.0 and inf (IEEE 754-2019, 9.2.1). Bases are replaced there, so that layout does not
decide.
Read next: `arithmetic.py`, which writes all other instructions of its family.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenferro.primitives import Aval
from tenferro_numpy.ir.expression import Expression
from tenferro_numpy.ir.kept import number

__all__ = ["float_power", "integer_power", "power_of_any_layout"]

#: Elements below which `power` takes negative bases one by one faster than other calls avoid them.
_MIN_ELEMENTS = 16
#: Elements from which several calls cost less than one `power`.
_MIN_ELEMENTS_FOR_PRODUCTS = 128
_PRODUCTS = range(-3, 7)  # exponents whose powers are made of products
_HALVES = frozenset((-2.5, -1.5, -0.5, 0.5, 1.5, 2.5))  # exponents whose powers are made of roots
_WITH_SIMD = ("float32", "float64")  # dtypes whose `power` is vectorized


def integer_power(exponent: int, result: Aval) -> Expression:
    """Write x**exponent for an array of floats."""
    bound = np.power, number(exponent, result.dtype.name), np.absolute, np.copysign
    if not _has_fast_power(result):
        return Expression(
            "{p0}({0}, {p1})", bound[:2], broadcasts=True, into="{p0}({0}, {p1}, {out})",
            in_place=True,
        )  # fmt: skip
    if exponent in _PRODUCTS and result.size >= _MIN_ELEMENTS_FOR_PRODUCTS:
        return Expression(
            f"{{p0}}({{0}}, {exponent})", (_product,), broadcasts=True,
            into=f"{{p0}}({{0}}, {exponent}, {{out}})", in_place=True,
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
    return _signed if _has_fast_power(result) else _short


def _has_fast_power(result: Aval) -> bool:
    """Return True if a power of |x| costs less than one of x."""
    return result.dtype.name in _WITH_SIMD and result.size >= _MIN_ELEMENTS


def _product(x: Any, exponent: int, out: Any = None) -> Any:
    """x**exponent for |exponent| > 1, by squares and products; `out` may be the memory of x."""
    if exponent < 0:
        x = np.reciprocal(x)
    digits = bin(abs(exponent))[3:]  # binary, without the first one: square, and multiply for a 1
    found, kept = x, None
    for digit in digits[:-1]:
        found = kept = np.square(found, kept)
        if digit == "1":
            np.multiply(found, x, found)
    if digits[-1] == "0":
        return np.square(found, out)
    return np.multiply(np.square(found, kept), x, out)


def _half_power(x: Any, exponent: float, out: Any = None) -> Any:
    """x**exponent for an exponent between two integers; `out` may be the memory of x."""
    if np.count_nonzero(np.signbit(x)):
        x = _without_negative_roots(x, True)
    if exponent == 0.5:
        return np.sqrt(x, out)
    if exponent == -0.5:
        root = np.sqrt(x, out)
        return np.reciprocal(root, root)
    root = np.sqrt(x)  # x is read again, so `out` has to wait
    join, first = (np.multiply, x) if exponent > 0 else (np.divide, np.reciprocal(x))
    if abs(exponent) == 1.5:
        return join(first, root, out)
    return join(join(first, root, root), x, out)


def _signed_power(x: Any, y: Any, out: Any = None) -> Any:
    """x**y, by a root for one exponent such as 1.5; by the power of |x| where a base is negative
    and all exponents are integers.
    """
    exponent = None if y.ndim else y.item()
    if exponent == 0.5 or (exponent in _HALVES and x.size >= _MIN_ELEMENTS_FOR_PRODUCTS):
        return _half_power(x, exponent, out)
    if not np.count_nonzero(np.signbit(x)):
        return np.power(x, y, out)
    half = y * y.dtype.type(0.5)
    rest = half - np.floor(half)  # 0 for an even exponent, 0.5 for an odd one, nan for inf
    odd = rest == 0.5
    if np.count_nonzero((rest == 0) | odd) != odd.size:
        return np.power(_without_negative_roots(x, half == 0.25), y, out)
    size = np.absolute(x)
    signed = np.where(odd, x, size)  # before `out`, which may be the memory of an operand, changes
    found = np.power(size, y, out)
    return np.copysign(found, signed, found)


def power_of_any_layout(x: Any, y: Any, out: Any = None) -> Any:
    """x**y, whatever the strides of x and y; for few elements."""
    if y.size > 1:
        is_root = y == 0.5
        if np.count_nonzero(is_root):
            x = _without_negative_roots(x, is_root)
    elif y.size and y.item() == 0.5 and np.count_nonzero(np.signbit(x)):
        x = _without_negative_roots(x, True)
    return np.power(x, y, out)


def _without_negative_roots(x: Any, is_root: Any) -> Any:
    """Return |x| where a root of -0.0 or -inf is taken, x elsewhere."""
    return np.where(is_root & ((x == 0) | (x == -np.inf)), np.absolute(x), x)


def _call_of(power: Any) -> Expression:
    return Expression(
        "{p0}({0}, {1})",
        (power,),
        broadcasts=True,
        into="{p0}({0}, {1}, {out})",
        onto="{p0}({0}, {1}, {out})",
        in_place=True,
    )


_signed, _short = _call_of(_signed_power), _call_of(power_of_any_layout)

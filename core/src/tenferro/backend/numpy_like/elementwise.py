"""Exponentials and logarithms for a NumPy-shaped namespace.

Complex `log1p` and `expm1` are written with real functions, because the namespaces lose the digits
near zero that these functions exist for. Read next: `trigonometric.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like._common import register_pointwise
from tenferro.backend.numpy_like.complex import from_parts
from tenferro.primitives.elementwise import (
    Exp,
    Exp2,
    Expm1,
    Log,
    Log1p,
    Log2,
    Log10,
    Logaddexp,
    Logistic,
)

__all__ = ["complex_expm1", "complex_log1p", "logistic", "register"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the elementwise family."""
    register_pointwise(
        lowerings,
        [
            (Exp, xp.exp),
            (Log, xp.log),
            (Exp2, xp.exp2),
            (Log2, xp.log2),
            (Log10, xp.log10),
            (Logaddexp, xp.logaddexp),
        ],
    )

    @lowerings.register(Expm1)
    def expm1(op: Expm1, x: Any) -> Any:
        return complex_expm1(xp, x) if x.dtype.kind == "c" else xp.expm1(x)

    @lowerings.register(Log1p)
    def log1p(op: Log1p, x: Any) -> Any:
        return complex_log1p(xp, x) if x.dtype.kind == "c" else xp.log1p(x)

    @lowerings.register(Logistic)
    def lower_logistic(op: Logistic, x: Any) -> Any:
        return logistic(xp, x)


def logistic(xp: Any, x: Any) -> Any:
    """1/(1 + exp(-x)) = exp(min(x, 0)) / (1 + exp(-|x|)); no exponent has a positive real part."""
    if x.dtype.kind != "c":
        decayed = xp.exp(xp.negative(xp.absolute(x)))
        return xp.divide(xp.exp(xp.minimum(x, 0)), xp.add(decayed, 1))
    negative = xp.less(x.real, 0)
    decayed = xp.exp(xp.where(negative, x, xp.negative(x)))
    return xp.divide(xp.where(negative, decayed, xp.ones_like(decayed)), xp.add(decayed, 1))


def complex_expm1(xp: Any, z: Any) -> Any:
    """exp(z) - 1 = expm1(x)·cos y - 2·sin²(y/2) + i·exp(x)·sin y."""
    half = xp.sin(z.imag / 2)
    re = xp.expm1(z.real) * xp.cos(z.imag) - 2 * half * half
    return from_parts(xp, re, xp.exp(z.real) * xp.sin(z.imag), z.dtype)


def complex_log1p(xp: Any, z: Any) -> Any:
    """log(1 + z); near the circle |1 + z| = 1, the real part is of |1 + z|² - 1."""
    x, y = z.real, z.imag
    near = xp.less(xp.absolute(x * (2 + x) + y * y), 0.5)
    zero = xp.zeros_like(x)
    excess = _square_less_one(xp, xp.where(near, x, zero), xp.where(near, y, zero))
    re = xp.where(near, xp.log1p(excess) / 2, xp.log(xp.hypot(1 + x, y)))
    return from_parts(xp, re, xp.arctan2(y, 1 + x), z.dtype)


def _square_less_one(xp: Any, x: Any, y: Any) -> Any:
    """|1 + x + iy|² - 1 = 2x + x² + y², to full precision where its terms cancel.

    Squares are split into exact products, and the sum adds up its own roundings (T. Ogita, S. M.
    Rump and S. Oishi, SIAM J. Sci. Comput. 26 (2005) 1955, algorithms 3.2 and 4.4).
    """
    total, rest = 2 * x, xp.zeros_like(x)
    for part in (x, y):
        high = part * (2.0**27 + 1 if part.dtype.itemsize == 8 else 2.0**12 + 1)
        high = high - (high - part)
        low = part - high
        for term in (high * high, 2 * high * low, low * low):
            added = total + term
            kept = added - total
            total, rest = added, rest + ((total - (added - kept)) + (term - kept))
    return total + rest

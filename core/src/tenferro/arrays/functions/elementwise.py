"""Exponentials and logarithms on arrays: NumPy's names over the primitives; integers become floats.

Read next: ``trigonometric.py``, ``hyperbolic.py``, ``rounding.py``.
"""

from __future__ import annotations

from math import log as ln
from typing import Any

from tenferro.arrays.functions._factories import binary, floating_pair, unary
from tenferro.arrays.handle.array import Array
from tenferro.arrays.promotion.broadcast import floating
from tenferro.arrays.registry import covers
from tenferro.primitives import elementwise as p
from tenferro.primitives import special, structural


@covers("exp", ufunc=True)
def exp(x: Any) -> Array:
    """e to the power x.

    >>> import tenferro as tn
    >>> tn.exp(1).dtype
    dtype('float64')
    """
    return p.exp(floating(x))


log = unary("log", p.log, "The natural logarithm.")
exp2 = unary("exp2", p.exp2, "2 to the power x.")
log2 = unary("log2", p.log2, "The logarithm to the base 2.")
log10 = unary("log10", p.log10, "The logarithm to the base 10.")
expm1 = unary("expm1", p.expm1, "exp(x) − 1, accurate near 0.")
log1p = unary("log1p", p.log1p, "log(1 + x), accurate near 0.")
logaddexp = binary("logaddexp", p.logaddexp, "log(exp(x) + exp(y)) without overflow.")


@covers("logaddexp2", ufunc=True)
def logaddexp2(x: Any, y: Any) -> Array:
    """log₂(2ˣ + 2ʸ) without overflow."""
    a, b = floating_pair(x, y, "logaddexp2")
    return p.logaddexp(a * ln(2), b * ln(2)) * (1 / ln(2))


@covers("expit", "logistic", ufunc=True)
def logistic(x: Any) -> Array:
    """1 / (1 + exp(−x)), without overflow."""
    return p.logistic(floating(x))


@covers("erf", ufunc=True)
def erf(x: Any) -> Array:
    """Compute the error function of a real x elementwise."""
    return special.erf(floating(x))


def stop_gradient(x: Any) -> Any:
    """Return x as a constant: no derivative flows through it. Operands and scalars pass unchanged.

    The public function of this name takes pytrees, too (``transforms/_stop_gradient.py``).

    >>> stop_gradient(2.0)
    2.0
    """
    return structural.stop_gradient(x) if isinstance(x, Array) else x

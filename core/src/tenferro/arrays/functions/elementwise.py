"""Exponentials and logarithms on arrays: NumPy's names over the primitives; integers become floats.

Read next: ``trigonometric.py``, ``hyperbolic.py``, ``rounding.py``.
"""

from __future__ import annotations

from math import log as ln
from typing import Any

from tenferro import primitives
from tenferro.arrays.functions._factories import binary, floating_pair, unary
from tenferro.arrays.handle.array import Array
from tenferro.arrays.promotion.broadcast import floating
from tenferro.arrays.registry import covers
from tenferro.primitives import elementwise as p
from tenferro.primitives import structural


@covers("exp", ufunc=True)
def exp(x: Any) -> Array:
    """Compute e to the power x elementwise.

    >>> import tenferro as tn
    >>> tn.exp(1).dtype
    dtype('float64')
    """
    return p.exp(floating(x))


log = unary("log", p.log, "Compute the natural logarithm elementwise.")
exp2 = unary("exp2", p.exp2, "Compute 2 to the power x elementwise.")
log2 = unary("log2", p.log2, "Compute the logarithm to the base 2 elementwise.")
log10 = unary("log10", p.log10, "Compute the logarithm to the base 10 elementwise.")
expm1 = unary("expm1", p.expm1, "Compute exp(x) − 1 elementwise, accurately near 0.")
log1p = unary("log1p", p.log1p, "Compute log(1 + x) elementwise, accurately near 0.")
logaddexp = binary(
    "logaddexp", p.logaddexp, "Compute log(exp(x) + exp(y)) elementwise, without overflow."
)


@covers("logaddexp2", ufunc=True)
def logaddexp2(x: Any, y: Any) -> Array:
    """Compute log₂(2ˣ + 2ʸ) elementwise, without overflow."""
    a, b = floating_pair(x, y, "logaddexp2")
    return p.logaddexp(a * ln(2), b * ln(2)) * (1 / ln(2))


@covers("expit", "logistic", ufunc=True)
def logistic(x: Any) -> Array:
    """Compute the logistic function 1 / (1 + exp(−x)) elementwise, without overflow."""
    return p.logistic(floating(x))


@covers("erf", ufunc=True)
def erf(x: Any) -> Array:
    """Compute the error function of a real or complex x elementwise."""
    found = floating(x)
    return primitives.complex_erf(found) if found.dtype.is_complex else primitives.erf(found)


def stop_gradient(x: Any) -> Any:
    """Return x as a constant: no derivative flows through it. Operands and scalars pass unchanged.

    The public function, which takes pytrees, is in ``transforms/derivatives/stop_gradient.py``.

    >>> import tenferro as tn
    >>> tn.stop_gradient(2.0)
    2.0
    """
    return structural.stop_gradient(x) if isinstance(x, Array) else x

"""Elementwise functions on arrays: NumPy's names over the primitives; integers become floats."""

from __future__ import annotations

from typing import Any

from tenferro.array._array import Array
from tenferro.array._broadcast import floating
from tenferro.array._registry import covers
from tenferro.primitives import elementwise as p
from tenferro.primitives import structural


@covers("exp")
def exp(x: Any) -> Array:
    """e to the power x.

    >>> exp(1).dtype
    float64
    """
    return p.exp(floating(x))


@covers("log")
def log(x: Any) -> Array:
    """The natural logarithm."""
    return p.log(floating(x))


@covers("expm1")
def expm1(x: Any) -> Array:
    """exp(x) − 1, accurate near 0."""
    return p.expm1(floating(x))


@covers("log1p")
def log1p(x: Any) -> Array:
    """log(1 + x), accurate near 0."""
    return p.log1p(floating(x))


@covers("sin")
def sin(x: Any) -> Array:
    """The sine of x, in radians."""
    return p.sin(floating(x))


@covers("cos")
def cos(x: Any) -> Array:
    """The cosine of x, in radians."""
    return p.cos(floating(x))


@covers("tan")
def tan(x: Any) -> Array:
    """The tangent of x, in radians."""
    return p.tan(floating(x))


@covers("tanh")
def tanh(x: Any) -> Array:
    """The hyperbolic tangent."""
    return p.tanh(floating(x))


@covers("logistic", "expit")
def logistic(x: Any) -> Array:
    """1 / (1 + exp(−x)), without overflow."""
    return p.logistic(floating(x))


@covers("erf")
def erf(x: Any) -> Array:
    """The error function of a real x."""
    return p.erf(floating(x))


def stop_gradient(x: Any) -> Any:
    """x as a constant: no derivative flows through it. Operands and scalars pass unchanged.

    >>> stop_gradient(2.0)
    2.0
    """
    return structural.stop_gradient(x) if isinstance(x, Array) else x

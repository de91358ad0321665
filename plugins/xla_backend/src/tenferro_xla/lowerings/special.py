"""Special functions on XLA: erf erfc erfinv lgamma digamma polygamma.

XLA's own functions with a correction where they lose digits: ``erfc`` rounds the exponent,
``erf_inv`` the distance to ±1, and ``zeta`` sums too few terms for negative x. ``lgamma`` and
``digamma`` are our own (``_log_gamma.py``).
Read next: ``rounding.py``.
"""

from __future__ import annotations

from math import factorial, pi, sqrt

from jax import Array, lax

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.special import Digamma, Erf, Erfc, Erfinv, Lgamma, Polygamma
from tenferro_xla.lowerings._direct import register_direct
from tenferro_xla.lowerings._log_gamma import digamma, log_gamma
from tenferro_xla.lowerings._numeric import is_infinite, leading_bits, like, widened, with_sign_of

lowerings = Lowerings()
register_direct(lowerings, {Erf: lax.erf, Lgamma: widened(log_gamma), Digamma: widened(digamma)})


@lowerings.register(Erfc)
def erfc(op: Erfc, x: Array) -> Array:
    """Take the complementary error function."""
    return widened(_erfc)(x)


def _erfc(x: Array) -> Array:
    """``lax.erfc`` times exp(fl(x²) - x²), the rounding that its exponent -x² suffers."""
    high = leading_bits(x)
    low = lax.sub(x, high)
    rounded = lax.sub(lax.mul(high, high), lax.mul(x, x))
    excess = lax.add(rounded, lax.mul(low, lax.add(high, x)))
    corrected = lax.mul(lax.erfc(x), lax.sub(like(x, 1), excess))
    return lax.select(lax.gt(x, like(x, 1)) & lax.lt(x, like(x, 30)), corrected, lax.erfc(x))


@lowerings.register(Erfinv)
def erfinv(op: Erfinv, x: Array) -> Array:
    """Take the inverse of the error function."""
    is_narrow = x.dtype.itemsize == 2  # such a result needs no more digits than ``lax`` has
    return widened(lax.erf_inv if is_narrow else refined_erfinv)(x)


def refined_erfinv(x: Array) -> Array:
    """``lax.erf_inv`` and a step of Newton's method, near ±1 on erfc y = 1 - |x|, exactly."""
    size = lax.abs(x)
    y = lax.erf_inv(size)
    one = like(x, 1)
    near_one = lax.gt(size, like(x, 0.5))
    residual = lax.select(
        near_one, lax.sub(_erfc(y), lax.sub(one, size)), lax.sub(size, lax.erf(y))
    )
    step = lax.mul(residual, lax.mul(like(x, sqrt(pi) / 2), lax.exp(lax.mul(y, y))))
    refined = lax.select(lax.is_finite(step), lax.add(y, step), y)
    return lax.select(lax.ge(size, one), lax.erf_inv(x), with_sign_of(refined, x))


@lowerings.register(Polygamma)
def polygamma(op: Polygamma, x: Array) -> Array:
    """Take the n-th derivative of digamma: (-1)ⁿ⁺¹ n! ζ(n + 1, x), reflected where x < ½."""
    return widened(lambda x: _polygamma(op.order, x))(x)


def _polygamma(n: int, x: Array) -> Array:
    """Compute by Abramowitz & Stegun 6.4.10, and 6.4.7 for the reflection."""
    reflected = lax.lt(x, like(x, 0.5))
    right = lax.select(reflected, lax.sub(like(x, 1), x), x)
    sign = (-1) ** (n + 1)
    zeta = lax.zeta(like(x, n + 1), right)
    zeta = lax.select(is_infinite(right), like(x, 0), zeta)
    direct = lax.mul(like(x, sign * factorial(n)), zeta)
    mirrored = lax.sub(lax.mul(like(x, (-1) ** n), direct), _cotangent(n, x))
    return lax.select(reflected, mirrored, direct)


def _cotangent(n: int, x: Array) -> Array:
    """Compute the n-th derivative of π cot(πx), a polynomial in the cotangent."""
    coefficients = [0, 1]
    for _ in range(n):  # d/dx p(c) = -π p'(c) (1 + c²)
        slope = [k * a for k, a in enumerate(coefficients)][1:]
        coefficients = [-a - b for a, b in zip([*slope, 0, 0], [0, 0, *slope], strict=True)]
    angle = lax.mul(like(x, pi), lax.sub(x, lax.round(x)))
    cotangent = lax.div(lax.cos(angle), lax.sin(angle))
    value = like(x, coefficients.pop())
    for a in reversed(coefficients):
        value = lax.add(lax.mul(value, cotangent), like(x, a))
    return lax.mul(like(x, pi ** (n + 1)), value)

"""The normal distribution and the scaled error function on XLA.

XLA has erfc alone. erfcx is an integral by Gauss's rule, the lower tail of the normal distribution
comes from it, and inverses of tails are XLA's with two steps of Newton's method.
Read next: ``bessel.py``.
"""

from __future__ import annotations

from math import log, pi, sqrt

import jax.numpy as jnp
from jax import Array, lax
from jax.scipy.special import ndtri as guess

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.normal import repeated_integral, upwards
from tenferro.primitives.normal import Erfcinv, Erfcx, LogNdtr, Ndtr, Ndtri
from tenferro_xla.lowerings._direct import register_direct
from tenferro_xla.lowerings._numeric import leading_bits, log1p_real, widened
from tenferro_xla.lowerings.incomplete import ON

lowerings = Lowerings()


def _exp_square(x: Array, scale: float) -> Array:
    """exp(scale·x²) for a power of two, without the rounding of x²."""
    finite = jnp.where(jnp.abs(x) < 1e6, x, 1e6)
    high = leading_bits(finite)
    low = (finite - high) * (finite + high)
    return jnp.where(x == x, jnp.exp(scale * high * high) * jnp.exp(scale * low), x)


def _erfcx(x: Array, order: int = 0) -> Array:
    positive = _integral(jnp.where(x < 0, 0, x), order)
    plain = 2 * _exp_square(x, 1.0) - _integral(jnp.abs(x), 0)
    return jnp.where(x < 0, upwards(plain, x, order), positive)


def _integral(x: Array, order: int) -> Array:
    """Return the repeated integral of x >= 0, which is 0 where x is infinite."""
    found: Array = repeated_integral(ON, jnp.where(jnp.isinf(x), 1, x), order)
    return jnp.where(jnp.isinf(x), 0, found)


def _ndtr(x: Array) -> Array:
    """Φ(x) = ½ erfcx(|x|/√2) exp(-x²/2), or what it lacks to 1."""
    part = 0.5 * _erfcx(jnp.abs(x) * sqrt(0.5)) * _exp_square(x, -0.5)
    return jnp.where(x < 0, part, 1 - part)


def _log_ndtr(x: Array) -> Array:
    low = jnp.where(x < -1, x, -1)
    tail = jnp.log(_erfcx(-low * sqrt(0.5))) - (low * low / 2 + log(2))
    above = jnp.where(x > 0, x, 0)
    rest = jnp.where(x > 0, log1p_real(-_ndtr(-above)), jnp.log(_ndtr(jnp.where(x > 0, 0, x))))
    return jnp.where(x < -1, tail, rest)


def _ndtri(p: Array) -> Array:
    """√2 erfinv(2p - 1) where 2p - 1 is exact, and the inverse of a tail elsewhere."""
    middle = (p > 0.25) & (p < 0.75)
    return jnp.where(middle, sqrt(2) * lax.erf_inv(jnp.where(middle, 2 * p - 1, 0)), _tail(p))


def _tail(p: Array) -> Array:
    """XLA's inverse and two steps of Newton's method on ln Φ in the lower half."""
    is_low = p <= 0.5
    tail = jnp.where(is_low, p, 1 - p)
    inside = (tail > 0) & (tail <= 0.5)
    safe = jnp.where(inside, tail, 0.25)
    y = guess(safe)
    for _ in range(2):
        value = _ndtr(y)
        slope = sqrt(2 / pi) / _erfcx(-y * sqrt(0.5))  # of ln Φ
        y = y - log1p_real((value - safe) / safe) / slope
    y = jnp.where(is_low, y, -y)
    return jnp.where(inside, y, guess(p))


def _erfcinv(x: Array) -> Array:
    """erfinv(1 - x) where 1 - x is exact."""
    middle = (x > 0.5) & (x < 1.5)
    return jnp.where(middle, lax.erf_inv(jnp.where(middle, 1 - x, 0)), -_tail(x / 2) * sqrt(0.5))


register_direct(
    lowerings,
    {
        Ndtr: widened(_ndtr),
        LogNdtr: widened(_log_ndtr),
        Ndtri: widened(_ndtri),
        Erfcinv: widened(_erfcinv),
    },
)


@lowerings.register(Erfcx)
def erfcx(op: Erfcx, x: Array) -> Array:
    """Take exp(x²) erfc x, or a scaled repeated integral of it."""
    return widened(lambda x: _erfcx(x, op.order))(x)

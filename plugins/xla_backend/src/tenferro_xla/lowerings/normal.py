"""The normal distribution and the scaled error function on XLA.

XLA has erfc alone, which rounds the exponent; the tail of the normal distribution puts that right.
erfcx is an integral by Gauss's rule, and the inverse is that of JAX, which is within 3 ulp.
Read next: ``bessel.py``.
"""

from __future__ import annotations

from math import log, pi, sqrt

import jax.numpy as jnp
from jax import Array, lax
from jax.scipy.special import ndtri

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.normal import repeated_integral, upwards
from tenferro.primitives.normal import Erfcinv, Erfcx, LogNdtr, Ndtr, Ndtri
from tenferro_xla.lowerings._direct import register_direct
from tenferro_xla.lowerings._numeric import leading_bits, log1p_real, widened
from tenferro_xla.lowerings.incomplete import ON

lowerings = Lowerings()
#: The asymptotic series of ln Φ is used below this x, and needs so many terms there.
SERIES_FROM_X, SERIES_TERMS = -10.0, 14


def _exp_square(x: Array) -> Array:
    """Return exp(x²) without the rounding of x²."""
    finite = jnp.where(jnp.abs(x) < 1e6, x, 1e6)
    high = leading_bits(finite)
    low = (finite - high) * (finite + high)
    return jnp.where(x == x, jnp.exp(high * high) * jnp.exp(low), x)


def _erfcx(x: Array, order: int) -> Array:
    positive: Array = repeated_integral(ON, jnp.where(x < 0, 0, x), order)
    plain = 2 * _exp_square(x) - repeated_integral(ON, jnp.abs(x), 0)
    return jnp.where(x < 0, upwards(plain, x, order), positive)


def _ndtr(x: Array) -> Array:
    """Φ(x) = ½ erfc(-x/√2) times exp(a² - x²/2), what the exponent -a² of ``lax.erfc`` misses."""
    a = x * -sqrt(0.5)
    high = leading_bits(x)
    excess = (a * a - 0.5 * high * high) - 0.5 * (x - high) * (x + high)
    part = 0.5 * lax.erfc(a)
    return jnp.where((a > 1) & (a < 30), part * (1 + excess), part)


def _log_ndtr(x: Array) -> Array:
    """ln Φ(x); by the asymptotic series of erfc for x < -10 (DLMF 7.12.1)."""
    far = jnp.where(x < SERIES_FROM_X, x, SERIES_FROM_X)
    square = 1 / (far * far)
    series = jnp.zeros_like(x)
    for k in range(SERIES_TERMS, 0, -1):
        series = (1 + series) * square * -(2 * k - 1)
    tail = log1p_real(series) - jnp.log(-far) - (far * far / 2 + log(2 * pi) / 2)
    above = jnp.where(x > 0, x, 0)
    below = jnp.clip(x, SERIES_FROM_X, 0)
    rest = jnp.where(x > 0, log1p_real(-_ndtr(-above)), jnp.log(_ndtr(below)))
    return jnp.where(x < SERIES_FROM_X, tail, rest)


def _erfcinv(x: Array) -> Array:
    """erfinv(1 - x) where 1 - x is exact."""
    middle = (x > 0.5) & (x < 1.5)
    return jnp.where(middle, lax.erf_inv(jnp.where(middle, 1 - x, 0)), -ndtri(x / 2) * sqrt(0.5))


register_direct(
    lowerings,
    {
        Ndtr: widened(_ndtr),
        LogNdtr: widened(_log_ndtr),
        Ndtri: widened(ndtri),
        Erfcinv: widened(_erfcinv),
    },
)


@lowerings.register(Erfcx)
def erfcx(op: Erfcx, x: Array) -> Array:
    """Take exp(x²) erfc x, or a scaled repeated integral of it."""
    return widened(lambda x: _erfcx(x, op.order))(x)

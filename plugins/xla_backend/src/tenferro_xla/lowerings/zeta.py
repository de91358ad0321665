"""The Hurwitz zeta function ζ(s, q) on XLA, also for q < 0 and for large s.

``lax.zeta`` starts its asymptotic series after nine terms wherever q lies, which for q < -10 is on
the wrong side of the poles, and it multiplies s by itself before the small factors come in.
Read next: ``incomplete.py``.
"""

from __future__ import annotations

from math import factorial

import jax.numpy as jnp
from jax import Array, lax

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.gammas import Zeta
from tenferro_xla.lowerings._numeric import widened

lowerings = Lowerings()

_TERMS = 10  # that are summed before the asymptotic series starts
#: B₂ⱼ of DLMF 24.2(iv), j = 1 … 12
_BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798,
    -174611 / 330, 854513 / 138, -236364091 / 2730,
)  # fmt: skip


@lowerings.register(Zeta)
def zeta(op: Zeta, s: Array, q: Array) -> Array:
    """Take Hurwitz's zeta function: Σ (q + k)⁻ˢ over k >= 0."""
    return widened(_zeta)(s, q)


def _zeta(s: Array, q: Array) -> Array:
    """Compute ζ for each sign of q, and give poles and undefined powers their values."""
    has_negative = jnp.any(q < 0)
    value = lax.cond(has_negative, _reflected, _right, s, q)
    is_pole = (q <= 0) & (q == jnp.floor(q))
    has_no_power = (q < 0) & (s != jnp.floor(s))
    value = jnp.where(has_no_power, jnp.nan, value)
    value = jnp.where(is_pole | (s == 1), jnp.inf, value)
    return jnp.where(s < 1, jnp.nan, value)


def _reflected(s: Array, q: Array) -> Array:
    """Sum the terms left of 0 by themselves.

    For q = -p with f = p - ⌊p⌋ these are (-1)ˢ (f + k)⁻ˢ, k = 0 … ⌊p⌋, and the rest is ζ(s, 1 - f).
    """
    is_left = q < 0
    f = -q - jnp.floor(-q)
    left = _right(s, jnp.where(is_left, f, 1)) - _right(s, jnp.where(is_left, 1 - q, 1))
    is_odd = s - 2 * jnp.floor(s / 2) == 1
    right = _right(s, jnp.where(is_left, 1 - f, q))
    return jnp.where(is_left, right + jnp.where(is_odd, -left, left), right)


def _right(s: Array, q: Array) -> Array:
    """Sum ten terms for q > 0, and the rest by Euler and Maclaurin's formula (DLMF 25.11.5).

    Factors are multiplied to the power (q + 10)⁻ˢ one by one: it is 0 before their product
    overflows.
    """
    terms = [(q + k) ** -s for k in range(_TERMS)]
    end = q + _TERMS
    integral = end ** (1 - s)
    power = integral / end
    total = integral / (s - 1) + power / 2
    factor = power * (s / end)
    for j, bernoulli in enumerate(_BERNOULLI, 1):
        total = total + factor * (bernoulli / factorial(2 * j))
        factor = factor * ((s + (2 * j - 1)) / end) * ((s + 2 * j) / end)
    total = jnp.where(jnp.isinf(s), 0, total)
    for term in reversed(terms):
        total = total + term
    return total

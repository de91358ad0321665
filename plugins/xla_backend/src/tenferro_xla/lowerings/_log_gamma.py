"""ln |Γ| and its derivative ψ: a few ulp for x > 0, also next to zeros, and next to poles.

``lax.lgamma`` and ``lax.digamma`` sum Lanczos' series to a few eps of 1, so that no digits are left
where the result is near 0. Here a recurrence moves the argument to an interval of length 1, where a
polynomial is multiplied by the distance to the zero. From 7.5 on (float32: 4.5) Stirling's series
is enough (DLMF 5.11.1, 5.11.2), and left of ½ the functions are reflected (DLMF 5.5.3, 5.5.4).
Next to a zero on x < 0 the error is a few eps of the terms that cancel, not of the result. Operands
are float32 or float64. Read next: ``special.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log, pi

import jax.numpy as jnp
from jax import Array

#: ln Γ(2 + u)/u and ψ(3/2 + u)/(3/2 + u - x₀) for |u| ≤ ½, x₀ the zero of ψ: interpolation at
#: Chebyshev's points, computed with 60 digits; relative errors below 2e-17 (float32: 3e-8).
_LOG_GAMMA = {
    8: (
        0.42278433509846713, 0.3224670334241132, -0.06735230105319563, 0.02058080842778338,
        -0.007385551028935545, 0.002890510330865901, -0.0011927539009983087,
        0.0005096695196526673, -0.00022315497746292723, 9.945761692157133e-05,
        -4.4923727564247656e-05, 2.050601970174762e-05, -9.45628851510172e-06,
        4.3828545383846665e-06, -1.9743106888421067e-06, 9.242852225162277e-07,
        -5.811277768921246e-07, 2.7475390051909663e-07,
    ),
    4: (
        0.4227843350004583, 0.3224670334689425, -0.0673522814721006, 0.020580799471518252,
        -0.007386174155633413, 0.002890795321559696, -0.0011858600344983208,
        0.0005065171429518161, -0.0002538170956727826, 0.00011347281994554691,
    ),
}  # fmt: skip
_DIGAMMA = {
    8: (
        0.951055876031833, -0.4236274212814605, 0.2405424842407742, -0.14840492305390884,
        0.09498872445494122, -0.061922133273064534, 0.04076083381242074, -0.02697579675613825,
        0.0179072524394512, -0.011908218001568644, 0.007926944646403797, -0.005279964873257405,
        0.003519006401502276, -0.002345267632540769, 0.0015566317474486838,
        -0.0010376374098418604, 0.0007233266279287554, -0.0004821990530566789,
        0.0002272331660987376, -0.00015148586836773365, 0.00025968482126430747,
        -0.00017312261802727394,
    ),
    4: (
        0.9510558962329134, -0.42362743473901193, 0.24053845299247192, -0.14840223752060958,
        0.09511622179338902, -0.062007068861342586, 0.03936941933941425, -0.02604888222714401,
        0.023909071438577043, -0.01590631756163065,
    ),
}  # fmt: skip
#: x₀ rounded to the dtype, and ψ there, by which the rounding is put right.
_ZERO = {8: (1.4616321449683622, -9.241265521729427e-17), 4: (1.4616321325302124, -1.2036052e-08)}
_BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798,
    -174611 / 330,
)  # fmt: skip
#: Terms of Stirling's series, and steps of recurrence at most before it takes over.
_TERMS, _STEPS = {8: 10, 4: 5}, {8: 5, 4: 2}


def log_gamma(x: Array) -> Array:
    """Compute ln |Γ(x)|; inf at poles, and x itself where it is infinite, as SciPy has it."""
    reflected = x < 0.5
    right = jnp.where(reflected, 1 - x, x)
    count = _STEPS[x.dtype.itemsize]
    is_far = right >= count + 2.5
    near = jnp.where(is_far, 2, right)
    nearest = jnp.floor(near + 0.5)
    excess = near - nearest  # Γ(near) = Γ(2 + excess) · product
    product = jnp.where(nearest < 2, near, 1)
    for k in range(1, count + 1):
        product = product * jnp.where(nearest >= k + 2, near - k, 1)
    logarithm = jnp.log(jnp.where(is_far, right, product))
    close = excess * _polynomial(_LOG_GAMMA[x.dtype.itemsize], excess)
    close = close + jnp.where(nearest < 2, -logarithm, logarithm)
    far = (right - 0.5) * (logarithm - 1) + (stirling_remainder(right) + (log(2 * pi) - 1) / 2)
    value = jnp.where(is_far, far, close)
    mirrored = jnp.log(pi / jnp.sin(pi * jnp.abs(_fraction(x)))) - value
    value = jnp.where(reflected, mirrored, value)
    return jnp.where(jnp.abs(x) == jnp.inf, x, value)


def digamma(x: Array) -> Array:
    """Compute ψ(x); nan at poles, but ∓inf at ±0, where the sign tells the side."""
    reflected = x < 0.5
    right = jnp.where(reflected, 1 - x, x)
    count = _STEPS[x.dtype.itemsize]
    is_far = right >= count + 2
    near = jnp.where(is_far, 1, right)
    steps = jnp.floor(near) - 1  # ψ(near) = ψ(moved) + upper/lower, 1 ≤ moved < 2
    moved = near - steps
    upper = jnp.where(steps < 0, jnp.full_like(x, -1), 0)
    lower = jnp.where(steps < 0, near, 1)
    for k in range(1, count + 1):
        factor = jnp.where(steps >= k, near - k, 1)
        upper = upper * factor + jnp.where(steps >= k, lower, 0)
        lower = lower * factor
    zero, there = _ZERO[x.dtype.itemsize]
    close = (upper / lower + there) + (moved - zero) * _polynomial(
        _DIGAMMA[x.dtype.itemsize], moved - 1.5
    )
    value = jnp.where(is_far, jnp.log(right) - _log_minus_digamma(right), close)
    fraction = _fraction(x)
    at_pole = jnp.where(x == 0, -1 / x, jnp.nan)
    mirrored = jnp.where(fraction == 0, at_pole, value - pi / jnp.tan(pi * fraction))
    return jnp.where(reflected, mirrored, value)


def _fraction(x: Array) -> Array:
    """Return x less the nearest integer, which is exact."""
    return x - jnp.round(x)


def _polynomial(coefficients: Sequence[float], u: Array) -> Array:
    value = jnp.full_like(u, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value = value * u + coefficient
    return value


def stirling_remainder(x: Array) -> Array:
    """Return ln Γ(x) - (x - ½) ln x + x - ½ ln 2π for x >= 7.5 (float32: 4.5)."""
    inverse = 1 / x
    terms = [b / ((2 * k + 1) * (2 * k + 2)) for k, b in enumerate(_BERNOULLI)]
    return inverse * _polynomial(terms[: _TERMS[x.dtype.itemsize]], inverse * inverse)


def _log_minus_digamma(x: Array) -> Array:
    """Return ln x - ψ(x)."""
    inverse = 1 / x
    square = inverse * inverse
    terms = [b / (2 * k + 2) for k, b in enumerate(_BERNOULLI)]
    return 0.5 * inverse + square * _polynomial(terms[: _TERMS[x.dtype.itemsize]], square)

"""The incomplete gamma functions and their derivatives with respect to the shape.

With p(t) = t^(a-1) exp(-t) / Γ(a), the n-th derivative of P(a, x) = ∫₀ˣ p dt is ∫₀ˣ qₙ p dt, qₙ
being a polynomial in ln t - ψ(a) (`moment`). Where x is small the power series is differentiated
term by term (Moore (1982), Algorithm AS 187); elsewhere the integral is done by Gauss's rule over
the side of x on which q₁ keeps its sign, so that nothing cancels in the first derivative.
Read next: `_incomplete_beta.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import comb, factorial, fsum, pi
from typing import Any

from tenferro.backend.numpy_like._numeric import (
    Numeric,
    divided,
    expm1_rest,
    horner,
    log1p_rest,
    log_minus_digamma,
    log_ratio,
    stirling,
)
from tenferro.primitives._moments import moment

__all__ = ["gamma_density", "gamma_part"]

_DROP = 40.0  # exp(-40) of the integrand at its largest is where the integral is cut off
_TERMS = 19  # of the power series, for x <= 1


def density_times_x(on: Numeric, a: Any, x: Any) -> Any:
    """x^a exp(-x) / Γ(a) for a, x > 0, through Stirling's remainder: no digits lost at large a."""
    return on.xp.sqrt(a / (2 * pi)) * on.xp.exp(_exponent(on, a, x))


def _exponent(on: Numeric, a: Any, x: Any) -> Any:
    return a * log1p_rest(on.xp, (x - a) / a, x / a) - stirling(on, a)


def gamma_density(on: Numeric, a: Any, x: Any, power: int) -> Any:
    """x^(a-1-power) exp(-x) / Γ(a), also at x = 0."""
    xp = on.xp
    inside = (x > 0) & (x < xp.inf) & (a > 0) & (a < xp.inf)
    shape, at = xp.where(inside, a, 1), xp.where(inside, x, 1)
    exponent = _exponent(on, shape, at)
    value = xp.sqrt(shape / (2 * pi)) * divided(on, exponent, (at,) * (power + 1))
    exponent = a - (1 + power)
    at_zero = xp.where(exponent == 0, 1 / factorial(power), xp.where(exponent > 0, 0, xp.inf))
    outside = xp.where((x > 0) & (a > 0), 0 * at_zero, at_zero)
    legal = (x >= 0) & (a > 0)
    return xp.where(inside, value, xp.where(legal, outside, xp.nan))


def gamma_part(on: Numeric, a: Any, x: Any, order: int) -> tuple[Any, Any]:
    """∂ⁿP/∂aⁿ and ∂ⁿQ/∂aⁿ at (a, x)."""
    xp = on.xp
    inside = (x > 0) & (x < xp.inf) & (a > 0) & (a < xp.inf)
    shape, at = xp.where(inside, a, 1.5), xp.where(inside, x, 1.5)
    lower, upper = _inside(on, shape, at, order)
    if order:
        edge = xp.where((x >= 0) & (a > 0), 0 * at, xp.nan)
        return xp.where(inside, lower, edge), xp.where(inside, upper, edge)
    edge = _edge(xp, a, x)
    return xp.where(inside, lower, edge), xp.where(inside, upper, 1 - edge)


def _edge(xp: Any, a: Any, x: Any) -> Any:
    """P at the rim of the quadrant: 0 at x = 0 and a = inf, 1 at x = inf and a = 0."""
    zero = 0 * xp.where(xp.isfinite(x), x, 0)
    is_low, is_high = (x == 0) | (a == xp.inf), (x == xp.inf) | (a == 0)
    legal = (a >= 0) & (x >= 0) & ~(is_low & is_high)
    return xp.where(legal, xp.where(is_low, zero, 1), xp.nan)


def _inside(on: Numeric, a: Any, x: Any, order: int) -> tuple[Any, Any]:
    xp = on.xp
    is_small = x <= 1
    head, head_rest = _series(on, a, xp.where(is_small, x, 0.5), order)
    is_lower, part = _integral(on, a, xp.where(is_small, 1.5, x), order)
    rest = (0 if order else 1) - part
    low = xp.where(is_lower, part, rest)
    high = xp.where(is_lower, rest, part)
    return xp.where(is_small, head, low), xp.where(is_small, head_rest, high)


def _integral(on: Numeric, a: Any, x: Any, order: int) -> tuple[Any, Any]:
    """Return whether the lower side was taken, and the integral over the side: t = x exp(∓u)."""
    xp = on.xp
    level = log_ratio(xp, x, a) + log_minus_digamma(on, a)  # ln x - ψ(a)
    is_lower = (level < 0) if order else (x < a)
    sign = xp.where(is_lower, -1, 1)
    slope = sign * (x - a)
    kappa = [-on.polygamma(n, a) for n in range(1, order)]

    def integrand(u: Any) -> Any:
        v = sign * u

        def cumulant(orders: Sequence[int]) -> Any:
            return level + v if orders[0] == 1 else kappa[orders[0] - 2]

        return xp.exp(-slope * u - x * expm1_rest(xp, v)) * moment((order,), cumulant)

    part = on.integrate(integrand, _cut(on, a, x, slope, is_lower))
    return is_lower, density_times_x(on, a, x) * part


def _cut(on: Numeric, a: Any, x: Any, slope: Any, is_lower: Any) -> Any:
    """Return the u at which the integrand has dropped by exp(-40).

    Below, slope·u + x u²/(2 + u) = 40 bounds it; above, Newton's method on the convex exponent.
    """
    xp = on.xp
    slope = xp.maximum(slope, 0)
    half = _DROP - 2 * slope
    total = slope + x
    root = xp.sqrt(half * half + 8 * _DROP * total)  # inf where its square overflows
    below = xp.where(half < 0, 4 * _DROP / (root + xp.abs(half)), (half + root) / (2 * total))

    def step(_: Any, state: Any) -> Any:
        (u,) = state
        return (u - (slope * u + x * expm1_rest(xp, u) - _DROP) / (slope + x * xp.expm1(u)),)

    start = 2 * _DROP / (slope + xp.sqrt(slope * slope + 2 * _DROP * x))
    (above,) = on.loop(6, step, (start,))
    return xp.where(is_lower, below, above)


def _series(on: Numeric, a: Any, x: Any, order: int) -> tuple[Any, Any]:
    """∂ⁿP and ∂ⁿQ from P = x^a / Γ(a + 1) · Σ_k (-x)^k / k! · a / (a + k): DLMF 8.7.1."""
    xp = on.xp

    def add(k: Any, state: Any) -> Any:
        power, sums = state
        power = power * (-x / k)
        inverse = 1 / (a + k)
        found, term = [sums[0] + power * a * inverse], -k * power * inverse
        for total in sums[1:]:
            term = term * inverse
            found.append(total + term)
        return power, tuple(found)

    ones = xp.ones_like(x)
    start = (ones, tuple(xp.zeros_like(x) for _ in range(order + 1)))
    _, sums = on.loop(_TERMS, add, start)
    factor = density_times_x(on, a, x) * xp.exp(x) / a
    level = xp.log(x) - on.polygamma(0, a + 1)
    kappa = [-on.polygamma(n, a + 1) for n in range(1, order)]

    def cumulant(orders: Sequence[int]) -> Any:
        return level if orders[0] == 1 else kappa[orders[0] - 2]

    total: Any = moment((order,), cumulant)
    for j, s in enumerate(sums):
        weight = comb(order, j) * (-1) ** j * factorial(j)
        total = total + weight * (moment((order - j,), cumulant) * s)
    value = factor * total
    if order:
        return value, -value
    return value, -xp.expm1(a * xp.log(x) - lgamma1p(on, a)) - factor * sums[0]


def lgamma1p(on: Numeric, a: Any) -> Any:
    """ln Γ(1 + a) for a > 0, with all digits near 0: Abramowitz & Stegun (1964), 6.1.33."""
    xp = on.xp
    is_small = a < 0.25
    near = xp.where(is_small, a, 0)
    small = near * horner(near, _lgamma_coefficients()) - xp.log1p(near)
    return xp.where(is_small, small, on.lgamma(xp.where(is_small, 1, a) + 1))


@cache
def _lgamma_coefficients() -> tuple[float, ...]:
    """1 - γ, (ζ(2) - 1)/2, -(ζ(3) - 1)/3, …"""
    terms = [(-1) ** n * _zeta_less_one(n) / n for n in range(2, 27)]
    return (1 - 0.57721566490153286061, *terms)


def _zeta_less_one(n: int) -> float:
    """ζ(n) - 1 by the Euler-Maclaurin formula: Abramowitz & Stegun (1964), 23.2.9 and 23.1.30."""
    m = 400.0
    tail = m ** (1 - n) / (n - 1) + m**-n / 2 + n * m ** (-n - 1) / 12
    return tail - n * (n + 1) * (n + 2) * m ** (-n - 3) / 720 + fsum(k**-n for k in range(2, 400))

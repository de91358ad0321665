"""The regularized incomplete beta function and its derivatives with respect to the shapes.

With p(t) = t^(a-1) (1-t)^(b-1) / B(a, b), the derivative ∂^(m+n) I / ∂a^m ∂b^n is ∫₀ˣ q p dt, q
being a polynomial in ln t - ψ(a) + ψ(a+b) and ln(1-t) - ψ(b) + ψ(a+b) (`moment`). Near 0 (and,
mirrored, near 1) the power series is differentiated term by term, as Boik & Robison-Cox (1998),
Journal of Statistical Software 3(1), do it with a continued fraction; elsewhere the integral is
done by Gauss's rule over the side of x on which q keeps its sign: first derivatives do not cancel.
Read next: `incomplete.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, factorial, pi
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.backend.numpy_like._numeric import (
    Numeric,
    divided,
    expm1_rest,
    log1p_rest,
    log_minus_digamma,
    log_ratio,
    polygamma_difference,
    stirling,
)
from tenferro.primitives._moments import moment

__all__ = ["beta_density", "beta_part"]

_DROP = 40.0  # exp(-40) of the integrand at its largest is where the integral is cut off
_TERMS = 56  # of the power series, for x <= 1/2


class _Point(NamedTuple):
    """Shapes a, b and the place x, with y = 1 - x."""

    a: Any
    b: Any
    x: Any
    y: Any

    def mirrored(self, xp: Any, where: Any) -> _Point:
        """Mirror the point where a mask holds: I_x(a, b) = 1 - I_y(b, a)."""
        a, b, x, y = self
        return _Point(
            xp.where(where, b, a),
            xp.where(where, a, b),
            xp.where(where, y, x),
            xp.where(where, x, y),
        )


def _density(on: Numeric, at: _Point, divisors: Sequence[Any] = ()) -> Any:
    """x^a y^b / B(a, b) for a, b > 0, 0 < x < 1, through Stirling's remainders; divided by some."""
    xp = on.xp
    a, b, x, y = at
    total = a + b
    shift = (b * x - a * y) / total
    exponent = (
        a * log1p_rest(xp, shift * (total / a), x * (total / a))
        + b * log1p_rest(xp, -shift * (total / b), y * (total / b))
        + (stirling(on, total) - stirling(on, a) - stirling(on, b))
    )
    return xp.sqrt(a * (b / total) / (2 * pi)) * divided(on, exponent, divisors)


def beta_density(on: Numeric, a: Any, b: Any, x: Any, powers: Sequence[int]) -> Any:
    """x^(a-1-i) (1-x)^(b-1-j) / B(a, b) with (i, j) = powers, also at x = 0 and x = 1."""
    xp = on.xp
    i, j = powers
    is_shape = (a > 0) & (b > 0) & (a < xp.inf) & (b < xp.inf)
    inside = is_shape & (x > 0) & (x < 1)
    at = _Point(xp.where(is_shape, a, 1), xp.where(is_shape, b, 1), xp.where(inside, x, 0.5), 0)
    at = at._replace(y=1 - at.x)
    value = _density(on, at, (at.x,) * (i + 1) + (at.y,) * (j + 1))
    norm = 4 * _density(on, _Point(at.a, at.b, 0 * at.x + 0.5, 0 * at.x + 0.5))
    norm = norm * xp.exp((at.a + at.b - 2) * 0.6931471805599453)  # 1 / B(a, b)
    exponent = xp.where(x <= 0, a - (1 + i), b - (1 + j))
    rim = xp.where(exponent == 0, norm, xp.where(exponent > 0, 0, xp.inf))
    value = xp.where(inside, value, rim)
    return xp.where(is_shape & (x >= 0) & (x <= 1), value, xp.nan)


def beta_part(on: Numeric, a: Any, b: Any, x: Any, orders: Sequence[int]) -> tuple[Any, Any]:
    """Return the derivative of I_x(a, b), and that of 1 - I_x(a, b)."""
    xp = on.xp
    inside = (x > 0) & (x < 1) & (a > 0) & (b > 0) & (a < xp.inf) & (b < xp.inf)
    x = xp.where((x >= 0) & (x <= 1), x, xp.nan)
    safe = xp.where(inside, x, 0.5)
    at = _Point(xp.where(inside, a, 1.5), xp.where(inside, b, 1.5), safe, 1 - safe)
    lower, upper = _inside(on, at, orders)
    legal = (a >= 0) & (b >= 0) & ((a > 0) | (b > 0)) & ((a < xp.inf) | (b < xp.inf)) & (x == x)
    if any(orders):
        edge = xp.where(legal & (a > 0) & (b > 0), 0 * safe, xp.nan)
        return xp.where(inside, lower, edge), xp.where(inside, upper, edge)
    is_high = (x == 1) | ((x > 0) & ((a == 0) | (b == xp.inf)))
    edge = xp.where(legal, xp.where(is_high, 1 + 0 * safe, 0), xp.nan)
    return xp.where(inside, lower, edge), xp.where(inside, upper, 1 - edge)


def _inside(on: Numeric, at: _Point, orders: Sequence[int]) -> tuple[Any, Any]:
    xp = on.xp
    a, b, x, y = at
    head, tail = (x <= 0.5) & (b * x <= 1), (y <= 0.5) & (a * y <= 1)
    is_series = head | tail
    mirrored = xp.where(is_series, ~head, ~(_level(on, at, orders) < 0))
    seen = at.mirrored(xp, mirrored)
    middle = _Point(
        *(xp.where(is_series, safe, part) for safe, part in zip(_MIDDLE, seen, strict=True))
    )
    near = _Point(
        *(xp.where(is_series, part, safe) for safe, part in zip(_SAFE_POINT, seen, strict=True))
    )
    series = _series(on, near, orders, mirrored)
    part = xp.where(is_series, series, _integral(on, middle, orders, mirrored))
    rest = (0 if any(orders) else 1) - part
    return xp.where(mirrored, rest, part), xp.where(mirrored, part, rest)


_MIDDLE = _Point(3.0, 3.0, 0.5, 0.5)
_SAFE_POINT = _Point(1.0, 1.0, 0.25, 0.75)


def _level(on: Numeric, at: _Point, orders: Sequence[int]) -> Any:
    """Return a quantity that is negative on the lower side.

    It is q if one shape varies, and x - a/(a+b) otherwise.
    """
    a, b, x, y = at
    if orders[0] and not orders[1]:
        return _first(on, a, b, x)
    if orders[1] and not orders[0]:
        return -_first(on, b, a, y)
    return b * x - a * y


def _first(on: Numeric, a: Any, b: Any, x: Any) -> Any:
    """ln x - ψ(a) + ψ(a + b)."""
    ratio = log_ratio(on.xp, x, a / (a + b))
    return ratio + log_minus_digamma(on, a) - log_minus_digamma(on, a + b)


def _integral(on: Numeric, at: _Point, orders: Sequence[int], mirrored: Any) -> Any:
    """Integrate the density's derivative from 0 to x, with t = x exp(-u)."""
    xp = on.xp
    a, b, x, y = at
    odds = x / y
    slope, bend = a - (b - 1) * odds, (b - 1) * odds
    low, high = (_first(on, a, b, x), _first(on, b, a, y)) if any(orders) else (0, 0)
    higher = _cumulants(on, at.mirrored(xp, mirrored), orders)

    def integrand(u: Any) -> Any:
        s = odds * -xp.expm1(-u)  # (1 - t) / y = 1 + s
        exponent = (b - 1) * log1p_rest(xp, s) - bend * expm1_rest(xp, -u) - slope * u
        if not any(orders):
            return xp.exp(exponent)
        first, second = low - u, high + xp.log1p(s)

        def cumulant(order: Sequence[int]) -> Any:
            if sum(order) > 1:
                return higher[tuple(order)]
            return xp.where(mirrored, *((second, first) if order[0] else (first, second)))

        return xp.exp(exponent) * moment(orders, cumulant)

    return _density(on, at) / y * on.integrate(integrand, _cut(on, at, odds))


def _cumulants(on: Numeric, at: _Point, orders: Sequence[int]) -> dict[tuple[int, ...], Any]:
    """Return the cumulants of order 2 and higher, independent of t: DLMF 5.12.1 and 5.15.1."""
    found: dict[tuple[int, ...], Any] = {}
    for m in range(orders[0] + 1):
        for n in range(orders[1] + 1):
            if m and n:
                found[m, n] = on.polygamma(m + n - 1, at.a + at.b)
            elif m + n > 1:
                own = (at.a, at.b) if m else (at.b, at.a)
                found[m, n] = polygamma_difference(on.xp, m + n - 1, *own)
    return found


def _cut(on: Numeric, at: _Point, odds: Any) -> Any:
    """Return the u at which the integrand has dropped by exp(-40): Newton's method from above."""
    xp = on.xp
    a, b, _, _ = at
    power = xp.maximum(b - 1, 0)

    def step(_: Any, state: Any) -> Any:
        (u,) = state
        s = -odds * xp.expm1(-u)
        slope = a - power * (odds * xp.exp(-u)) / (1 + s)
        excess = a * u - power * xp.log1p(s) - _DROP
        return (xp.where(slope > 0, u - excess / xp.where(slope > 0, slope, 1), u),)

    (u,) = on.loop(8, step, ((_DROP + power * xp.log1p(odds)) / a,))
    return u


def _series(on: Numeric, at: _Point, orders: Sequence[int], mirrored: Any) -> Any:
    """Sum the series I = x^a / (a B(a, b)) · Σ_k (1-b)_k x^k / k! · a / (a + k): DLMF 8.17.7."""
    xp = on.xp
    a, b, x, _ = at
    sums = _sums(on, at, max(orders) if orders[0] != orders[1] else orders[0])
    factor = _density(on, at) * xp.exp(-b * xp.log1p(-x)) / a
    low = xp.log(x) - on.polygamma(0, a + 1) + on.polygamma(0, a + b)
    high = polygamma_difference(xp, 0, b, a)

    def cumulant(order: Sequence[int]) -> Any:
        m, n = order
        if m + n == 1:
            return low if m else high
        joint = on.polygamma(m + n - 1, a + b)
        if m and n:
            return joint
        return joint - on.polygamma(m + n - 1, a + 1 if m else b)

    def derivative(m: int, n: int) -> Any:
        total: Any = 0.0
        for i in range(m + 1):
            for j in range(n + 1):
                weight = comb(m, i) * comb(n, j) * (-1) ** i * factorial(i)
                total = total + weight * (moment((m - i, n - j), cumulant) * sums[i][j])
        return total

    m, n = orders
    if m == n:
        return factor * derivative(m, n)
    return factor * xp.where(mirrored, derivative(n, m), derivative(m, n))


def _sums(on: Numeric, at: _Point, order: int) -> Any:
    """Σ_k ∂ⁿ(1-b)_k/∂bⁿ x^k/k! · w_m(k): w₀ = a/(a+k), and else -k/(a+k)^(m+1)."""
    a, b, x, _ = at
    zero = on.xp.zeros_like(x)
    powers = (zero + 1, *[zero] * order)
    totals = tuple(tuple(p if m == 0 else zero for p in powers) for m in range(order + 1))

    def add(k: Any, state: Any) -> Any:
        terms, sums = state
        factor, step = x * (k - b) / k, x / k
        terms = tuple(
            t * factor - (n * terms[n - 1] * step if n else 0) for n, t in enumerate(terms)
        )
        inverse = 1 / (a + k)
        weights = [a * inverse, *(-k * inverse ** (m + 1) for m in range(1, order + 1))]
        return terms, tuple(
            tuple(s + t * w for s, t in zip(row, terms, strict=True))
            for row, w in zip(sums, weights, strict=True)
        )

    return on.loop(_TERMS, add, (powers, totals))[1]

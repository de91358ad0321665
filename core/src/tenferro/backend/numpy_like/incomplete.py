"""The incomplete gamma and beta functions for a NumPy-shaped namespace.

Values are those of `scipy.special` where it has all digits; at large shapes it loses up to all of
them (P(1e7, x) five deviations below the mean is wrong by 3 %), so they are computed here, as
densities and derivatives are: in double precision (`_incomplete_gamma`, `_incomplete_beta`), a
block of elements at a time, because each of them needs room for the nodes of an integral.
Read next: `normal.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import factorial
from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like._incomplete_beta import beta_density, beta_part
from tenferro.backend.numpy_like._incomplete_gamma import gamma_density, gamma_part
from tenferro.backend.numpy_like._numeric import Numeric, gauss
from tenferro.backend.numpy_like.special import Find
from tenferro.primitives.incomplete import (
    BetaDensity,
    Betainc,
    Betaincc,
    BetaincDerivative,
    GammaDensity,
    Gammainc,
    Gammaincc,
    GammaincDerivative,
)

__all__ = ["NAMES", "by_blocks", "numeric", "register"]

NAMES: dict[type, str] = {}
_BLOCK = 4096
_LARGE_GAMMA_SHAPE = 1e3  # from here on SciPy may lose more than four digits
_LARGE_BETA_SHAPE = 1e4
_STEP_FROM_SHAPE = 1e36  # the floating numbers next to a are a hundred deviations away
_MIN_X_OF_SCIPYS_COMPLEMENT = 1e-15  # below it, SciPy's 1 - I_x(a, b) may have lost half of I_x


def register(lowerings: Lowerings, xp: Any, find: Find) -> None:
    """Register the family over `xp` and what `find` gives for a scipy name."""
    on = numeric(xp, find)
    for primitive, (name, side, values) in _VALUES.items():
        lowerings.register(primitive)(_by_values(on, find(name), side, values))

    @lowerings.register(GammaDensity)
    def density_of_gamma(op: GammaDensity, a: Any, x: Any) -> Any:
        return by_blocks(xp, lambda a, x: gamma_density(on, a, x, op.power), a, x)

    @lowerings.register(GammaincDerivative)
    def gammainc_derivative(op: GammaincDerivative, a: Any, x: Any) -> Any:
        return by_blocks(xp, lambda a, x: gamma_part(on, a, x, op.order)[0], a, x)

    @lowerings.register(BetaDensity)
    def density_of_beta(op: BetaDensity, a: Any, b: Any, x: Any) -> Any:
        return by_blocks(xp, lambda *at: beta_density(on, at[0], at[1], at[2], op.powers), a, b, x)

    @lowerings.register(BetaincDerivative)
    def betainc_derivative(op: BetaincDerivative, a: Any, b: Any, x: Any) -> Any:
        return by_blocks(xp, lambda *at: beta_part(on, at[0], at[1], at[2], op.orders)[0], a, b, x)

    @lowerings.register(Betaincc)
    def betaincc(op: Betaincc, a: Any, b: Any, x: Any) -> Any:
        try:
            function = find("betaincc")
        except AttributeError:  # CuPy has none
            return by_blocks(xp, partial(_complement, on, find), a, b, x)
        return by_blocks(xp, partial(_of_beta, on, function, 1), a, b, x)


def _by_values(
    on: Numeric, function: Callable[..., Any], side: int, values: Callable[..., Any]
) -> Callable[..., Any]:
    """Make a lowering of a function of SciPy and what computes its values block by block.

    Its own float32 loses a fifth of the digits.
    """

    def lowered(op: Any, *xs: Any) -> Any:
        return by_blocks(on.xp, partial(values, on, function, side), *xs)

    return lowered


def _of_gamma(on: Numeric, function: Callable[..., Any], side: int, a: Any, x: Any) -> Any:
    """Apply SciPy's function, and integrate where the shape is large; ``side``: 0 is P, 1 is Q.

    P rises from 0 to 1 within a few √a about x = a; from some shape on no other number lies there.
    """
    xp = on.xp

    def integral(a: Any, x: Any) -> Any:
        return gamma_part(on, a, x, 0)[side]

    def step(a: Any, x: Any) -> Any:
        above = xp.where(x > a, 1.0 - side, xp.where(x == a, 0.5, xp.nan))
        return xp.where((x >= 0) & (x < a), 1.0 * side, above)

    is_step = (a >= _STEP_FROM_SHAPE) & (a < xp.inf)
    is_hard = (a > _LARGE_GAMMA_SHAPE) & ~is_step
    value = _with(xp, _with(xp, function(a, x), is_hard, integral, a, x), is_step, step, a, x)
    return _with(xp, value, xp.isnan(a + x), xp.add, a, x)  # SciPy 1.15 has P(nan, 0) = 0


def _of_beta(on: Numeric, function: Callable[..., Any], side: int, a: Any, b: Any, x: Any) -> Any:
    """Apply SciPy's function, and integrate where a shape is large; ``side``: 0 is I, 1 is 1-I."""

    def integral(a: Any, b: Any, x: Any) -> Any:
        return beta_part(on, a, b, x, (0, 0))[side]

    value = function(a, b, x)
    is_hard = on.xp.maximum(a, b) > _LARGE_BETA_SHAPE
    if side:  # the integral is 1 - I as a difference, which has no digits where I is near 1
        is_hard = is_hard | ((x < _MIN_X_OF_SCIPYS_COMPLEMENT) & (value > 0.5))
    return _with_limits(on.xp, _with(on.xp, value, is_hard, integral, a, b, x), side, a, b, x)


def _with_limits(xp: Any, value: Any, side: int, a: Any, b: Any, x: Any) -> Any:
    """Replace NaN where a shape is 0 or infinite: SciPy before 1.16 and CuPy have no limits there.

    All probability is at x = 0 where a is 0 or b infinite, at x = 1 where b is 0 or a infinite;
    where both are so, it is not determined.
    """

    def limit(a: Any, b: Any, x: Any) -> Any:
        at_zero, at_one = (a == 0) | (b == xp.inf), (b == 0) | (a == xp.inf)
        has_limit = (at_zero ^ at_one) & (a >= 0) & (b >= 0) & (x >= 0) & (x <= 1)
        below = xp.where(at_zero, x > 0, x == 1)
        return xp.where(has_limit, xp.where(below, 1.0 - side, 1.0 * side), xp.nan)

    return _with(xp, value, xp.isnan(value), limit, a, b, x)


def _with(xp: Any, value: Any, mask: Any, function: Callable[..., Any], *operands: Any) -> Any:
    """Return a vector with the elements of a mask replaced by a function of the operands there."""
    (places,) = xp.nonzero(mask)
    if places.size:
        value[places] = function(*[x[places] for x in operands])
    return value


_VALUES: dict[type, tuple[str, int, Callable[..., Any]]] = {
    Gammainc: ("gammainc", 0, _of_gamma),
    Gammaincc: ("gammaincc", 1, _of_gamma),
    Betainc: ("betainc", 0, _of_beta),
}


def _complement(on: Numeric, find: Find, a: Any, b: Any, x: Any) -> Any:
    """Return 1 - I_x(a, b) where the namespace has I alone.

    The difference keeps its digits while I is at most a half, and I_{1-x}(b, a) where 1 - x is
    exact. Elsewhere the rounding of 1 - x may cost all of them (x = 1e-20), so an integral is
    computed.
    """
    xp, rest = on.xp, 1 - x
    below, mirrored = find("betainc")(a, b, x), find("betainc")(b, a, rest)
    integral = beta_part(on, a, b, x, (0, 0))[1]
    above = xp.where(xp.equal(1 - rest, x), mirrored, integral)
    return _with_limits(xp, xp.where(below <= 0.5, 1 - below, above), 1, a, b, x)


def by_blocks(xp: Any, function: Callable[..., Any], *operands: Any) -> Any:
    """Apply a function of double-precision numbers to one block of elements at a time."""
    first = operands[0]
    flat = [xp.reshape(xp.asarray(x), (-1,)).astype(xp.float64) for x in operands]
    result = xp.empty(first.size, xp.float64)
    for start in range(0, first.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        result[part] = function(*(x[part] for x in flat))
    return xp.reshape(result, first.shape).astype(first.dtype)


def numeric(xp: Any, find: Find) -> Numeric:
    """Return the namespace with SciPy's gamma functions."""

    def lgamma(x: Any) -> Any:
        return find("gammaln")(x)

    def polygamma(n: int, x: Any) -> Any:
        if not n:
            return find("digamma")(x)
        return find("zeta")(float(n + 1), x) * ((-1.0) ** (n + 1) * factorial(n))

    return Numeric(xp, lgamma, polygamma, _loop, lambda f, cut: integrate(xp, f, cut))


def integrate(xp: Any, function: Callable[[Any], Any], cut: Any) -> Any:
    """∫ f(u) du from 0 to the cut: all nodes at once, on an axis in front."""
    places, weights = (xp.asarray(part).reshape((-1, *(1,) * cut.ndim)) for part in gauss())
    return xp.sum(function(places * cut) * weights, axis=0) * cut


def _loop(count: int, body: Callable[[Any, Any], Any], state: Any) -> Any:
    for k in range(1, count + 1):
        state = body(k, state)
    return state

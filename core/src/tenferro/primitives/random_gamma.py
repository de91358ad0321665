"""Gamma variates, and their derivative with respect to the shape parameter.

The logarithm is drawn, because the variate itself is below every float for small shapes. No draw
is a smooth function of the shape, since proposals are rejected; its derivative is the implicit one,
which keeps the distribution function of the result fixed (Figurnov, Mohamed & Mnih 2018). It is
made of ``gamma_moment``, a family of integrals that is closed under differentiation, so that
derivatives of every order exist. Read next: ``linalg``.
"""

from __future__ import annotations

from math import nan
from typing import Final

from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import accepted, integer
from tenferro.primitives._dtype import uint32, uint64
from tenferro.primitives._errors import ShapeMismatchError
from tenferro.primitives._handle import H, Handle
from tenferro.primitives._primitive import Mixed, bind, over_leading_axes, pointwise
from tenferro.primitives.arithmetic import abs as absolute
from tenferro.primitives.arithmetic import maximum, minimum, sqrt
from tenferro.primitives.comparison import gt, logical_and, lt, select
from tenferro.primitives.constants import constant, iota, zeros_like
from tenferro.primitives.elementwise import exp, expm1, log, log1p
from tenferro.primitives.random import (
    ATTEMPTS,
    as_key,
    block,
    check_key,
    filled,
    of_bits,
    random_bits,
)
from tenferro.primitives.reduction import reduce_sum
from tenferro.primitives.special import digamma, erfinv
from tenferro.primitives.structural import broadcast_in_dim

__all__ = ["GammaMoment", "RandomLogGamma", "gamma_moment", "random_log_gamma"]

TRIES: Final = 12  # 0.0485¹² < 2⁻⁵²: what is left then is less than the rounding of a uniform
NODES: Final = 80
FIRST: Final = -5.0
LAST: Final = 4.6
BEND: Final = 0.7


class RandomLogGamma(Mixed):
    """y = ln x, x ~ Γ(a).   dy = -(∂F/∂a)/(x f) da, F and f being those of x

    key: u32[*B,2]   a: f[*B,*s]  →  y: f[*B,*s]
    """

    key = "std::random_log_gamma"
    batch = over_leading_axes
    accepts = "float"
    linear = ()

    def abstract_eval(self, key: Aval, a: Aval) -> Aval:
        batch = check_key(self, key).shape[:-1]
        if a.shape[: len(batch)] != batch:
            raise ShapeMismatchError.of(
                self.name, "the number of keys does not match the batch of a", got=f"{key}, {a}",
                need=f"a of shape {(*batch, '...')}", shapes=(key.shape, a.shape),
            )  # fmt: skip
        return accepted(self, a)

    def jvp_a(self, da: Handle, key: Handle, a: Handle, y: Handle) -> Handle:
        """Compute Figurnov et al. (2018), equation 5, in the variable ln x."""
        drift = gamma_moment(1, a, y) + side(a, y) * (digamma(a) - y) * gamma_moment(0, a, y)
        return da * drift

    def decompose(self, key: Handle, a: Handle) -> Handle:
        """Draw by Marsaglia & Tsang (2000) with proposals for all elements; the first accepted
        counts.

        Below a = 1 the variate of a + 1 is multiplied by U^(1/a), as there in section 6. If none
        of the proposals is accepted, at worst one time in 2⁵², the last one is taken.
        """
        small = lt(a, filled(a, 1))
        d = select(small, a + 1, a) - 1 / 3
        y: Handle | None = None
        for attempt in reversed(range(TRIES)):
            log_v, accepted = _proposal(key, attempt, d, a)
            y = log_v if y is None else select(accepted, log_v, y)
        assert y is not None
        y = y + log(d)
        boosted = y + log(unit(attempt_bits(key, 2 * TRIES, a), a)) / absolute(a)
        y = select(small, boosted, y)
        return select(lt(a, zeros_like(a)), filled(a, nan), y)


def _proposal(key: Handle, attempt: int, d: Handle, a: Handle) -> tuple[Handle, Handle]:
    """Return the logarithm of v = (1 + z/√(9d))³, and whether d v is accepted."""
    z = 2**0.5 * erfinv(of_bits(attempt_bits(key, 2 * attempt, a), a.dtype))
    log_u = log(unit(attempt_bits(key, 2 * attempt + 1, a), a))
    root = 1 + z / (3 * sqrt(d))
    log_v = 3 * log(absolute(root))
    bound = 0.5 * (z * z) + d * (1 - root * root * root + log_v)
    return log_v, logical_and(gt(root, zeros_like(root)), lt(log_u, bound))


def attempt_bits(key: H, number: int, a: H) -> H:
    """Return 64-bit words for one attempt at each element of ``a``, from a separate key."""
    batch = key.shape[:-1]
    counter: H = constant(number, uint32, batch)  # type: ignore[assignment]
    attempt = as_key(*block(key, counter, ATTEMPTS))
    return random_bits(attempt, a.shape[len(batch) :], uint64)


def unit(bits: H, like: Handle) -> H:
    """Make uniform numbers in (0, 1): the absolute value of what ``symmetric`` returns."""
    return absolute(of_bits(bits, like.dtype))


class GammaMoment(Mixed):
    """J_k = ∫₀^∞ vᵏ exp(-s a v - eʸ (e^(-s v) - 1)) dv,   s = ±1 the side of y

    ∂J_k/∂a = -s J_{k+1},   ∂J_k/∂y = (eʸ - a) J_k + s k J_{k-1}  (s instead of s k J_{k-1} for k=0)
    """

    key = "std::gamma_moment"
    accepts = "float"
    batch = pointwise
    linear = ()
    order: int

    def __post_init__(self) -> None:
        self._set(order=integer(self, "order", "no such moment", minimum=0))

    def abstract_eval(self, a: Aval, y: Aval) -> Aval:
        return accepted(self, a, y)

    def jvp_a(self, da: Handle, a: Handle, y: Handle, moment: Handle) -> Handle:
        return -side(a, y) * gamma_moment(self.order + 1, a, y) * da

    def jvp_y(self, dy: Handle, a: Handle, y: Handle, moment: Handle) -> Handle:
        """Integrate by parts: eʸ e^(-s v) is a plus the slope of the exponent."""
        edge = self.order * gamma_moment(self.order - 1, a, y) if self.order else 1
        return ((exp(y) - a) * moment + side(a, y) * edge) * dy

    def decompose(self, a: Handle, y: Handle) -> Handle:
        """Apply the trapezoidal rule in τ, v = σ exp(τ - e^(-cτ)) (Takahasi & Mori 1974, section
        5).

        On the upper side in u = e^v - 1, where the exponent is almost linear. With 80 nodes the
        relative error is below 2e-14 for orders up to 2.
        """
        shape = (*a.shape, NODES)
        step = (LAST - FIRST) / (NODES - 1)
        tau = iota(shape, a.ndim, a.dtype) * step + FIRST
        bent = exp(-BEND * tau)
        scale = _scale(a, y)
        spread = [broadcast_in_dim(h, shape, range(a.ndim)) for h in (a, exp(y), scale)]
        v = exp(tau - bent) * spread[2]
        above = broadcast_in_dim(is_above(a, y), shape, range(a.ndim))
        values = v * (1 + BEND * bent) * step * _integrand(self.order, v, above, *spread[:2])
        return reduce_sum(values, (a.ndim,))


def _integrand(order: int, v: Handle, above: Handle, a: Handle, x: Handle) -> Handle:
    lower = -a * v - x * expm1(-v)
    log_v = log1p(v)
    upper = (a - 1) * log_v - x * v
    distance = select(above, log_v, v)
    power = filled(v, 1)
    for _ in range(order):
        power = power * distance
    return power * exp(select(above, upper, lower))


def _scale(a: Handle, y: Handle) -> Handle:
    """σ, about the width of the integrand: exponential or normal decay, or 1/a for small a."""
    x, zero = exp(y), zeros_like(y)
    lower = maximum(a - x, zero) + minimum(a, sqrt(a))
    upper = maximum(x - a, zero) + sqrt(x)
    return 1 / select(is_above(a, y), upper, lower)


def is_above(a: H, y: H) -> H:
    """Return True where eʸ > max(a, 1), where the upper integral converges well."""
    return gt(y, log(maximum(a, filled(a, 1))))


def side(a: H, y: H) -> H:
    """s: -1 above, 1 below."""
    return select(is_above(a, y), filled(y, -1), filled(y, 1))


def random_log_gamma(key: H, a: H) -> H:
    """Draw the logarithm of gamma variates of shape a and scale 1.

    key: u32[*B,2]   a: f[*B,*s]   →   y: f[*B,*s]

    JVP          dy = -(∂F/∂a)/(x f(x)) da, x = exp y, also where x is too small for a float
    Convention   nan for a < 0; -inf for a = 0
    Source       Marsaglia & Tsang (2000), sections 2 and 6; Figurnov, Mohamed & Mnih (2018), eq. 5

    >>> from tenferro.primitives import random_log_gamma, variable
    >>> random_log_gamma(variable("key", (2,), "u32"), variable("a", (3,), "f64")).aval
    f64[3]
    """
    return bind(RandomLogGamma(), key, a)


def gamma_moment(order: int, a: H, y: H) -> H:
    """Integrate powers of the distance to eʸ, on one side of it, against a gamma density.

    a: f[*s]   y: f[*s]   →   J: f[*s]

    Definition   s = 1:  J_k = ∫₀ˣ (y - ln t)ᵏ w(t)/w(x) dt/t,  w(t) = tᵃ e^(-t), x = eʸ
                 s = -1: J_k = ∫ₓ^∞ (ln t - y)ᵏ w(t)/w(x) dt/t; so if x > max(a, 1)
    JVP          ∂J_k/∂a = -s J_{k+1};   ∂J_k/∂y = (x - a) J_k + s k J_{k-1}, or + s for k = 0
    Source       differentiated under the integral; by parts

    >>> from tenferro.primitives import gamma_moment, variable
    >>> gamma_moment(1, variable("a", (3,), "f64"), variable("y", (3,), "f64")).aval
    f64[3]
    """
    return bind(GammaMoment(order), a, y)

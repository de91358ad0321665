"""The incomplete gamma and beta functions on XLA: integrals and series of `numpy_like`.

XLA's own ``igamma`` and ``betainc`` form a·ln x - ln Γ(a), which leaves few digits where a is
large, and have no derivatives in the shapes to every order. Read next: ``normal.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial
from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from tenferro.backend.extend import (
    Numeric,
    beta_density,
    beta_part,
    gamma_density,
    gamma_part,
    gauss,
)
from tenferro.backend.lowering import Lowerings
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
from tenferro_xla.lowerings._log_gamma import digamma, log_gamma
from tenferro_xla.lowerings._numeric import like, widened

lowerings = Lowerings()


def _loop(count: int, body: Callable[[Any, Any], Any], state: Any) -> Any:
    """Run a loop that is compiled once for any count; k has the dtype of the state."""
    dtype = state[0].dtype if hasattr(state[0], "dtype") else state[0][0].dtype

    def step(k: Array, state: Any) -> Any:
        return body(lax.convert_element_type(k, dtype), state)

    return lax.fori_loop(1, count + 1, step, state)


def _polygamma(n: int, x: Array) -> Array:
    """ψ⁽ⁿ⁾(x) for x > 0."""
    if not n:
        return digamma(x)
    return lax.mul(like(x, (-1) ** (n + 1) * factorial(n)), lax.zeta(like(x, n + 1), x))


def _integrate(function: Callable[[Array], Array], cut: Array) -> Array:
    """∫ f(u) du from 0 to the cut, node after node: what is compiled is one node."""
    places, weights = (jnp.asarray(part, dtype=cut.dtype) for part in gauss())

    def add(k: Array, total: Array) -> Array:
        return total + function(places[k] * cut) * weights[k]

    total: Array = lax.fori_loop(0, len(gauss()[0]), add, jnp.zeros_like(cut))
    return total * cut


ON = Numeric(jnp, log_gamma, _polygamma, _loop, _integrate)


@lowerings.register(GammaDensity)
def density_of_gamma(op: GammaDensity, a: Array, x: Array) -> Array:
    """Take x^(a-1-power) exp(-x) / Γ(a)."""
    return widened(lambda a, x: gamma_density(ON, a, x, op.power))(a, x)


@lowerings.register(Gammainc)
def gammainc(op: Gammainc, a: Array, x: Array) -> Array:
    """Take the regularized lower incomplete gamma function."""
    return widened(lambda a, x: gamma_part(ON, a, x, 0)[0])(a, x)


@lowerings.register(Gammaincc)
def gammaincc(op: Gammaincc, a: Array, x: Array) -> Array:
    """Take the regularized upper incomplete gamma function."""
    return widened(lambda a, x: gamma_part(ON, a, x, 0)[1])(a, x)


@lowerings.register(GammaincDerivative)
def gammainc_derivative(op: GammaincDerivative, a: Array, x: Array) -> Array:
    """Take the n-th derivative of P(a, x) with respect to a."""
    return widened(lambda a, x: gamma_part(ON, a, x, op.order)[0])(a, x)


@lowerings.register(BetaDensity)
def density_of_beta(op: BetaDensity, a: Array, b: Array, x: Array) -> Array:
    """Take x^(a-1-i) (1-x)^(b-1-j) / B(a, b)."""
    return widened(lambda a, b, x: beta_density(ON, a, b, x, op.powers))(a, b, x)


@lowerings.register(Betainc)
def betainc(op: Betainc, a: Array, b: Array, x: Array) -> Array:
    """Take the regularized incomplete beta function."""
    return widened(lambda a, b, x: beta_part(ON, a, b, x, (0, 0))[0])(a, b, x)


@lowerings.register(Betaincc)
def betaincc(op: Betaincc, a: Array, b: Array, x: Array) -> Array:
    """Take one less the regularized incomplete beta function."""
    return widened(lambda a, b, x: beta_part(ON, a, b, x, (0, 0))[1])(a, b, x)


@lowerings.register(BetaincDerivative)
def betainc_derivative(op: BetaincDerivative, a: Array, b: Array, x: Array) -> Array:
    """Take a derivative of I_x(a, b) with respect to a and b."""
    return widened(lambda a, b, x: beta_part(ON, a, b, x, op.orders)[0])(a, b, x)

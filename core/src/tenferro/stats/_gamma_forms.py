"""The gamma distribution of the standard variable: what ``gamma`` and ``chi2`` share.

Read next: ``gamma.py``.
"""

from __future__ import annotations

from math import inf

from tenferro.arrays.functions.comparison import equal, less
from tenferro.arrays.functions.special import xlogy
from tenferro.arrays.handle.array import Array
from tenferro.primitives import incomplete
from tenferro.primitives import special as p
from tenferro.stats._log_tails import log_gammainc, log_gammaincc
from tenferro.stats._standard import Standard, broadcast, choose


def log_density(given: Standard) -> Array:
    """Compute ln(z^(a-1) e⁻ᶻ / Γ(a)), -inf below 0 and at inf."""
    a, z, is_outside = _between_ends(given)
    return given.outside(is_outside, -inf, xlogy(a - 1, z) - z - p.lgamma(a))


def density(given: Standard) -> Array:
    """Compute z^(a-1) e⁻ᶻ / Γ(a), 0 below 0 and at inf."""
    a, z, is_outside = _between_ends(given)
    a, z = broadcast(a, z)
    return given.outside(is_outside, 0.0, incomplete.gamma_density(a, z))


def lower(given: Standard) -> Array:
    """Compute P(a, z), 0 below 0."""
    a, z, is_outside = _inside(given)
    return given.outside(is_outside, 0.0, incomplete.gammainc(*broadcast(a, z)))


def upper(given: Standard) -> Array:
    """Compute Q(a, z), 1 below 0."""
    a, z, is_outside = _inside(given)
    return given.outside(is_outside, 1.0, incomplete.gammaincc(*broadcast(a, z)))


def log_lower(given: Standard) -> Array:
    """Compute ln P(a, z), -inf below 0."""
    a, z, is_outside = _inside(given)
    return given.outside(is_outside, -inf, log_gammainc(a, z))


def log_upper(given: Standard) -> Array:
    """Compute ln Q(a, z), 0 below 0."""
    a, z, is_outside = _inside(given)
    return given.outside(is_outside, 0.0, log_gammaincc(a, z))


def _inside(given: Standard) -> tuple[Array, Array, Array]:
    """Return the shape, z where it is in the support and 1 elsewhere, and where that is."""
    is_outside = less(given.z, 0)
    return given.shapes[0], choose(is_outside, 1.0, given.z), is_outside


def _between_ends(given: Standard) -> tuple[Array, Array, Array]:
    """Return the same, where inf counts as outside."""
    is_outside = less(given.z, 0) | equal(given.z, inf)
    return given.shapes[0], choose(is_outside, 1.0, given.z), is_outside

"""The normal distribution and the scaled error function for a NumPy-shaped namespace.

Values are those of `scipy.special`; the repeated integrals of erfc, which it does not have, are
integrals by Gauss's rule for x >= 0, and a recurrence of positive terms below.
Read next: `bessel.py`.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like._numeric import gauss
from tenferro.backend.numpy_like.incomplete import by_blocks
from tenferro.backend.numpy_like.special import Find, by_name
from tenferro.primitives.normal import Erfcinv, Erfcx, LogNdtr, Ndtr, Ndtri

__all__ = ["NAMES", "register", "repeated_integral"]

NAMES = {Ndtr: "ndtr", LogNdtr: "log_ndtr", Ndtri: "ndtri", Erfcinv: "erfcinv"}


def register(lowerings: Lowerings, xp: Any, find: Find) -> None:
    """Register the family over `xp` and what `find` gives for a scipy name."""
    by_name(lowerings, find, NAMES)

    @lowerings.register(Erfcx)
    def erfcx(op: Erfcx, x: Any) -> Any:
        if op.order:
            return by_blocks(xp, lambda x: _any_sign(xp, find("erfcx")(x), x, op.order), x)
        return find("erfcx")(x).astype(x.dtype, copy=False)


def _any_sign(xp: Any, first: Any, x: Any, order: int) -> Any:
    """n! exp(x²) iⁿerfc x: below 0 by Abramowitz & Stegun (1964), 7.2.5, from n = 0 upwards."""
    before, value = 2 / sqrt(pi), first
    for n in range(1, order + 1):
        before, value = value, before * ((n - 1) / 2 if n > 1 else 0.5) - x * value
    return xp.where(x < 0, value, repeated_integral(xp, xp.where(x < 0, 0, x), order))


def repeated_integral(xp: Any, x: Any, order: int) -> Any:
    """2/√π ∫₀^∞ tⁿ exp(-t² - 2xt) dt for x >= 0: Abramowitz & Stegun (1964), 7.2.3."""
    depth = 40.0 + 4 * order
    cut = (depth / (x + xp.sqrt(x * x + depth)))[..., None]  # there the exponent is -depth
    places, weights = (xp.asarray(part, dtype=x.dtype) for part in gauss())
    t = cut * places
    terms = t**order * xp.exp(-t * (t + 2 * x[..., None]))
    return xp.sum(terms * weights, axis=-1) * cut[..., 0] * (2 / sqrt(pi))

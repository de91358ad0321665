"""The normal distribution and the scaled error function for a NumPy-shaped namespace.

Values are those of `scipy.special`; the repeated integrals of erfc, which it does not have, are
integrals by Gauss's rule for x >= 0, and a recurrence of positive terms below.
Read next: `bessel.py`.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like._numeric import Numeric
from tenferro.backend.numpy_like.incomplete import by_blocks, numeric
from tenferro.backend.numpy_like.special import Find, by_name
from tenferro.primitives.normal import Erfcinv, Erfcx, LogNdtr, Ndtr, Ndtri

__all__ = ["NAMES", "register", "repeated_integral", "upwards"]

NAMES = {Ndtr: "ndtr", LogNdtr: "log_ndtr", Ndtri: "ndtri", Erfcinv: "erfcinv"}


_ROOT_IS_X = 1e12  # from here on √(x² + depth) is x to the last bit


def register(lowerings: Lowerings, xp: Any, find: Find) -> None:
    """Register the family over `xp` and what `find` gives for a scipy name."""
    by_name(lowerings, find, NAMES)
    on = numeric(xp, find)

    @lowerings.register(Erfcx)
    def erfcx(op: Erfcx, x: Any) -> Any:
        if op.order:
            return by_blocks(xp, lambda x: higher_order(x, op.order), x)
        return find("erfcx")(x).astype(x.dtype, copy=False)

    def higher_order(x: Any, order: int) -> Any:
        right = repeated_integral(on, xp.where(x < 0, 0, x), order)
        return xp.where(x < 0, upwards(find("erfcx")(x), x, order), right)


def upwards(value: Any, x: Any, order: int) -> Any:
    """Return n! exp(x²) iⁿerfc x from erfcx x: Abramowitz & Stegun (1964), 7.2.5, for x < 0."""
    before: Any = 2 / sqrt(pi)
    for n in range(1, order + 1):
        before, value = value, before * ((n - 1) / 2 if n > 1 else 0.5) - x * value
    return value


def repeated_integral(on: Numeric, x: Any, order: int) -> Any:
    """2/√π ∫₀^∞ tⁿ exp(-t² - 2xt) dt for x >= 0: Abramowitz & Stegun (1964), 7.2.3; 0 at inf."""
    xp, depth = on.xp, 40.0 + 4 * order
    at = xp.where(xp.isinf(x), 1, x)
    near = xp.minimum(at, _ROOT_IS_X)  # larger ones have no square in single precision
    root = xp.where(at < _ROOT_IS_X, xp.sqrt(near * near + depth), at)
    cut = depth / (at + root)  # there the exponent is -depth

    def integrand(t: Any) -> Any:
        return t**order * xp.exp(-t * (t + 2 * at))

    return xp.where(xp.isinf(x), 0, on.integrate(integrand, cut) * (2 / sqrt(pi)))

"""Modified Bessel functions for a NumPy-shaped namespace.

Orders 0 and 1 are those of `scipy.special`; higher ones are computed here, in double precision.
Read next: `logarithms.py`.
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.incomplete import by_blocks
from tenferro.backend.numpy_like.special import Find
from tenferro.primitives.bessel import BesselI, BesselIe

__all__ = ["NAMES", "higher_order", "register", "unscaled"]

NAMES: dict[type, str] = {}
_LEAST_BORDER = 16.0
_DEPTH = 40.0  # -ln of what is left out


def register(lowerings: Lowerings, xp: Any, find: Find) -> None:
    """Register the family over `xp` and what `find` gives for a scipy name."""

    @lowerings.register(BesselI)
    def bessel_i(op: BesselI, x: Any) -> Any:
        if op.order < 2:
            return find(f"i{op.order}")(x).astype(x.dtype, copy=False)
        return by_blocks(xp, lambda x: unscaled(xp, scaled(op.order, x), xp.abs(x)), x)

    @lowerings.register(BesselIe)
    def bessel_ie(op: BesselIe, x: Any) -> Any:
        if op.order < 2:
            return find(f"i{op.order}e")(x).astype(x.dtype, copy=False)
        return by_blocks(xp, lambda x: scaled(op.order, x), x)

    def scaled(order: int, x: Any) -> Any:
        return higher_order(xp, find("i0e")(x), find("i1e")(x), x, order)


def higher_order(xp: Any, before: Any, value: Any, x: Any, order: int) -> Any:
    """exp(-|x|) Iₙ(x), n >= 2, from those of n = 0 and 1.

    Near 0 by ratios of neighbouring orders, from far above down (DLMF 10.33.1), which are accurate
    for every argument and overflow nowhere; beyond, the recurrence in the order, Abramowitz &
    Stegun (1964), 9.6.26, which is accurate where x is large compared with n².
    """
    border = max(_LEAST_BORDER, order * order / 2.0)
    is_near = xp.abs(x) <= border
    near, ratio = xp.where(is_near, x, 0), 0.0
    series = before
    for k in range(_ratios(order, border), 0, -1):
        ratio = near / (2 * k + near * ratio)
        series = series * ratio if k <= order else series
    far = xp.where(is_near, border, x)
    for n in range(1, order):
        before, value = value, before - value * (2 * n / far)
    return xp.where(is_near, series, value)


def _ratios(order: int, border: float) -> int:
    """Return from which order on ratios are 0: of that, exp((order² - n²)/x) is left."""
    return ceil(sqrt(_DEPTH * border + order * order)) + 2


def unscaled(xp: Any, scaled: Any, exponent: Any) -> Any:
    """Multiply by exp(exponent) in two factors: one may overflow where the product does not."""
    half = xp.exp(exponent / 2)
    return scaled * half * half

"""(exp(x) - 1)/x and its derivatives for a NumPy-shaped namespace.

The rest of the family is written in other primitives. Read next: `rounding.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like._numeric import Numeric
from tenferro.backend.numpy_like.incomplete import by_blocks, numeric
from tenferro.backend.numpy_like.special import Find
from tenferro.primitives.logarithms import Exprel

__all__ = ["NAMES", "exprel", "register"]

NAMES: dict[type, str] = {}
_BORDER_OF_SERIES = 10.0


def register(lowerings: Lowerings, xp: Any, find: Find) -> None:
    """Register the family over `xp`."""
    on = numeric(xp, find)

    @lowerings.register(Exprel)
    def lower_exprel(op: Exprel, x: Any) -> Any:
        return by_blocks(xp, lambda x: exprel(on, x, op.order), x)


def exprel(on: Numeric, x: Any, order: int) -> Any:
    """∫₀¹ tⁿ exp(xt) dt: by parts where |x| is large, n E_{n-1} + x E_n = exp x."""
    xp, border = on.xp, _BORDER_OF_SERIES + 2 * order
    is_far = xp.abs(x) > border
    far, near = xp.where(is_far, x, border), xp.where(is_far, 0, x)
    top = xp.exp(far)
    value = xp.expm1(far) / far
    for n in range(1, order + 1):
        value = (top - n * value) / far
    if order == 0:
        direct = xp.expm1(near) / xp.where(near == 0, 1, near)
        return xp.where(is_far, _limits(xp, x, value), xp.where(near == 0, 1, direct))
    direct = on.integrate(lambda t: t**order * xp.exp(near * t), xp.ones_like(near))
    return xp.where(is_far, _limits(xp, x, value), direct)


def _limits(xp: Any, x: Any, value: Any) -> Any:
    """inf where exp x is infinite."""
    return xp.where((value != value) & (x > 0), xp.inf, value)

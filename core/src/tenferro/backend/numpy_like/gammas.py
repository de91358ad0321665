"""The gamma function, ln B, the Hurwitz zeta function and differences of polygamma functions.

`scipy.special` has the first and the third; the others are computed here, in double precision,
because its `betaln` loses digits where one argument is much larger. Read next: `normal.py`.
"""

from __future__ import annotations

from math import log, pi
from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like import _numeric
from tenferro.backend.numpy_like._numeric import Numeric, log_ratio, stirling
from tenferro.backend.numpy_like.incomplete import by_blocks, numeric
from tenferro.backend.numpy_like.special import Find, by_name
from tenferro.primitives.gammas import Betaln, Gamma, PolygammaDifference, Zeta

__all__ = ["NAMES", "betaln", "polygamma_difference", "register"]

NAMES = {Gamma: "gamma", Zeta: "zeta"}


def register(lowerings: Lowerings, xp: Any, find: Find) -> None:
    """Register the family over `xp` and what `find` gives for a scipy name."""
    by_name(lowerings, find, NAMES)
    on = numeric(xp, find)

    @lowerings.register(Betaln)
    def lower_betaln(op: Betaln, a: Any, b: Any) -> Any:
        return by_blocks(xp, lambda *at: betaln(on, *at), a, b)

    @lowerings.register(PolygammaDifference)
    def lower_difference(op: PolygammaDifference, x: Any, d: Any) -> Any:
        return by_blocks(xp, lambda *at: polygamma_difference(on, op.order, *at), x, d)


def betaln(on: Numeric, a: Any, b: Any) -> Any:
    """ln |B(a, b)|; through Stirling's remainders where an argument is large: DLMF 5.11.1.

    The poles of Γ(a) and Γ(a + b) cancel where b is a positive integer: B(a, b) is then
    ±B(1 - a - b, b), which follows from DLMF 5.5.3. At infinity B(a, b) ~ Γ(a) b^-a, DLMF 5.11.12.
    """
    xp = on.xp
    a, b = xp.minimum(a, b), xp.maximum(a, b)
    at_pole = (a <= 0) & (a == xp.floor(a)) & (a > -xp.inf)
    cancels = at_pole & (b > 0) & (b == xp.floor(b)) & (a + b <= 0)
    a = xp.where(cancels, 1 - a - b, a)
    is_large = (xp.minimum(a, b) > 0) & (xp.maximum(a, b) >= 10) & (xp.maximum(a, b) < xp.inf)
    low = xp.where(is_large, xp.minimum(a, b), 1)
    high = xp.where(is_large, xp.maximum(a, b), 10)
    total = low + high
    rest = stirling(on, low) + stirling(on, high) - stirling(on, total)
    large = (
        (low - 0.5) * log_ratio(xp, low, total)
        - (high - 0.5) * xp.log1p(low / high)
        + (rest + (log(2 * pi) - xp.log(total)) / 2)
    )
    plain = on.lgamma(a) + on.lgamma(b) - on.lgamma(a + b)
    at_end = (b == xp.inf) & (a > -xp.inf)
    plain = xp.where(at_end, xp.where(a > 0, -xp.inf, xp.inf), plain)
    two_poles = at_pole & (b <= 0) & (b == xp.floor(b))
    return xp.where(is_large, large, xp.where(two_poles, xp.inf, plain))


def polygamma_difference(on: Numeric, n: int, x: Any, d: Any) -> Any:
    """ψ⁽ⁿ⁾(x + d) - ψ⁽ⁿ⁾(x); subtracted where an argument is not positive."""
    xp = on.xp
    inside = (x > 0) & (x + d > 0) & (x + d < xp.inf)
    safe_x, safe_d = xp.where(inside, x, 1), xp.where(inside, d, 1)
    found = _numeric.polygamma_difference(xp, n, safe_x, safe_d)
    return xp.where(inside, found, on.polygamma(n, x + d) - on.polygamma(n, x))

"""Special functions for a namespace shaped like `scipy.special`.

No NumPy-shaped namespace has them, so a backend hands in a function that finds one by its scipy
name; it is asked when the lowering first runs, because such a namespace is slow to import.
Read next: `incomplete.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import factorial
from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.special import Digamma, Erf, Erfc, Erfinv, Lgamma, Polygamma

__all__ = ["NAMES", "by_name", "register"]

NAMES = {
    Erf: "erf",
    Erfc: "erfc",
    Erfinv: "erfinv",
    Lgamma: "gammaln",
    Digamma: "digamma",
}

Find = Callable[[str], Callable[..., Any]]


def register(lowerings: Lowerings, xp: Any, find: Find) -> None:
    """Register the special family over what `find` gives for a scipy name."""
    by_name(lowerings, find, NAMES)

    @lowerings.register(Polygamma)
    def polygamma(op: Polygamma, x: Any) -> Any:
        """(-1)ⁿ⁺¹ n! ζ(n + 1, x): Abramowitz & Stegun (1964), 6.4.10."""
        n = op.order
        zeta = find("zeta")(float(n + 1), x)
        return (zeta * ((-1.0) ** (n + 1) * factorial(n))).astype(x.dtype, copy=False)


def by_name(lowerings: Lowerings, find: Find, names: Mapping[Any, str]) -> None:
    """Register ufuncs of scipy, for primitives without parameters."""
    for primitive, name in names.items():
        lowerings.register(primitive)(_found(find, name))


def _found(find: Find, name: str) -> Callable[..., Any]:
    def lowered(op: Any, *xs: Any) -> Any:
        return find(name)(*xs).astype(xs[0].dtype, copy=False)  # scipy widens float16

    return lowered

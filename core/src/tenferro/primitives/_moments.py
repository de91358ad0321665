"""Moments from cumulants: what a derivative of exp(g) is, in units of exp(g).

Used where a family of functions is closed under differentiation in a parameter, by rules and by
lowerings alike. Knows neither handles nor arrays. Read next: ``incomplete.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import comb, prod
from typing import Any

Cumulant = Callable[[Sequence[int]], Any]


def moment(orders: Sequence[int], cumulant: Cumulant) -> Any:
    """∂ⁿ exp(g) / exp(g) for orders n in one or more parameters; ``cumulant(n)`` is ∂ⁿ g.

    The complete Bell polynomials by the product rule, ∂^(n+1) eᵍ = ∂ⁿ (g′ eᵍ): McCullagh (1987),
    Tensor methods in statistics, section 2.3.

    >>> moment((2,), lambda n: {1: 3, 2: 5}[n[0]])
    14
    """
    if not any(orders):
        return 1
    axis = next(i for i, n in enumerate(orders) if n)
    rest = [n - (i == axis) for i, n in enumerate(orders)]
    terms = []
    for place in product(*(range(n + 1) for n in rest)):
        weight = prod(comb(n, k) for n, k in zip(rest, place, strict=True))
        raised = [k + (i == axis) for i, k in enumerate(place)]
        left = [n - k for n, k in zip(rest, place, strict=True)]
        terms.append(cumulant(raised) * moment(left, cumulant) * weight)
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total

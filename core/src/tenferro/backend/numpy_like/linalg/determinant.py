"""Determinants, and the permutation that exchanges of rows stand for.

Read next: `../indexing.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.linalg.determinant import Det
from tenferro.primitives.linalg.lu import LuPermutation

__all__ = ["exchanged", "register"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register what serves every NumPy-shaped namespace."""

    @lowerings.register(Det)
    def det(op: Det, a: Any) -> Any:
        return xp.linalg.det(a)

    @lowerings.register(LuPermutation)
    def lu_permutation(op: LuPermutation, pivots: Any) -> Any:
        return exchanged(xp, pivots, op.size)


def exchanged(xp: Any, pivots: Any, size: int) -> Any:
    """Return the order of rows after row i was exchanged with row pivots[i], for each i in turn."""
    places = xp.arange(size, dtype="int32")
    order = xp.zeros((*pivots.shape[:-1], size), "int32") + places
    for i in range(pivots.shape[-1]):
        other = pivots[..., i : i + 1]
        here = xp.where(xp.equal(places, other), order[..., i : i + 1], order)
        order = xp.where(xp.equal(places, i), xp.take_along_axis(order, other, -1), here)
    return order

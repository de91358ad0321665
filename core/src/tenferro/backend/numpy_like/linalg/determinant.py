"""Determinants, and the permutation that exchanges of rows stand for.

Read next: `../indexing.py`.
"""

from __future__ import annotations

from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.linalg.determinant import Det
from tenferro.primitives.linalg.lu import LuPermutation

__all__ = ["register"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register what serves every NumPy-shaped namespace."""

    @lowerings.register(Det)
    def det(op: Det, a: Any) -> Any:
        return xp.linalg.det(a)

    @lowerings.register(LuPermutation)
    def lu_permutation(op: LuPermutation, pivots: Any) -> Any:
        lead = pivots.shape[:-1]
        order = xp.zeros((*lead, op.size), "int32") + xp.arange(op.size, dtype="int32")
        for i in range(pivots.shape[-1]):
            other = pivots[..., i : i + 1]
            exchanged = order[..., i : i + 1].copy()
            order[..., i : i + 1] = xp.take_along_axis(order, other, -1)
            order = xp.where(xp.arange(op.size) == other, exchanged, order)
        return order

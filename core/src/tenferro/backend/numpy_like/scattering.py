"""Scatters that multiply or compare, for a NumPy-shaped namespace.

As scatter-add, but no namespace need have `at` of these functions: updates are sorted by place and
combined within a place over distances that double. Read next: `contraction.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.indexing import put_last, scatter_with
from tenferro.primitives.scattering import ScatterMax, ScatterMin, ScatterMul

__all__ = ["by_place", "register"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the scatter family."""
    for primitive, combine in (
        (ScatterMul, xp.multiply),
        (ScatterMax, xp.maximum),
        (ScatterMin, xp.minimum),
    ):
        lowerings.register(primitive)(_scatter(xp, combine))


def _scatter(xp: Any, combine: Callable[..., Any]) -> Callable[..., Any]:
    def update(flat: Any, positions: Any, values: Any) -> Any:
        order = xp.argsort(positions, -1, "stable")
        where = positions[order]
        found = by_place(xp, combine, where, values[order])
        return put_last(xp, flat, where, combine(flat[where], found))

    def lower(op: Any, x: Any, indices: Any, updates: Any) -> Any:
        return scatter_with(xp, op, x, indices, updates, update)

    return lower


def by_place(xp: Any, combine: Callable[..., Any], where: Any, what: Any) -> Any:
    """Combine the values that share a place, cumulatively; the places are sorted."""
    by = 1
    while by < where.size:
        same = xp.equal(where[by:], where[:-by])
        joined = xp.where(same, combine(what[:-by], what[by:]), what[by:])
        what = xp.concatenate((what[:by], joined))
        by *= 2
    return what

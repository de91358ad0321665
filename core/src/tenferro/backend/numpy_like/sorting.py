"""Sorting for a NumPy-shaped namespace: `argsort` by each key, the last key first.

`argsort` of kind "stable" is the only one that CuPy has. Read next: `contraction.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like._common import cast
from tenferro.primitives.sorting import Searchsorted, Sort

__all__ = ["register"]


def register(lowerings: Lowerings, xp: Any) -> None:
    """Register the sorting family; `top_k` is decomposed."""

    @lowerings.register(Sort)
    def sort(op: Sort, *xs: Any) -> Any:
        if op.count == 1:
            return xp.sort(xs[0], op.dimension, "stable")
        order = _order(xp, xs[: op.num_keys], op.dimension)
        return tuple(xp.take_along_axis(x, order, op.dimension) for x in xs)

    @lowerings.register(Searchsorted)
    def searchsorted(op: Searchsorted, rows: Any, values: Any) -> Any:
        return cast(xp, _search_rows(xp, op.side, rows, values), op.dtype)


def _order(xp: Any, keys: Sequence[Any], axis: int) -> Any:
    """Return the permutation that sorts by the first key, ties by the next."""
    order = xp.argsort(keys[-1], axis, "stable")
    for key in reversed(keys[:-1]):
        again = xp.argsort(xp.take_along_axis(key, order, axis), axis, "stable")
        order = xp.take_along_axis(order, again, axis)
    return order


def _search_rows(xp: Any, side: str, rows: Any, values: Any) -> Any:
    """Search all rows at once by bisection: powers of two are added while they fit."""
    n, batch = rows.shape[-1], rows.shape[:-1]
    wanted = xp.reshape(values, (*batch, prod(values.shape[len(batch) :])))
    found = xp.zeros(wanted.shape, "int64")
    for bit in range(n.bit_length() - 1, -1, -1):
        probe = found + (1 << bit)
        seen = xp.take_along_axis(rows, xp.minimum(probe, n) - 1, -1)
        counts = _counts(xp, side, seen, wanted)
        found = xp.where(xp.logical_and(xp.less_equal(probe, n), counts), probe, found)
    return xp.reshape(found, values.shape)


def _counts(xp: Any, side: str, x: Any, value: Any) -> Any:
    """Return whether x counts for the value; nan is larger than all numbers."""
    is_nan = xp.not_equal(value, value)
    if side == "right":
        return xp.logical_or(xp.less_equal(x, value), is_nan)
    return xp.logical_or(xp.less(x, value), xp.logical_and(is_nan, xp.equal(x, x)))

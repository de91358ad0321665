"""Sorting and searching on NumPy: `np.sort`, and `searchsorted` of each row.

Read next: `planner.py` of the package.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.primitives import Aval
from tenferro.primitives.sorting import Searchsorted, Sort
from tenferro_numpy.ir.expression import Expression, Function, Specialize, called

__all__ = ["EXPRESSIONS", "register"]


def register(lowerings: Lowerings) -> None:
    """Register what replaces the shared lowerings."""

    @lowerings.register(Searchsorted)
    def searchsorted(op: Searchsorted, rows: Any, values: Any) -> Any:
        batch = rows.shape[:-1]
        each = rows.reshape(prod(batch), rows.shape[-1])
        wanted = values.reshape(prod(batch), prod(values.shape[len(batch) :]))
        found = np.empty(wanted.shape, op.dtype.name)
        for out, row, value in zip(found, each, wanted, strict=True):
            out[...] = row.searchsorted(value, op.side)
        return found.reshape(values.shape)


def _searchsorted(
    op: Searchsorted, avals: tuple[Aval, ...], result: Aval, lowering: Function
) -> Expression:
    """Search one row by the method itself."""
    if avals[0].ndim != 1 or not result.shape:
        return called(op, 2, lowering, shares=False)
    text = "{0}.searchsorted({1}, {p0})"
    if np.dtype(op.dtype.name) == np.dtype(np.intp):
        return Expression(text, (op.side,))
    return Expression(f"{text}.astype({{p1}})", (op.side, np.dtype(op.dtype.name)))


def _sort(op: Sort, avals: tuple[Aval, ...], result: Aval, lowering: Function) -> Expression:
    if op.count > 1:
        return called(op, op.count, lowering, shares=False)
    return Expression("{p0}({0}, {p1}, {p2})", (np.sort, op.dimension, "stable"))


EXPRESSIONS: dict[type, Specialize] = {Searchsorted: _searchsorted, Sort: _sort}

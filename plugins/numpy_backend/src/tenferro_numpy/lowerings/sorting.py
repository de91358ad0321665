"""Searching on NumPy: `np.searchsorted` of each row.

Read next: `planner.py` of the package.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.sorting import Searchsorted

__all__ = ["register"]


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

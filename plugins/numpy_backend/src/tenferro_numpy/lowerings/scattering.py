"""Scatters on NumPy: `at` of the ufunc, on a copy of the flat array.

Read next: `_plan.py` of the package.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.backend.numpy_like.indexing import scatter_with
from tenferro.primitives.scattering import ScatterMax, ScatterMin, ScatterMul

__all__ = ["register"]


def register(lowerings: Lowerings) -> None:
    """Register what replaces the shared lowerings."""
    table = ((ScatterMul, np.multiply), (ScatterMax, np.maximum), (ScatterMin, np.minimum))
    for primitive, combine in table:
        lowerings.register(primitive)(_scatter(combine))


def _scatter(combine: np.ufunc) -> Callable[..., Any]:
    def update(flat: Any, positions: Any, values: Any) -> Any:
        out = np.array(flat)
        combine.at(out, positions, values)
        return out

    def lower(op: Any, x: Any, indices: Any, updates: Any) -> Any:
        return scatter_with(np, op, x, indices, updates, update)

    return lower

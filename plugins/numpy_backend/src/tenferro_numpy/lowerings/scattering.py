"""Scatters on NumPy: `at` of the ufunc, on the flat array or a copy of it.

Read next: `planner.py` of the package.
"""

from __future__ import annotations

import numpy as np

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.scattering import ScatterMax, ScatterMin, ScatterMul
from tenferro_numpy.ir.expression import Specialize
from tenferro_numpy.lowerings.indexing import combined_at, on_copy, updating

__all__ = ["EXPRESSIONS", "register"]

_UFUNCS = {ScatterMul: np.multiply, ScatterMax: np.maximum, ScatterMin: np.minimum}


def register(lowerings: Lowerings) -> None:
    """Register what replaces the shared lowerings."""
    for primitive, combine in _UFUNCS.items():
        lowerings.register(primitive)(on_copy(combined_at(combine.at)))


EXPRESSIONS: dict[type, Specialize] = {
    primitive: updating(combined_at(combine.at)) for primitive, combine in _UFUNCS.items()
}

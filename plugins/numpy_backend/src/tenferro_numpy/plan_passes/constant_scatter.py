"""Scatters into zeros, at places that the program spells out: positions are computed once.

That is how a sparse Jacobian becomes a dense one. The zeros are then fresh memory, no copy of a
literal, and what is left is one `np.add.at`. Read next: `planner.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tenferro.backend.numpy_like.indexing import scatter_add
from tenferro.primitives import Aval
from tenferro.primitives.constants import Table
from tenferro.primitives.indexing import ScatterAdd
from tenferro_numpy.ir.expression import Expression
from tenferro_numpy.ir.literals import is_zero

__all__ = ["placed"]


def placed(
    op: ScatterAdd,
    chosen: Expression,
    operands: tuple[int, ...],
    literals: Mapping[int, Any],
    avals: Sequence[Aval],
) -> tuple[Expression, tuple[int, ...]]:
    """Return the line for a scatter and its operands; fewer if all its places are known.

    `literals` are the operations of slots that are literals.
    """
    if chosen.foreign or op.update_window_dims or op.mode == "drop":
        return chosen, operands
    x, indices = (literals.get(slot) for slot in operands[:2])
    updates = operands[2]
    if not is_zero(x) or type(indices) is not Table or not avals[updates].size:
        return chosen, operands
    given = [avals[slot] for slot in operands]
    place = _Placing(given[0], _positions(op, indices, given))
    return Expression("{p0}({0})", (place,)), (updates,)


def _positions(op: ScatterAdd, indices: Table, avals: Sequence[Aval]) -> Any:
    """Return where each update goes in the flat array."""
    found = []

    def keep(xp: Any, flat: Any, positions: Any, values: Any) -> None:
        found.append(positions)

    x, _, updates = (np.broadcast_to(np.zeros((), bool), aval.shape) for aval in avals)
    vectors = np.array(indices.values, np.int64).reshape(indices.shape)
    scatter_add(np, op, x, vectors, updates, keep)
    return found[0]


class _Placing:
    """Add values to fresh zeros at fixed positions."""

    def __init__(self, result: Aval, positions: Any) -> None:
        self.shape = result.shape
        self.dtype = np.dtype(result.dtype.name)
        self.positions = positions

    def __call__(self, values: Any) -> Any:
        out = np.zeros(self.shape, self.dtype)
        np.add.at(out.reshape(-1), self.positions, values.reshape(-1))
        return out

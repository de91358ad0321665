"""Scatters at places that the program spells out, and scatters onto zeros.

Places that are spelled out are computed once, as where a sparse Jacobian becomes a dense one. The
zeros are then fresh memory, no copy of a literal. Where no place is repeated, values are added to a
selection, which is faster than `np.add.at`. Numbers at other places of a vector of zeros are
counted with weights: `np.bincount` adds them in the same order. Read next: `planner.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from tenferro.backend.numpy_like.indexing import scatter_add
from tenferro.primitives import Aval
from tenferro.primitives.constants import Table
from tenferro.primitives.indexing import ScatterAdd
from tenferro_numpy.ir.expression import Expression
from tenferro_numpy.ir.literals import is_zero
from tenferro_numpy.lowerings.indexing import are_inside

__all__ = ["count_from", "placed", "places_below"]


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
    if chosen.foreign or op.update_window_dims:
        return chosen, operands
    x, indices = (literals.get(slot) for slot in operands[:2])
    given = [avals[slot] for slot in operands]
    if is_zero(x) and type(indices) is not Table and _is_count(op, given):
        count = partial(_counted_inside if op.mode == "drop" else _counted, given[0].shape)
        return Expression("{p0}({0}, {1})", (count,)), operands[1:]
    if type(indices) is not Table or not given[2].size or op.mode == "drop":
        return chosen, operands
    positions = _positions(op, indices, given)
    is_unique = np.unique(positions).size == positions.size
    if is_zero(x):
        place = _Placing(given[0], positions, is_unique)
        return Expression("{p0}({0})", (place,)), operands[2:]
    if not is_unique or not given[0].shape:
        return chosen, operands
    adding = _Adding(positions)
    there = Expression("{p0}({0}, {1})", (adding.in_place,), memory_of=0)
    return Expression("{p0}({0}, {1})", (adding,), update=there), (operands[0], operands[2])


def _is_count(op: ScatterAdd, avals: Sequence[Aval]) -> bool:
    """Return True if several numbers are added to a vector, at indices that int64 can hold."""
    x, indices, updates = avals
    is_vector = x.ndim == 1 and tuple(op.scatter_dims_to_operand_dims) == (0,)
    are_numbers = x.dtype.name == "float64" and indices.dtype.name != "uint64"
    return is_vector and are_numbers and updates.ndim > 0 and bool(x.size and updates.size)


def count_from(line: Expression) -> int | None:
    """Return the size of the vector of zeros to which a line adds numbers by `_counted`."""
    function = line.bound[0] if line.bound else None
    if not isinstance(function, partial) or function.func is not _counted:
        return None
    size: int = function.args[0][0]
    return size


def _counted(shape: tuple[int, ...], indices: Any, updates: Any) -> Any:
    """Add numbers to zeros at the nearest places."""
    places, values = indices.reshape(-1), updates.reshape(-1)
    found = _count(places, values, shape[0])
    return np.bincount(_clipped(places, shape[0]), values, shape[0]) if found is None else found


def _counted_inside(shape: tuple[int, ...], indices: Any, updates: Any) -> Any:
    """Add numbers to zeros at the places that exist."""
    places, values = indices.reshape(-1), updates.reshape(-1)
    found = _count(places, values, shape[0])
    if found is None:
        places = places.astype(np.int64, copy=False)
        inside = (places >= 0) & (places < shape[0])
        found = np.bincount(places[inside], values[inside], shape[0])
    return found


def _count(places: Any, values: Any, size: int) -> Any:
    """Add numbers to zeros; None if a place is missing. The largest might make a long array."""
    if places.item(places.argmax()) < size:
        try:
            return np.bincount(places, values, size)
        except ValueError:  # an index is negative
            pass
    return None


def places_below(size: int, indices: Any) -> Any:
    """Return indices as a vector of places in a vector of this size, the nearest to each."""
    places = indices.reshape(-1).astype(np.int64, copy=False)
    return places if are_inside(places, (0,), (size,)) else _clipped(places, size)


def _clipped(places: Any, size: int) -> Any:
    return np.clip(places.astype(np.int64, copy=False), 0, size - 1)


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

    def __init__(self, result: Aval, positions: Any, is_unique: bool) -> None:
        self.shape = result.shape
        self.dtype = np.dtype(result.dtype.name)
        self.positions = positions
        self.is_unique = is_unique

    def __call__(self, values: Any) -> Any:
        out = np.zeros(self.shape, self.dtype)
        if self.is_unique:
            out.reshape(-1)[self.positions] += values.reshape(-1)
        else:
            np.add.at(out.reshape(-1), self.positions, values.reshape(-1))
        return out


class _Adding:
    """Add values at fixed positions, each named once: in a copy, or in place."""

    def __init__(self, positions: Any) -> None:
        self.positions = positions

    def __call__(self, x: Any, values: Any) -> Any:
        """Update a copy."""
        return self.in_place(np.array(x, order="C"), values)

    def in_place(self, x: Any, values: Any) -> Any:
        """Update the array itself."""
        flat = x.reshape(-1) if x.flags.c_contiguous else np.array(x, order="C").reshape(-1)
        flat[self.positions] += values.reshape(-1)
        return flat.reshape(x.shape)

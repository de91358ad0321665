"""Gathers at places that the program spells out, from one array or from several joined ones.

That is how the entries of a sparse Jacobian are brought into row-major order. Places that are
evenly spaced on both sides are slices: `out[::3] = x`. The join, if there is one, is then not
made. Where slices would be many and short, the gather stays. Read next: `planner.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from tenferro.backend.extend import NamedTuple
from tenferro.primitives import Aval
from tenferro.primitives.constants import Table
from tenferro.primitives.indexing import Gather
from tenferro.primitives.structural import Concatenate
from tenferro_numpy.ir.expression import Expression
from tenferro_numpy.ir.step import Step

__all__ = ["assemble"]

# nanoseconds, measured: a slice that is assigned, positions that are, and each element of these
_SLICE, _POSITIONS, _SLICED, _POSITIONED = 250, 900, 0.8, 5.0
_GATHER, _GATHERED = 2000, 2.2
_MAX_PERIOD = 32
_MAX_TURNS = 8  # how often a place may be taken for slices
_MIN_RUN = 8  # elements


class _Piece(NamedTuple):
    """Elements of an operand, and where they go: slices, or arrays of positions."""

    operand: int
    taken: Any
    placed: Any


def assemble(
    steps: Sequence[Step],
    avals: Sequence[Aval],
    operations: Sequence[Any],
    literals: Mapping[int, Any],
    outputs: Collection[int],
) -> list[Step]:
    """Return the steps with gathers replaced by slices that are put together.

    `operations` are those of the program by position.
    """
    reads = Counter(slot for step in steps for slot in step.operands)
    reads.update(outputs)
    made = {step.targets[0]: step for step in steps if len(step.targets) == 1}
    found: list[Step] = []
    joins: set[int] = set()
    for step in steps:
        op = step.operation_of(operations)
        table = literals.get(step.operands[1]) if type(op) is Gather else None
        is_flat = avals[step.targets[0]].ndim == 1
        if (
            type(table) is not Table
            or not is_flat
            or not _takes_elements(op, avals[step.operands[0]])
        ):
            found.append(step)
            continue
        source = step.operands[0]
        join = made.get(source)
        is_join = join is not None and type(join.operation_of(operations)) is Concatenate
        parts = join.operands if join is not None and is_join and reads[source] == 1 else (source,)
        pieces = _pieces([avals[part].size for part in parts], table.values)
        if pieces is None:
            found.append(step)
            continue
        if parts != (source,):
            joins.add(source)
        found.append(_assembled(step, parts, pieces, avals[step.targets[0]]))
    return [step for step in found if joins.isdisjoint(step.targets)]


def _takes_elements(op: Gather, x: Aval) -> bool:
    """Return True if elements of an array of one axis are taken at places that exist."""
    alone = x.ndim == 1 and op.collapsed_slice_dims == (0,) and not op.offset_dims
    return alone and op.mode == "promise_in_bounds"


def _assembled(step: Step, parts: Sequence[int], pieces: list[_Piece], y: Aval) -> Step:
    used = sorted({piece.operand for piece in pieces})
    number = {operand: i for i, operand in enumerate(used)}
    moved = tuple([piece._replace(operand=number[piece.operand]) for piece in pieces])
    names = "".join([f"{{{i}}}, " for i in range(len(used))])
    line = Expression(f"{{p0}}(({names}))", (_Assembling(y, moved),))
    return Step(line, tuple([parts[i] for i in used]), step.targets, step.positions)


def _pieces(sizes: Sequence[int], places: Sequence[int]) -> list[_Piece] | None:
    """Return the pieces of all operands; None if a gather is faster."""
    flat = np.asarray(places, np.intp)
    if not flat.size:
        return None
    ends = np.cumsum(sizes)
    owners, turns = np.searchsorted(ends, flat, side="right"), _turns(flat)
    budget = _GATHER + _GATHERED * flat.size
    pieces: list[_Piece] = []
    for operand in np.unique(owners).tolist():
        targets = np.flatnonzero(owners == operand)
        pairs = np.stack([flat[targets] - (ends[operand] - sizes[operand]), targets], axis=1)
        runs, rest = _evenly_spaced(pairs, turns[targets])
        pieces += [_Piece(operand, _slice(run[:, 0]), _slice(run[:, 1])) for run in runs]
        budget -= sum([_SLICE + _SLICED * len(run) for run in runs])
        if len(rest):
            pieces.append(_Piece(operand, *rest.T))
            budget -= _POSITIONS + _POSITIONED * len(rest)
        if budget < 0:
            return None
    return pieces


def _turns(places: Any) -> Any:
    """Return how often each place was taken before."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    counts = np.diff(np.append(begins, len(places)))
    turns = np.empty(len(places), np.intp)
    turns[order] = np.arange(len(places)) - np.repeat(begins, counts)
    return turns


def _evenly_spaced(pairs: Any, turns: Any) -> tuple[list[Any], Any]:
    """Split pairs of places into runs of even steps, and what is in no long run."""
    runs: list[Any] = []
    rest = [pairs[turns >= _MAX_TURNS]]
    for turn in range(min(int(turns.max()) + 1, _MAX_TURNS)):
        for run in _runs(pairs[turns == turn]):
            (runs if len(run) >= _MIN_RUN else rest).append(run)
    return runs, np.concatenate(rest)


def _runs(pairs: Any) -> list[Any]:
    """Split pairs of places into runs of even steps, every second or third pair if need be."""
    plain = _split(pairs)
    period = len(plain[0])
    if len(plain) * _MIN_RUN < len(pairs) or not 1 < period <= _MAX_PERIOD:
        return plain
    return [run for first in range(period) for run in _split(pairs[first::period])]


def _split(pairs: Any) -> list[Any]:
    """Split pairs of places where their steps change."""
    if len(pairs) < 3:
        return [pairs]
    steps = np.diff(pairs, axis=0)
    changes = np.flatnonzero((steps[1:] != steps[:-1]).any(axis=1)) + 1
    runs, first = [], 0
    for change in [*changes.tolist(), len(pairs) - 1]:
        if change >= first:  # the pair at the change ends this run; the next begins behind it
            runs.append(pairs[first : change + 1])
            first = change + 1
    return runs


def _slice(places: Any) -> slice:
    """Return evenly spaced places as a slice."""
    first, last, step = int(places[0]), int(places[-1]), int(places[1] - places[0])
    if step > 0:
        return slice(first, last + 1, step)
    return slice(first, last - 1 if last else None, step)


class _Assembling:
    """Write pieces of operands into a new array."""

    def __init__(self, result: Aval, pieces: tuple[_Piece, ...]) -> None:
        self.shape = result.shape
        self.dtype = np.dtype(result.dtype.name)
        self.pieces = pieces

    def __call__(self, operands: tuple[Any, ...]) -> Any:
        out = np.empty(self.shape, self.dtype)
        for operand, taken, placed in self.pieces:
            out[placed] = operands[operand][taken]
        return out

"""Gathers at places that the program spells out, as slices whose elements are read in turn.

That is how the entries of a sparse Jacobian are brought into row-major order: of a band matrix an
element of each diagonal in turn. Arrays that are joined along a new last axis are in that order.
XLA reads the table of places element by element, and looks for the array of each place in a join;
slices it fuses into loops without a table. Where many slices would be needed, the gather stays.
Read next: ``_backend.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tenferro.backend.extend import NamedTuple
from tenferro.computegraph import CompiledProgram, compile_program, from_rows
from tenferro.primitives import Aval, Table
from tenferro.primitives.indexing import Gather
from tenferro.primitives.structural import Concatenate, Reshape, Slice
from tenferro_xla._operands import NumpyArray

__all__ = ["pieces_of", "with_slices"]

MIN_PLACES = 64  # a table of fewer costs less than the slices
MAX_SLICES = 32
# strands of one piece: each turn asks which of them an element is in, as a join does
_MAX_STRANDS, _MAX_STRANDS_OF_JOIN = 4, 16
_MIN_TURNS = 3  # any two places are evenly spaced


class Strand(NamedTuple):
    """Evenly spaced places: ``start``, ``start + step``, …"""

    start: int
    step: int


class Piece(NamedTuple):
    """Consecutive places, read from each of the strands in turn, ``turns`` times."""

    strands: tuple[Strand, ...]
    turns: int


def with_slices(program: CompiledProgram) -> CompiledProgram:
    """Return a program that slices where it gathered at evenly spaced places."""
    makers = {node.outputs[0]: node for node in program.nodes if len(node.outputs) == 1}
    writer = _Writer(makers, program.avals)
    for node in program.nodes:
        pieces = _pieces_of_gather(node, makers, program.avals)
        if pieces is None:
            writer.rows.append(tuple(node))
        else:
            writer.write(node, pieces)
    if len(writer.rows) == len(program.nodes):
        return program
    inputs = list(zip(program.input_names, program.input_avals, strict=True))
    rows = _used(writer.rows, program.outputs)
    return compile_program(from_rows(inputs, rows, program.outputs, writer.avals))


def _pieces_of_gather(
    node: Any, makers: Mapping[int, Any], avals: Sequence[Aval]
) -> list[Piece] | None:
    """Return what a gather reads of a vector; None if it is another operation, or irregular."""
    op = node.operation
    if not isinstance(op, Gather) or op.offset_dims or avals[node.inputs[0]].ndim != 1:
        return None
    table = makers.get(node.inputs[1])
    if table is None or not isinstance(table.operation, Table):
        return None
    shape, size = avals[node.inputs[1]].shape, avals[node.inputs[0]].size
    if shape[1:] != (1,) or op.slice_sizes != (1,) or shape[0] < MIN_PLACES:
        return None
    places = np.asarray(table.operation.values, np.int64)
    if places.min() < 0 or places.max() >= size:
        return None
    maker = makers.get(node.inputs[0])
    is_join = maker is not None and isinstance(maker.operation, Concatenate)
    return pieces_of(places, _MAX_STRANDS_OF_JOIN if is_join else _MAX_STRANDS)


def pieces_of(places: NumpyArray, strands: int) -> list[Piece] | None:
    """Return places as few pieces of at most so many ``strands``; ``None`` if these would need
    too many slices.
    """
    found: list[Piece] = []
    at = slices = 0
    while at < len(places):
        piece = _piece_at(places[at:], strands)
        slices += len(piece.strands)
        if slices > MAX_SLICES:
            return None
        found.append(piece)
        at += len(piece.strands) * piece.turns
    return found


def _piece_at(left: NumpyArray, most: int) -> Piece:
    """Return the longest piece at the beginning; of equally long ones that of fewest strands.

    The first elements of diagonals that are equally long are evenly spaced, too.
    """
    best = Piece((Strand(int(left[0]), 1),), 1)
    for count in range(1, most + 1):
        turns = _turns(left, count)
        if turns * count > best.turns * len(best.strands):
            steps = (left[count : 2 * count] - left[:count]).tolist()
            strands = map(Strand, left[:count].tolist(), steps)
            best = Piece(tuple(strands), turns)
            if turns * count + count > len(left):
                break
    return best


def _turns(places: NumpyArray, count: int) -> int:
    """Return how often each of so many strands can be read in turn."""
    whole = len(places) // count
    if whole < _MIN_TURNS:
        return 0
    first = places[: _MIN_TURNS * count].reshape(_MIN_TURNS, count)
    steps = first[1] - first[0]
    if (steps <= 0).any() or (first[2] - first[1] != steps).any():
        return 0
    turns = np.arange(whole)[:, None]
    differs = (places[: whole * count].reshape(whole, count) != first[0] + turns * steps).any(1)
    return int(differs.argmax()) if differs.any() else whole


class _Writer:
    """Rows of the new program, and the avals of its slots."""

    def __init__(self, makers: Mapping[int, Any], avals: Sequence[Aval]) -> None:
        self.makers = makers
        self.avals = list(avals)
        self.rows: list[tuple[Any, ...]] = []

    def write(self, gather: Any, pieces: Sequence[Piece]) -> None:
        """Write the slices that stand for a gather, in place of its row."""
        sources = self._sources(gather.inputs[0])
        found = [self._piece(gather, sources, piece) for piece in pieces]
        target = gather.outputs[0]
        if len(found) == 1:
            self._emit(gather, Reshape(self.avals[target].shape), found, target)
        else:
            self._emit(gather, Concatenate(0), found, target)

    def _sources(self, slot: int) -> list[tuple[int, int]]:
        """Return the vectors that are joined in a slot, and where each begins."""
        maker = self.makers.get(slot)
        if maker is None or not isinstance(maker.operation, Concatenate):
            return [(slot, 0)]
        sizes = [self.avals[x].size for x in maker.inputs]
        return [*zip(maker.inputs, np.cumsum([0, *sizes[:-1]]).tolist(), strict=True)]

    def _piece(self, gather: Any, sources: Sequence[tuple[int, int]], piece: Piece) -> int:
        """Write one piece; return its slot."""
        columns = [self._strand(gather, sources, s, piece.turns) for s in piece.strands]
        if len(columns) == 1:
            return columns[0]
        columns = [self._emit(gather, Reshape((piece.turns, 1)), [x]) for x in columns]
        beside = self._emit(gather, Concatenate(1), columns)
        return self._emit(gather, Reshape((piece.turns * len(columns),)), [beside])

    def _strand(
        self, gather: Any, sources: Sequence[tuple[int, int]], strand: Strand, turns: int
    ) -> int:
        """Write the slice of one strand, of the vector that it is in if it is in one."""
        last = strand.start + strand.step * (turns - 1)
        x, begin = next((x, a) for x, a in reversed(sources) if a <= strand.start)
        if last >= begin + self.avals[x].size:
            x, begin = gather.inputs[0], 0
        start, limit = strand.start - begin, last - begin + 1
        if (start, limit, strand.step) == (0, self.avals[x].size, 1):
            return x
        return self._emit(gather, Slice((start,), (limit,), (strand.step,)), [x])

    def _emit(
        self, gather: Any, operation: Any, inputs: Sequence[int], target: int | None = None
    ) -> int:
        """Append a row that tells the same source line as the gather; return its slot."""
        if target is None:
            target = len(self.avals)
            self.avals.append(operation.abstract_eval(*[self.avals[x] for x in inputs]))
        self.rows.append((operation, tuple(inputs), (target,), *tuple(gather)[3:]))
        return target


def _used(rows: Sequence[tuple[Any, ...]], outputs: Sequence[int]) -> list[tuple[Any, ...]]:
    """Return the rows without joins and tables that no row reads."""
    wanted = set(outputs)
    kept = []
    for row in reversed(rows):
        if isinstance(row[0], (Concatenate, Table)) and wanted.isdisjoint(row[2]):
            continue
        wanted.update(row[1])
        kept.append(row)
    return kept[::-1]

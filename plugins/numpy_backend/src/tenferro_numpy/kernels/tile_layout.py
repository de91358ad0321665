"""Layout of a region: the places of its tiles, and the moves in each of them.

All of it follows from shapes, so a region works it out once. Read next: `kernels/region.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from tenferro.backend.extend import NamedTuple
from tenferro.backend.row_blocks import even_rows
from tenferro_numpy.ir.assembly import Box, Pieces, parts_of
from tenferro_numpy.machine.tile_size import Index, chunks_of, tiled_axis

__all__ = ["Division", "Move", "Tile", "assemble", "divide"]


class Move(NamedTuple):
    """A buffer that is put together from whole operands before anything else is done with a tile.

    `written`: the region gives it, so that a view of an operand does not do. `full`: a reduction
    reads it, so that it has all elements, be they one number.
    """

    pieces: Pieces
    operands: tuple[int, ...]
    out: int
    written: bool
    full: bool


class Assembly(NamedTuple):
    """Move in one tile: takes a view of an operand, or fills a buffer with parts."""

    out: int
    view: tuple[int, Any] | None
    fill: int | None
    parts: tuple[tuple[int, Index, Index], ...]  # operand, elements, and where they go


class Tile(NamedTuple):
    """A tile: its place in the array of a region, its rows, and what its moves do."""

    where: Index
    rows: int
    moves: tuple[Assembly, ...]


class Division(NamedTuple):
    """The tiles of a region along an axis, in the parts that threads take in turn."""

    axis: int
    shape: tuple[int, ...]  # of a full tile
    chunks: Sequence[Sequence[Tile]]


def divide(
    shape: tuple[int, ...],
    elements: int,
    moves: Sequence[Move],
    shapes: Sequence[tuple[int, ...]],
) -> Division:
    """Return tiles of about ``elements``. `shapes` are those of all operands, by number."""
    axis, rows = tiled_axis(shape, elements)
    rows = even_rows(shape[axis], rows)
    tiles = [
        Tile(where, stop - where[-1].start, _assemblies(moves, shapes, box, axis))
        for where, stop, box in _places(shape, axis, rows)
    ]
    return Division(axis, (min(rows, shape[axis]), *shape[axis + 1 :]), chunks_of(tiles))


def _places(shape: tuple[int, ...], axis: int, rows: int) -> Iterator[tuple[Any, int, Box]]:
    """Yield each tile's index, its last row, and its begin and end on every axis."""
    inner = [(0, n) for n in shape[axis + 1 :]]
    starts = range(0, shape[axis], rows)
    for *lead, start in product(*map(range, shape[:axis]), starts):
        stop = min(start + rows, shape[axis])
        box = (*((i, i + 1) for i in lead), (start, stop), *inner)
        yield (*lead, slice(start, stop)), stop, box


def _assemblies(
    moves: Sequence[Move], shapes: Sequence[tuple[int, ...]], box: Box, axis: int
) -> tuple[Assembly, ...]:
    return tuple([_assembly(move, shapes, box, axis) for move in moves])


def _assembly(move: Move, shapes: Sequence[tuple[int, ...]], box: Box, axis: int) -> Assembly:
    """Return one move in the tile of a box."""
    parts = parts_of(move.pieces, [shapes[i] for i in move.operands], box, axis)
    fill = None if move.pieces.fill is None else move.operands[move.pieces.fill]
    view: tuple[int, Any] | None = None
    if parts and parts[0].whole:
        view, fill = (move.operands[parts[0].operand], parts[0].taken), None
    elif not parts and fill is not None and not move.full:
        view = fill, ...  # one number stands for the tile
    taken = tuple([(move.operands[part.operand], part.taken, part.placed) for part in parts])
    return Assembly(move.out, None if move.written else view, fill, taken)


def assemble(moves: Sequence[Assembly], buffers: list[Any], operands: Sequence[Any]) -> None:
    """Put together what the moves make for a tile."""
    for out, view, fill, parts in moves:
        if view is not None:
            operand, taken = view
            buffers[out] = operands[operand][taken]
            continue
        if fill is not None:
            buffers[out][...] = operands[fill]
        for operand, taken, placed in parts:
            buffers[out][placed] = operands[operand][taken]

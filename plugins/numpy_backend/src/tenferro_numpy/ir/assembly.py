"""Arrays put together from others: a pad, a concatenation. A region makes only their tiles.

A stencil shifts its array by pads and concatenations of slices. Written out, each shift is one more
pass over memory. A tile of it mostly lies within one piece, where it is a view of that operand;
only the tiles at seams are copied together. Read next: `kernels/region.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro.backend.extend import NamedTuple
from tenferro_numpy.machine.tile_size import Index

__all__ = ["MAX_ELEMENTS_PUT_TOGETHER", "Box", "Part", "Pieces", "parts_of"]

MAX_ELEMENTS_PUT_TOGETHER = 64  # of an array that one call makes of numbers

Box = tuple[tuple[int, int], ...]  # begin and end on every axis


class Pieces(NamedTuple):
    """Start of each operand in the result; uncovered elements have the value of operand `fill`."""

    starts: tuple[tuple[int, ...], ...]
    fill: int | None = None


class Part(NamedTuple):
    """Part of an operand in a tile: its elements, and where they go."""

    operand: int
    taken: Index
    placed: Index
    whole: bool  # it covers the tile


def parts_of(
    pieces: Pieces, shapes: Sequence[tuple[int, ...]], box: Box, axis: int
) -> tuple[Part, ...]:
    """Return the parts of a tile, whose axes before `axis` have one element and are dropped."""
    found = []
    for operand, (start, shape) in enumerate(zip(pieces.starts, shapes, strict=False)):
        common = [
            (max(begin, s), min(end, s + n))
            for (begin, end), s, n in zip(box, start, shape, strict=True)
        ]
        if any([begin >= end for begin, end in common]):
            continue
        taken = [slice(b - s, e - s) for (b, e), s in zip(common, start, strict=True)]
        placed = [slice(b - o, e - o) for (b, e), (o, _) in zip(common, box, strict=True)]
        whole = all([pair == tile for pair, tile in zip(common, box, strict=True)])
        index: Index = (*(k.start for k in taken[:axis]), *taken[axis:])
        found.append(Part(operand, index, (*placed[axis:],), whole))
    return tuple(found)

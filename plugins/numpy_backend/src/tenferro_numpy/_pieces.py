"""Arrays put together from others: a pad, a concatenation. A region makes only their tiles.

A stencil shifts its array by pads and concatenations of slices. Written out, each shift is one more
pass over memory. A tile of it mostly lies within one piece, where it is a view of that operand;
only the tiles at seams are copied together. Read next: `_tiles.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

__all__ = ["Box", "Pieces", "put_together"]

Box = tuple[tuple[int, int], ...]  # begin and end on every axis


class Pieces(NamedTuple):
    """Where each operand begins in the result; what none covers has the value of operand `fill`."""

    starts: tuple[tuple[int, ...], ...]
    fill: int | None = None


def put_together(pieces: Pieces, operands: Sequence[Any], box: Box, out: Any, axis: int) -> Any:
    """The part of the result in a box, whose axes before `axis` have one element and are dropped.

    A view of an operand where that covers the box, otherwise `out`, written.
    """
    found = []
    for start, x in zip(pieces.starts, operands, strict=False):
        common = [
            (max(begin, s), min(end, s + n))
            for (begin, end), s, n in zip(box, start, x.shape, strict=True)
        ]
        if any([begin >= end for begin, end in common]):
            continue
        kept = tuple([slice(b - s, e - s) for (b, e), s in zip(common, start, strict=True)])
        part = x[(*(k.start for k in kept[:axis]), *kept[axis:])]
        if all([pair == whole for pair, whole in zip(common, box, strict=True)]):
            return part
        places = [slice(b - o, e - o) for (b, e), (o, _) in zip(common, box, strict=True)]
        found.append((tuple(places[axis:]), part))
    if pieces.fill is not None:
        out[...] = operands[pieces.fill]
    for places_of, part in found:
        out[places_of] = part
    return out

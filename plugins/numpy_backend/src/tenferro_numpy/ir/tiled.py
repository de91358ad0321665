"""Attributes of a region that the passes on memory read.

A file of its own, because `kernels/region.py`, which runs regions, loads only with a program that
has one. Read next: `kernels/region.py`.
"""

from __future__ import annotations

from typing import Any

__all__ = ["Tiled"]


class Tiled:
    """Base of regions.

    operand_count  operands that are read tile by tile; any after them are only read by moves
    arrays         the dtypes of the arrays that it gives, before its reductions
    writes, moves  what a tile goes through, in order
    reuse          number of an array → the operand into which it is written
    """

    __slots__ = ()

    operand_count: int
    arrays: tuple[Any, ...]
    writes: tuple[Any, ...]
    moves: tuple[Any, ...]
    reuse: dict[int, int]

"""Dynamic slices: a block whose beginning is data, moved so that it fits.

Read next: ``gathered.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro.backend.extend import NamedTuple
from tenferro.primitives import Aval, DynamicSlice, DynamicUpdateSlice
from tenferro_cupy.kernels.reads.read import Names

__all__ = ["Block", "Replaced", "block", "replaced"]


class Block(NamedTuple):
    """A block of an array; the arrays after it are where the block begins along each axis."""

    dtype: str
    starts: tuple[str, ...]
    kind: str = "block"

    @property
    def arrays(self) -> tuple[str, ...]:
        """Dtypes of the operand and of the starts."""
        return (self.dtype, *self.starts)

    @property
    def ranks(self) -> tuple[int, ...]:
        """Ranks of the operand and of the starts."""
        return (len(self.starts), *[0] * len(self.starts))

    @property
    def numbers(self) -> int:
        """The largest start along each axis."""
        return len(self.starts)

    def code(self, names: Names, at: Sequence[str]) -> list[str]:
        """Add the starts to the coordinates."""
        lines, begins = _begins(names, len(at), first=1)
        place = [f"({c} + {begin})" for c, begin in zip(at, begins, strict=True)]
        return [*lines, f"const {names.type} {names.value} = {names.element(0, place)};"]


class Replaced(NamedTuple):
    """An array in which a block is replaced by another array."""

    dtype: str
    starts: tuple[str, ...]
    kind: str = "replaced"

    @property
    def arrays(self) -> tuple[str, ...]:
        """Dtypes of the operand, the update and the starts."""
        return (self.dtype, self.dtype, *self.starts)

    @property
    def ranks(self) -> tuple[int, ...]:
        """Ranks of the operand, the update and the starts."""
        return (len(self.starts), len(self.starts), *[0] * len(self.starts))

    @property
    def numbers(self) -> int:
        """The largest start along each axis, then the extents of the update."""
        return 2 * len(self.starts)

    def code(self, names: Names, at: Sequence[str]) -> list[str]:
        """Read the update inside its block, and the operand outside of it."""
        lines, begins = _begins(names, len(at), first=2)
        tests, place = [], []
        for axis, (c, begin) in enumerate(zip(at, begins, strict=True)):
            moved, extent = f"{names.value}c{axis}", names.number(len(at) + axis)
            lines.append(f"const {names.integer} {moved} = {c} - {begin};")
            tests.append(f"{moved} >= 0 && {moved} < {extent}")
            place.append(moved)
        read = f"{names.element(1, place)} : {names.element(0, at)}"
        return [*lines, f"const {names.type} {names.value} = {' && '.join(tests) or '1'} ? {read};"]


def _begins(names: Names, rank: int, first: int) -> tuple[list[str], list[str]]:
    """Return statements that read where the block begins, and the names of the results."""
    lines, found = [], []
    for axis in range(rank):
        begin = f"{names.value}b{axis}"
        start = f"clipped(convert<i64>({names.array(first + axis)}[0]), {names.number(axis)})"
        lines.append(f"const {names.integer} {begin} = {names.integer}({start});")
        found.append(begin)
    return lines, found


def block(op: DynamicSlice, operands: Sequence[Aval], result: Aval) -> tuple[Block, list[int]]:
    """Return a dynamic slice as a read, and its integers."""
    x, *starts = operands
    room = [n - size for n, size in zip(x.shape, op.sizes, strict=True)]
    return Block(result.dtype.name, _names(starts)), room


def replaced(
    op: DynamicUpdateSlice, operands: Sequence[Aval], result: Aval
) -> tuple[Replaced, list[int]]:
    """Return a dynamic update as a read, and its integers."""
    x, update, *starts = operands
    room = [n - size for n, size in zip(x.shape, update.shape, strict=True)]
    return Replaced(result.dtype.name, _names(starts)), [*room, *update.shape]


def _names(avals: Sequence[Aval]) -> tuple[str, ...]:
    return tuple([aval.dtype.name for aval in avals])

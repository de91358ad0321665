"""Concatenation: the coordinate along one axis says which array an element comes from.

Read next: ``padded.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from tenferro.backend.extend import NamedTuple
from tenferro.primitives import Aval, Concatenate
from tenferro_cupy.kernels.reads.read import Names

__all__ = ["Joined", "joined"]


class Joined(NamedTuple):
    """Arrays of one rank, one after the other along an axis."""

    dtype: str
    joins: int
    rank: int
    axis: int
    kind: str = "joined"

    @property
    def arrays(self) -> tuple[str, ...]:
        """Dtypes of the arrays."""
        return (self.dtype,) * self.joins

    @property
    def ranks(self) -> tuple[int, ...]:
        """Ranks of the arrays."""
        return (self.rank,) * self.joins

    @property
    def numbers(self) -> int:
        """Count of the ends of arrays along the axis, except the last one."""
        return self.joins - 1

    def code(self, names: Names, at: Sequence[str]) -> list[str]:
        """Choose the array, and read behind its beginning."""
        lines = [f"{names.type} {names.value};"]
        for j in range(self.joins):
            place = [*at]
            if j:
                place[self.axis] = f"({at[self.axis]} - {names.number(j - 1)})"
            read = f"{names.value} = {names.element(j, place)};"
            test = f"if ({at[self.axis]} < {names.number(j)}) " if j < self.numbers else ""
            lines.append(f"{'else ' if j else ''}{test}{read}")
        return lines


def joined(op: Concatenate, operands: Sequence[Aval], result: Aval) -> tuple[Joined, list[int]]:
    """Return a concatenation as a read, and its integers."""
    ends = [*accumulate(x.shape[op.dimension] for x in operands)]
    return Joined(result.dtype.name, len(operands), result.ndim, op.dimension), ends[:-1]

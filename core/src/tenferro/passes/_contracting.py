"""One side of a contraction: an operand, and which of its axes are contracted, batch and free.

Read next: ``rewrites/contractions.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod

from tenferro._runtime.records import NamedTuple
from tenferro.passes._rewriter import Rewriter
from tenferro.primitives._aval import Shape
from tenferro.primitives._dtype import DType
from tenferro.primitives.contraction import DotGeneral

_MIN_PRODUCTS_PER_MATRIX = 4096  # from here a stack of matrix products is not slower


class Side(NamedTuple):
    """An operand of a contraction; paired axes stand at the same place on both sides."""

    value: int
    contract: tuple[int, ...]
    batch: tuple[int, ...]
    free: tuple[int, ...]

    @staticmethod
    def of(value: int, rank: int, contract: Sequence[int], batch: Sequence[int]) -> Side:
        """Make a side with its free axes in order."""
        free = [axis for axis in range(rank) if axis not in contract and axis not in batch]
        return Side(value, tuple(contract), tuple(batch), tuple(free))

    @staticmethod
    def both(rw: Rewriter, op: DotGeneral, operands: Sequence[int]) -> tuple[Side, Side]:
        """Return the two sides of a contraction."""
        x, y = operands
        return (
            Side.of(x, rw.avals[x].ndim, op.lhs_contract, op.lhs_batch),
            Side.of(y, rw.avals[y].ndim, op.rhs_contract, op.rhs_batch),
        )

    def renamed(self, value: int, names: Sequence[int]) -> Side:
        """Return the side of another value, in which each axis has another number."""

        def named(group: tuple[int, ...]) -> tuple[int, ...]:
            return tuple([names[axis] for axis in group])

        return Side(value, named(self.contract), named(self.batch), named(self.free))

    def without(self, value: int, dropped: Collection[int]) -> Side:
        """Return the side of a value that lacks these axes."""

        def left(group: tuple[int, ...]) -> tuple[int, ...]:
            kept = [axis for axis in group if axis not in dropped]
            return tuple([axis - sum(d < axis for d in dropped) for axis in kept])

        return Side(value, left(self.contract), left(self.batch), left(self.free))

    def contracting(self, places: Sequence[int]) -> Side:
        """Return the side with some of the batch axes contracted, too."""
        moved = tuple([self.batch[i] for i in places])
        kept = tuple([axis for i, axis in enumerate(self.batch) if i not in places])
        return Side(self.value, (*moved, *self.contract), kept, self.free)


def dot(rw: Rewriter, left: Side, right: Side, preferred: DType | None) -> int:
    """Emit the contraction of two sides."""
    operation = DotGeneral(left.contract, right.contract, left.batch, right.batch, preferred)
    return rw.emit(operation, left.value, right.value)


def is_worth_a_stack(
    shape: Shape, left: Sequence[int], right: Sequence[int], summed: Sequence[int]
) -> bool:
    """Return True if a sum of products over these axes is a contraction larger than its operands.

    A stack of small matrix products costs more than the product that it spares.
    """
    a, b, reduced = set(left), set(right), set(summed)
    if not (a & b & reduced) or not (a - b - reduced) or not (b - a - reduced):
        return False
    if any(axis not in a | b and shape[axis] != 1 for axis in summed):
        return False
    batch = (a & b) - reduced
    work = prod([shape[axis] for axis in (a | b) - batch])
    return not batch or work >= _MIN_PRODUCTS_PER_MATRIX

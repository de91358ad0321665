"""One side of a contraction: an operand, and which of its axes are contracted, batch and free.

Read next: ``rewrites/contractions.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from math import prod

from tenferro._runtime.records import NamedTuple
from tenferro.passes._rewriter import Rewriter
from tenferro.passes._shapes import merged_axes
from tenferro.primitives._aval import Shape
from tenferro.primitives._dtype import DType
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.structural import Reshape, Transpose

_MIN_PRODUCTS_PER_MATRIX = 4096  # from here a stack of matrix products is not slower


@lru_cache(maxsize=1024)
def _free(rank: int, contract: tuple[int, ...], batch: tuple[int, ...]) -> tuple[int, ...]:
    """Return the axes that are neither contracted nor batch axes; rules ask for them again."""
    return tuple([axis for axis in range(rank) if axis not in contract and axis not in batch])


class Side(NamedTuple):
    """An operand of a contraction; paired axes stand at the same place on both sides."""

    value: int
    contract: tuple[int, ...]
    batch: tuple[int, ...]
    free: tuple[int, ...]

    @staticmethod
    def of(value: int, rank: int, contract: Sequence[int], batch: Sequence[int]) -> Side:
        """Make a side with its free axes in order."""
        contract, batch = tuple(contract), tuple(batch)
        return Side(value, contract, batch, _free(rank, contract, batch))

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

    def split(self, rw: Rewriter, axes: Collection[int]) -> Side:
        """Return the side with some of its axes as they were before a reshape merged them."""
        groups = merges(rw, self.value)
        shape = rw.avals[self.value].shape
        source = rw.avals[rw.operands[self.value][0]].shape
        names: list[tuple[int, ...]] = []
        wide: list[int] = []
        for axis, group in enumerate(groups):
            sizes = [source[i] for i in group] if axis in axes else [shape[axis]]
            names.append(tuple(range(len(wide), len(wide) + len(sizes))))
            wide += sizes

        def named(group: tuple[int, ...]) -> tuple[int, ...]:
            return tuple([name for axis in group for name in names[axis]])

        value = rw.emit(Reshape(tuple(wide)), self.value)
        return Side(value, named(self.contract), named(self.batch), named(self.free))

    def shape_of(self, rw: Rewriter, axes: Sequence[int]) -> tuple[int, ...]:
        """Return the sizes of some axes."""
        shape = rw.avals[self.value].shape
        return tuple([shape[axis] for axis in axes])


def merges(rw: Rewriter, value: int) -> list[tuple[int, ...]]:
    """Return the axes that a reshape merged into each axis of a value; none of anything else."""
    if type(rw.operations[value]) is not Reshape:
        return []
    (source,) = rw.operands[value]
    return merged_axes(rw.avals[source].shape, rw.avals[value].shape) or []


def transposed(rw: Rewriter, value: int, order: tuple[int, ...]) -> int:
    """Return a value with its axes in this order."""
    return value if order == tuple(range(len(order))) else rw.emit(Transpose(order), value)


def dot(rw: Rewriter, left: Side, right: Side, preferred: DType | None) -> int:
    """Emit the contraction of two sides."""
    operation = DotGeneral(left.contract, right.contract, left.batch, right.batch, preferred)
    return rw.emit(operation, left.value, right.value)


def is_worth_a_stack(
    shape: Shape, left: Sequence[int], right: Sequence[int], summed: Sequence[int],
    *, is_vector: bool = False,
) -> bool:  # fmt: skip
    """Return True if a sum of products over these axes is a contraction larger than its operands.

    A stack of small matrix products costs more than the product that it spares. The right operand
    may be a vector, without axes of its own.
    """
    a, b, reduced = set(left), set(right), set(summed)
    if not (a & b & reduced) or not (a - b - reduced) or not (is_vector or b - a - reduced):
        return False
    if any(axis not in a | b and shape[axis] != 1 for axis in summed):
        return False
    batch = (a & b) - reduced
    work = prod([shape[axis] for axis in (a | b) - batch])
    return not batch or work >= _MIN_PRODUCTS_PER_MATRIX

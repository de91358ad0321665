"""Contraction on XLA: dot_general, always in the full precision of its dtype.

Without ``precision`` a GPU or TPU may multiply float32 in fewer bits; the highest is asked for in
every instruction, because the setting of JAX is the user's and none of our business.

XLA for the CPU copies an operand that has several free or several contracted axes into the order
of a matrix. Where such axes lie side by side the operand is a matrix already: it is reshaped, which
moves nothing. In float64 it also multiplies a left matrix of columns at half the speed (5.3 ms for
500 rows and columns, 2.6 ms with a copy, jax 0.10.2), so that large ones are copied into rows. A
barrier keeps XLA from merging the copy into the product, but XLA makes copies as early as it can:
those of the layers of a network would live as long as all of its activations. So no copy is larger
than the product. Read next: ``reduction.py``.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np
from jax import Array, lax

from tenferro.backend.lowering import Lowerings
from tenferro.primitives.contraction import DotGeneral
from tenferro_xla._mesh import mesh_in_force
from tenferro_xla._platform import is_for_cpu

lowerings = Lowerings()
Axes = tuple[int, ...]
#: Products from which a copy of the left matrix pays, and columns of the right one.
_MIN_PRODUCTS_TO_COPY, _MIN_COLUMNS_TO_COPY = 1 << 17, 16


class _Operand(NamedTuple):
    """An operand of a contraction with its axes by their roles."""

    array: Array
    contract: Axes
    batch: Axes

    @property
    def free(self) -> Axes:
        """The axes that the result keeps of this operand alone."""
        others = {*self.contract, *self.batch}
        return tuple([i for i in range(self.array.ndim) if i not in others])

    def merged(self, axes: Axes) -> _Operand:
        """Make one axis of several that lie side by side."""
        first, surplus = axes[0], len(axes) - 1
        shape = self.array.shape
        size = prod([shape[i] for i in axes])
        array = lax.reshape(self.array, (*shape[:first], size, *shape[first + len(axes) :]))

        def renumbered(old: Axes) -> Axes:
            kept = [i for i in old if i == first or i not in axes]
            return tuple([i - surplus if i > first else i for i in kept])

        return _Operand(array, renumbered(self.contract), renumbered(self.batch))

    def size(self, axes: Axes) -> int:
        """Return the number of elements along axes."""
        return prod([self.array.shape[i] for i in axes])

    def in_rows(self) -> _Operand:
        """Copy into the order batch, free, contracted axes."""
        order = (*self.batch, *self.free, *self.contract)
        turned = lax.transpose(self.array, order)
        array: Array = lax.optimization_barrier(turned)  # type: ignore[no-untyped-call]
        split = array.ndim - len(self.contract)
        return _Operand(array, tuple(range(split, array.ndim)), tuple(range(len(self.batch))))


@lowerings.register(DotGeneral)
def dot_general(op: DotGeneral, lhs: Array, rhs: Array) -> Array:
    """Contract; the result has the preferred dtype, and is summed in it."""
    left = _Operand(lhs, op.lhs_contract, op.lhs_batch)
    right = _Operand(rhs, op.rhs_contract, op.rhs_batch)
    kept = (*[lhs.shape[i] for i in (*left.batch, *left.free)], *[rhs.shape[i] for i in right.free])
    if mesh_in_force() is None:  # axes that are split over devices stay as they are
        left, right = _as_matrices(left, right)
        if is_for_cpu() and _is_slow(left, right):
            left = left.in_rows()
    found = lax.dot_general(
        left.array,
        right.array,
        ((left.contract, right.contract), (left.batch, right.batch)),
        precision=lax.Precision.HIGHEST,
        preferred_element_type=np.dtype(op.preferred.name) if op.preferred else lhs.dtype,
    )
    return lax.reshape(found, kept)


def _as_matrices(left: _Operand, right: _Operand) -> tuple[_Operand, _Operand]:
    """Merge the contracted axes of both operands and the free axes of each, where that is free."""
    if _are_adjacent(left.contract) and _are_adjacent(right.contract):
        left, right = left.merged(left.contract), right.merged(right.contract)
    if _are_adjacent(left.free):
        left = left.merged(left.free)
    if _are_adjacent(right.free):
        right = right.merged(right.free)
    return left, right


def _are_adjacent(axes: Axes) -> bool:
    """Return True for several axes, each next to the one before."""
    return len(axes) > 1 and axes == tuple(range(axes[0], axes[0] + len(axes)))


def _is_slow(left: _Operand, right: _Operand) -> bool:
    """Return True for a large float64 product whose left matrix lies in columns.

    The left matrix has no more elements than the product, so that a copy of it costs little memory.
    """
    if left.array.dtype != np.float64 or len(left.contract) != 1:
        return False
    if left.contract[0] == left.array.ndim - 1 or not left.free:
        return False
    columns, terms = right.size(right.free), left.size(left.contract)
    enough = terms * left.size(left.free) * columns >= _MIN_PRODUCTS_TO_COPY
    return enough and columns >= max(terms, _MIN_COLUMNS_TO_COPY)

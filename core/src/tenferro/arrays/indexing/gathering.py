"""Positions of all indexed axes together, as the primitives gather and scatter take them.

Read next: ``../functions/indexing.py``, ``../functions/assignment.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.errors import at_user_line
from tenferro.arrays.handle.array import Array
from tenferro.arrays.indexing.entries import known_leaf
from tenferro.arrays.indexing.errors import IndexKindError
from tenferro.arrays.indexing.plan import IndexPlan
from tenferro.arrays.promotion.broadcast import broadcast_shapes, stretch
from tenferro.primitives import (
    Aval,
    Gather,
    Shape,
    ShapeMismatchError,
    concatenate,
    int64,
    reshape,
)


class Gathering(NamedTuple):
    """Positions of all indexed axes together, as ``gather`` and ``scatter`` take them."""

    indices: Array  # [*shape, number of axes]
    axes: tuple[int, ...]  # the indexed axes of the box
    shape: Shape  # the joint shape of the positions
    first: int  # where that shape begins among the axes of the result

    def result_shape(self, box: Sequence[int]) -> Shape:
        """Return the shape that is read from a box, or written into it."""
        rest = [n for axis, n in enumerate(box) if axis not in self.axes]
        return (*rest[: self.first], *self.shape, *rest[self.first :])

    def window_axes(self, box: Sequence[int]) -> tuple[int, ...]:
        """Return the axes of the result that are axes of the box and not positions."""
        rank = len(box) - len(self.axes) + len(self.shape)
        inside = range(self.first, self.first + len(self.shape))
        return tuple(axis for axis in range(rank) if axis not in inside)


def gathering(plan: IndexPlan) -> Gathering:
    """Join the positions of a plan."""
    axes = tuple([axis for axis, _ in plan.advanced])
    given = [at for _, at in plan.advanced]
    shape = _joint_shape([tuple(at.shape) for at in given])
    first = 0 if plan.separated else axes[0]
    if any([isinstance(at, Array) for at in given]):
        return Gathering(_joined([_as_leaf(at) for at in given], shape), axes, shape, first)
    return Gathering(joined_positions(given, (*shape, len(axes))), axes, shape, first)


def joined_positions(given: Sequence[Any], shape: Shape) -> Array:
    """Return known positions as one input of this shape, side by side along its last axis.

    It is a memoryview, which belongs to no backend and may go to any.
    """
    if len(given) == 1:
        indices = given[0].reshape(shape)
    else:
        indices = sys.modules["numpy"].empty(shape, "int64")
        for i, at in enumerate(given):
            indices[..., i] = at
    return Array(known_leaf(memoryview(indices), Aval(shape, int64)))


def gather_from(box: Shape, at: Gathering, mode: str) -> Gather | None:
    """Return the operation that reads a box; None if an indexed axis is empty, and so is the
    result.
    """
    sizes = tuple([1 if axis in at.axes else n for axis, n in enumerate(box)])
    if any([box[axis] == 0 for axis in at.axes]):
        return None
    return Gather(at.window_axes(box), at.axes, at.axes, sizes, mode)


def _joint_shape(shapes: Sequence[Shape]) -> Shape:
    try:
        return broadcast_shapes(*shapes, function="indexing")
    except ShapeMismatchError as error:
        raise at_user_line(
            IndexKindError(
                "index arrays do not broadcast together\n"
                f"  got        shapes {', '.join(map(str, shapes))}\n"
                f"  need       {error.need}",
                index=tuple(shapes),
                shape=None,
            )
        ) from None


def _as_leaf(at: Any) -> Array:
    """Return positions as an input; a memoryview belongs to no backend and may go to any."""
    if isinstance(at, Array):
        return at
    return Array(known_leaf(memoryview(at), Aval(at.shape, int64)))


def _joined(given: Sequence[Array], shape: Shape) -> Array:
    parts = [reshape(stretch(at, shape), (*shape, 1)) for at in given]
    return parts[0] if len(parts) == 1 else concatenate(parts, len(shape))

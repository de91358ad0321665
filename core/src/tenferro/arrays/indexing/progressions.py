"""Evenly spaced positions: an index array such as ``np.arange(n) + 1`` reads and writes a box.

Reads, writes and their derivatives are then those of slices. Recognized are known positions along
one axis in a few progressions (``(i + 1) % n`` is two), a grid with one progression per axis, and a
diagonal of adjacent axes, which is a progression along the merged axis. This is asked under ``jit``
alone, which records once; un-jitted, positions are data of the program, and a loop that reads other
positions in each step compiles one program. Read next: ``plan.py``, ``gathering.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.handle.array import Array
from tenferro.arrays.indexing.plan import NEW_AXIS, IndexPlan
from tenferro.arrays.promotion.broadcast import broadcast_shapes
from tenferro.primitives import Shape, ShapeMismatchError

_MAX_PROGRESSIONS = 4  # a concatenation of more parts costs as much as a gather
_MIN_POSITIONS = 4  # per progression, where there are several


class Progression(NamedTuple):
    """Evenly spaced positions in the order of the index."""

    start: int
    size: int
    step: int  # never 0

    @property
    def low(self) -> int:
        """The smallest position."""
        return min(self.start, self.start + (self.size - 1) * self.step)


class Boxes(NamedTuple):
    """Boxes that hold the positions of an index, one behind the other along an axis."""

    plans: tuple[IndexPlan, ...]
    axis: int  # of the shape of each plan
    shape: Shape  # what the index reads, or what is written there


def boxes_of(plan: IndexPlan, shape: Shape) -> Boxes | None:
    """Return the boxes that an index of an array of this shape names; None if it names others."""
    given = [at for _, at in plan.advanced]
    if not plan.fixed or plan.separated or plan.mode is not None:
        return None
    if any([isinstance(at, Array) or not at.size for at in given]) or NEW_AXIS in plan.places:
        return None
    if len(given) == 1:
        return _along_one_axis(plan, given[0])
    return _of_a_grid(plan, given) or _of_a_diagonal(plan, given, shape)


# ---- progressions in an array of positions -------------------------------------------------------


def progressions_of(at: Any, most: int = 1) -> list[Progression] | None:
    """Return the progressions whose concatenation is a vector of positions; None if more."""
    n = at.size
    if n == 1:
        return [Progression(int(at[0]), 1, 1)]
    middle = n // 2
    step = int(at[middle]) - int(at[middle - 1])
    if step == 0 or not _may_be_even(at, step, most):
        return None
    is_break = (at[1:] - at[:-1]) != step
    count = int(is_break.sum())
    if count >= most:
        return None
    ends = [*(int(i) + 1 for i in is_break.nonzero()[0]), n] if count else [n]
    starts = [0, *ends[:-1]]
    return [
        Progression(int(at[a]), b - a, step if b - a > 1 else 1)
        for a, b in zip(starts, ends, strict=True)
    ]


def _may_be_even(at: Any, step: int, most: int) -> bool:
    """Reject most other arrays by three of their elements, whatever their size."""
    n = at.size
    if most == 1:
        return bool(at[n - 1] - at[0] == (n - 1) * step)
    quarter = max(n // 4, 1)
    return n < 4 * most or int(at[quarter]) - int(at[quarter - 1]) == step


# ---- positions along one axis --------------------------------------------------------------------


def _along_one_axis(plan: IndexPlan, at: Any) -> Boxes | None:
    found = progressions_of(at.reshape(-1), _MAX_PROGRESSIONS)
    if found is None or (len(found) > 1 and at.size < _MIN_POSITIONS * len(found)):
        return None
    axis, place = plan.advanced[0][0], plan.places[0]
    plans = []
    for each in found:
        part = plan.without_positions()
        _take(part, place, each)
        part.shape[axis] = each.size
        plans.append(part)
    result = (*plan.shape[:axis], *at.shape, *plan.shape[axis + 1 :])
    if len(plans) == 1:
        plans[0].shape[:] = result
    return Boxes(tuple(plans), axis, result)


def _take(plan: IndexPlan, place: int, found: Progression) -> None:
    """Take a progression along an axis of the box, which was taken whole."""
    plan.starts[place] = found.low
    plan.sizes[place] = found.size
    plan.strides[place] = abs(found.step) if found.size > 1 else 1
    if found.step < 0:
        plan.reversed_axes.append(place)


# ---- positions along several axes ----------------------------------------------------------------


def _joint_shape(given: Sequence[Any]) -> Shape | None:
    try:
        return broadcast_shapes(*[tuple(at.shape) for at in given], function="indexing")
    except ShapeMismatchError:
        return None  # the gather says what is wrong


def _are_adjacent(plan: IndexPlan) -> bool:
    first, place = plan.advanced[0][0], plan.places[0]
    count = len(plan.advanced)
    return [axis for axis, _ in plan.advanced] == [*range(first, first + count)] and (
        plan.places == [*range(place, place + count)]
    )


def _of_a_grid(plan: IndexPlan, given: Sequence[Any]) -> Boxes | None:
    """Recognize positions that move along one axis for each axis of their joint shape, in order."""
    joint = _joint_shape(given)
    if joint is None or len(joint) != len(given) or not _are_adjacent(plan):
        return None
    found = [_along(at, d, joint) for d, at in enumerate(given)]
    part = plan.without_positions()
    for each, place in zip(found, plan.places, strict=True):
        if each is None:
            return None
        _take(part, place, each)
    axis = plan.advanced[0][0]
    part.shape[axis : axis + len(given)] = joint
    return Boxes((part,), axis, tuple(part.shape))


def _along(at: Any, d: int, joint: Shape) -> Progression | None:
    """Return the progression along axis d, if the positions vary along no other axis."""
    axis = d - (len(joint) - at.ndim)
    if axis < 0 or at.shape[axis] != joint[d]:
        return None
    line = at[tuple([slice(None) if i == axis else 0 for i in range(at.ndim)])]
    found = progressions_of(line)
    if found is None or at.size == line.size:
        return None if found is None else found[0]
    lines = line.reshape([-1 if i == axis else 1 for i in range(at.ndim)])
    return found[0] if (at == lines).all() else None


def _of_a_diagonal(plan: IndexPlan, given: Sequence[Any], shape: Shape) -> Boxes | None:
    """Recognize positions that move along adjacent axes together: evenly along the merged axis."""
    if any([at.ndim != 1 for at in given]) or not _are_adjacent(plan):
        return None
    size = max([at.size for at in given])
    if any([at.size not in (1, size) for at in given]):
        return None
    each = [progressions_of(at) for at in given]
    if None in each:
        return None
    place, count, axis = plan.places[0], len(given), plan.advanced[0][0]
    merged = _merged([one[0] for one in each if one], shape[place : place + count], size)
    is_main = count == 2 and _is_main(plan, merged, shape, place)
    if merged.step == 0 or (plan.writing and not is_main):  # a scatter costs less
        return None
    part = plan.without_positions()
    part.diagonal = place if is_main else None
    for each_axis in part.starts, part.sizes, part.strides:
        del each_axis[place + 1 : place + count]
    part.reversed_axes = [a if a < place else a - count + 1 for a in part.reversed_axes]
    part.source = (*shape[:place], prod(shape[place : place + count]), *shape[place + count :])
    _take(part, place, merged)
    part.shape[axis : axis + count] = [size]
    return Boxes((part,), axis, tuple(part.shape))


def _is_main(plan: IndexPlan, merged: Progression, shape: Shape, place: int) -> bool:
    """Return True if all of the main diagonal is named, and all other axes are taken whole."""
    rows, columns = shape[place : place + 2]
    whole = tuple(plan.sizes) == shape and not plan.reversed_axes and len(plan.shape) == len(shape)
    return whole and merged == Progression(0, min(rows, columns), columns + 1)


def _merged(each: Sequence[Progression], sizes: Shape, count: int) -> Progression:
    """Return the positions along the merged axis."""
    start = step = 0
    for one, n in zip(each, sizes, strict=True):
        start = start * n + one.start
        step = step * n + (one.step if one.size > 1 else 0)
    return Progression(start, count, step if count > 1 else 1)

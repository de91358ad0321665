"""Counts of a mask: a sum over all axes of bools that became numbers reads the bools themselves.

``np.mean(x > 0)`` converts the mask to floating point and sums that; so does the derivative of a
maximum, which is shared by all equal elements. `np.count_nonzero` takes a fifth of the time, makes
no array, and is exact. Read next: `planner.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from tenferro.primitives import Aval
from tenferro.primitives.comparison import LogicalNot
from tenferro.primitives.reduction import ReduceSum
from tenferro.primitives.structural import Convert
from tenferro_numpy.ir.expression import Expression
from tenferro_numpy.ir.step import Step

__all__ = ["count_masks"]

#: what `np.count_nonzero` calls without axes, in half the time
_COUNT = getattr(import_module("numpy._core.multiarray"), "count_nonzero", np.count_nonzero)
#: dtypes of counts, and the elements up to which all of them are such numbers
_MOST_ELEMENTS = {"float32": 1 << 24, "float64": 1 << 53, "int32": (1 << 31) - 1, "int64": 1 << 62}


def count_masks(
    steps: Sequence[Step],
    candidates: Sequence[Step],
    avals: Sequence[Aval],
    operations: Sequence[Any],
    outputs: Collection[int],
    smallest_region: float,
) -> Sequence[Step]:
    """Count masks instead of summing them, and drop the conversions that nothing reads any more.

    Parameters
    ----------
    steps : sequence of Step
        The plan. Expressions of its sums are replaced in place.
    candidates : sequence of Step
        Those of `steps` that convert, negate or sum, in the order of the plan.
    avals, operations
        The avals of the program by slot, and its operations by position.
    outputs : collection of int
        Slots that the caller reads.
    smallest_region : float
        Masks of so many elements or more are left alone: they may be made, converted and summed
        tile by tile in a region, which makes no array of them.
    """
    makers: dict[int, Step] = {}  # slot → the conversion or negation that makes it
    bypassed: set[int] = set()  # slots between a mask and its count
    for step in candidates:
        op = step.operation_of(operations)
        if type(op) in (Convert, LogicalNot):
            makers[step.targets[0]] = step
        elif type(op) is ReduceSum and avals[step.operands[0]].size < smallest_region:
            bypassed |= _count_instead(step, avals, operations, makers)
    return _without(steps, bypassed, outputs) if bypassed else steps


def _count_instead(
    step: Step, avals: Sequence[Aval], operations: Sequence[Any], makers: dict[int, Step]
) -> set[int]:
    """Make a sum of a converted mask read the mask itself, and count.

    A negated mask is not made either: its count is the size minus the count of its operand. Return
    the slots that the sum no longer reads, none if it has to stay a sum.
    """
    (slot,) = step.operands
    aval, result = avals[slot], avals[step.targets[0]]
    converted = makers.get(slot)
    if (
        converted is None
        or result.shape
        or not aval.shape
        or type(converted.operation_of(operations)) is not Convert
    ):
        return set()
    mask = converted.operands[0]
    if not avals[mask].dtype.is_bool or aval.size > _MOST_ELEMENTS.get(result.dtype.name, -1):
        return set()
    number, bypassed = np.dtype(result.dtype.name).type, {slot}
    inverted = makers.get(mask)
    if inverted is None or type(inverted.operation_of(operations)) is not LogicalNot:
        step.expression = Expression("{p0}({p1}({0}))", (number, _COUNT))
    else:
        bypassed.add(mask)
        (mask,) = inverted.operands
        step.expression = Expression("{p0}({p2} - {p1}({0}))", (number, _COUNT, aval.size))
    step.operands = (mask,)
    return bypassed


def _without(
    steps: Sequence[Step], slots: Collection[int], outputs: Collection[int]
) -> Sequence[Step]:
    """Drop the steps that make these slots, except those that something else reads."""
    reads = Counter([*outputs, *[slot for step in steps for slot in step.operands]])
    kept = []
    for step in reversed(steps):
        if step.targets[0] in slots and not reads[step.targets[0]]:
            reads.subtract(step.operands)
        else:
            kept.append(step)
    return kept[::-1]

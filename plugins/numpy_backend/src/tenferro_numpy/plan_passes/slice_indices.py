"""A slice, and the view of it without its axes of length 1, as one index.

``x[t]`` is a slice of one row, and a reshape that drops its axis: two calls and two array objects.
NumPy takes the row by one index, in a quarter of the time. Loops that were unrolled read each row
of their arrays so, and so do the derivatives of what stacks rows.
Read next: `lowerings/structural.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from tenferro.primitives.structural import Slice
from tenferro_numpy.ir.expression import VIEW_BY_UNIT_AXES, Expression
from tenferro_numpy.ir.step import Step

__all__ = ["join_indices"]

_ALL = slice(None)


def join_indices(
    steps: Sequence[Step], operations: Sequence[Any], outputs: Collection[int]
) -> Sequence[Step]:
    """Return the steps with one index instead of a slice that only such views read.

    `operations` are those of the program by position. The index stands where the slice stood, so
    that a step between them may still write over the sliced array.
    """
    views = _views_of_slices(steps, operations, outputs)
    if not views:
        return steps
    found: list[Step] = []
    for step in steps:
        if step.targets[0] in views:
            found += [_joined(step, view) for view in views[step.targets[0]]]
        elif views.keys().isdisjoint(step.operands):
            found.append(step)
    return found


def _views_of_slices(
    steps: Sequence[Step], operations: Sequence[Any], outputs: Collection[int]
) -> dict[int, list[Step]]:
    """Return, for each slice that only views drop or add axes of, these views."""
    slices = {step.targets[0] for step in steps if _is_slice(step, operations)}
    if not slices:
        return {}
    views: dict[int, list[Step]] = {}
    for step in steps:
        if step.expression.template != VIEW_BY_UNIT_AXES:
            slices.difference_update(step.operands)
        elif step.operands[0] in slices:
            views.setdefault(step.operands[0], []).append(step)
    return {slot: found for slot, found in views.items() if slot in slices.difference(outputs)}


def _is_slice(step: Step, operations: Sequence[Any]) -> bool:
    """Return True for a slice that still is the line of its own lowering."""
    line = step.expression
    is_index = line.template == "{0}[{p0}]" and line.shares
    return is_index and type(step.operation_of(operations)) is Slice


def _joined(sliced: Step, view: Step) -> Step:
    """Return the step that takes a view of a slice from the sliced array.

    Its first position is that of the view, whose aval the result has.
    """
    parts = iter(sliced.expression.bound[0])
    index: list[Any] = []
    for entry in view.expression.bound[1]:
        if entry is None:
            index.append(None)
        else:
            part = next(parts, _ALL)
            index.append((part.start or 0) if entry == 0 else part)
    line = Expression("{0}[{p0}]", ((*index, *parts),), shares=True)
    return Step(line, sliced.operands, view.targets, (*view.positions, *sliced.positions))

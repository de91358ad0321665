"""Transposed arrays with a short axis are copied where elementwise lines read them.

A ufunc runs along the axis whose elements are neighbours in memory. In a view of an [n, 3] array as
[3, n] that axis has three elements, and what is combined with it is read in as many small loops. So
it is in a view of an [m, n, 3] array as [n, m, 3] that its reader repeats many times.
Read next: `planner.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tenferro.primitives import Aval
from tenferro.primitives.structural import Transpose
from tenferro_numpy.ir.expression import Expression
from tenferro_numpy.ir.step import Step

__all__ = ["copy_short_axes"]

_MAX_SHORT_AXIS = 16  # elements
_MIN_REPEATS = 4  # of a view by its reader, from which a copy costs less than its rows


def copy_short_axes(steps: list[Step], avals: Sequence[Aval], operations: Sequence[Any]) -> None:
    """Make row-major arrays of such views; expressions are replaced in place."""
    views = {
        step.targets[0]: step
        for step in steps
        if step.expression.shares
        and type(step.operation_of(operations)) is Transpose
        and (
            _turns_short_axis(operations[step.positions[0]], avals[step.targets[0]])
            or _parts_short_rows(operations[step.positions[0]], avals[step.targets[0]])
        )
    }
    if not views:
        return
    of = {slot: slot for slot in views}  # views of these views, too: the transposition behind each
    read: set[int] = set()
    for step in steps:
        for slot in step.operands:
            if slot in of and step.is_elementwise:
                view = views[of[slot]]
                repeats = avals[step.targets[0]].size // max(avals[of[slot]].size, 1)
                if repeats >= _MIN_REPEATS or _turns_short_axis(
                    operations[view.positions[0]], avals[of[slot]]
                ):
                    read.add(of[slot])
            elif slot in of and step.shares and len(step.targets) == 1:
                of[step.targets[0]] = of[slot]
    for slot in read:
        axes = operations[views[slot].positions[0]].permutation
        template = '{p0}({0}.transpose({p1}), order="C")'
        views[slot].expression = Expression(template, (np.array, axes))


def _turns_short_axis(operation: Transpose, result: Aval) -> bool:
    """Return True if the neighbours in memory lie along a short axis, and not the last one."""
    last = len(operation.permutation) - 1
    place = operation.permutation.index(last)
    return place != last and result.shape[place] <= _MAX_SHORT_AXIS < result.shape[last]


def _parts_short_rows(operation: Transpose, result: Aval) -> bool:
    """Return True if short rows lie in memory next to others than in the result."""
    last = len(operation.permutation) - 1
    if last < 2 or operation.permutation[last] != last:
        return False
    beside = operation.permutation[last - 1] == last - 1
    return not beside and 1 < result.shape[last] <= _MAX_SHORT_AXIS

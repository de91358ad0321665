"""Transposed arrays with a short axis are copied where elementwise lines read them.

A ufunc runs along the axis whose elements are neighbours in memory. In a view of an [n, 3] array as
[3, n] that axis has three elements, and what is combined with it is read in as many small loops.
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


def copy_short_axes(steps: list[Step], avals: Sequence[Aval], operations: Sequence[Any]) -> None:
    """Make row-major arrays of such views; expressions are replaced in place."""
    views = {
        step.targets[0]: step
        for step in steps
        if type(operations[step.positions[0]]) is Transpose
        and step.expression.shares
        and _turns_short_axis(operations[step.positions[0]], avals[step.targets[0]])
    }
    if not views:
        return
    of = {slot: slot for slot in views}  # views of these views, too: the transposition behind each
    read: set[int] = set()
    for step in steps:
        for slot in step.operands:
            if slot in of and step.is_elementwise:
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

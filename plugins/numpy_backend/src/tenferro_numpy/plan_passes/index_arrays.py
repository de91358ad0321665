"""Index arrays are read as they are where they name elements from the front, as most do.

A program counts negative indices from the end: `where(i < 0, i + n, i)`. One look at the smallest
index shows that there are none, and costs less than any of these three steps. A gather reads the
indices before they got an axis of length 1, and scatters of several values to the same places ask
once whether all of them exist. Read next: `lowerings/indexing.py`, `constant_scatter.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from tenferro.primitives import Aval, int64
from tenferro.primitives.arithmetic import Add
from tenferro.primitives.comparison import Lt, Select
from tenferro.primitives.constants import Constant
from tenferro.primitives.indexing import Gather
from tenferro.primitives.structural import Reshape
from tenferro_numpy.ir.expression import Expression
from tenferro_numpy.ir.literals import is_zero
from tenferro_numpy.ir.step import Step
from tenferro_numpy.lowerings.indexing import taken
from tenferro_numpy.plan_passes.constant_scatter import count_from, places_below

__all__ = ["read_index_arrays"]


def read_index_arrays(
    steps: Sequence[Step],
    avals: list[Aval],
    operations: Sequence[Any],
    literals: Mapping[int, Any],
    outputs: Collection[int],
) -> list[Step]:
    """Return the steps with fewer of them for each index array; checked places get new slots.

    `operations` are those of the program by position.
    """
    program = _Program(steps, avals, operations, literals)
    for step in steps:
        op = program.operation(step)
        if type(op) is Select:
            program.count_from_the_front(step)
        elif type(op) is Gather:
            program.take_at_once(step, op)
    checked = program.checked_once()
    reads = Counter(slot for step in steps for slot in step.operands)
    reads.update(outputs)
    kept: list[Step] = []
    for step in reversed(steps):  # a step that nothing reads any more keeps no other one
        if step in program.idle and not reads[step.targets[0]]:
            reads.subtract(step.operands)
        else:
            kept += [step, *checked.get(step, ())]
    return kept[::-1]


class _Program:
    """The steps of a program, and those that its index arrays may no longer need."""

    def __init__(
        self,
        steps: Sequence[Step],
        avals: list[Aval],
        operations: Sequence[Any],
        literals: Mapping[int, Any],
    ) -> None:
        self.steps, self.avals = steps, avals
        self.operations, self.literals = operations, literals
        self.makers = {step.targets[0]: step for step in steps if len(step.targets) == 1}
        self.idle: set[Step] = set()

    def operation(self, step: Step | None) -> Any:
        """Return the operation of a step if it is ours to rewrite."""
        return None if step is None else step.operation_of(self.operations)

    def made_by(self, slot: int, kind: type) -> Step | None:
        """Return the step that makes a value by an operation of this kind."""
        step = self.makers.get(slot)
        return step if step is not None and type(self.operation(step)) is kind else None

    def count_from_the_front(self, step: Step) -> None:
        """Let `where(i < 0, i + n, i)` look at the smallest index before it computes anything."""
        if len(step.operands) != 3:
            return
        condition, moved, i = step.operands
        negative, added = self.made_by(condition, Lt), self.made_by(moved, Add)
        aval = self.avals[i]
        if negative is None or added is None or not (aval.shape and aval.size):
            return
        size = self.literals.get(added.operands[1])
        if not isinstance(size, Constant) or not aval.dtype.is_integer:
            return
        if not is_zero(self.literals.get(negative.operands[1])):
            return
        if negative.operands[0] == i == added.operands[0]:
            number = np.array(size.value, aval.dtype.name)
            line = "({0} if {0}.item({0}.argmin()) >= 0 else {p0}({0}, {p1}))"
            step.expression = Expression(line, (_from_the_front, number), shares=True)
            step.operands = (i,)
            self.idle.update((negative, added))

    def take_at_once(self, step: Step, op: Gather) -> None:
        """Let a gather read the indices before they got an axis of length 1."""
        if not step.expression.template.startswith("{0}.take({1}."):
            return
        reshape = self.made_by(step.operands[1], Reshape)
        if reshape is None:
            return
        source = reshape.operands[0]
        batch = self.avals[step.operands[1]].shape[:-1]
        if batch and self.avals[source].shape == batch:
            step.expression = taken(op, batch, is_reshaped=True)
            step.operands = (step.operands[0], source)
            self.idle.add(reshape)

    def checked_once(self) -> dict[Step, list[Step]]:
        """Let counts at the same places check them once, in steps before the first ones."""
        counts: dict[tuple[int, int], list[Step]] = {}
        for step in self.steps:
            size = count_from(step.expression)
            if size is not None:
                reshape = self.made_by(step.operands[0], Reshape)
                source = step.operands[0] if reshape is None else reshape.operands[0]
                counts.setdefault((source, size), []).append(step)
                self.idle.update(() if reshape is None else (reshape,))
        return {
            steps[0]: [self._checked(source, size, steps)]
            for (source, size), steps in counts.items()
            if len(steps) > 1 and self.avals[source].shape
        }

    def _checked(self, source: int, size: int, steps: Sequence[Step]) -> Step:
        """Return the step that checks the places of counts, which read its result."""
        places = len(self.avals)
        self.avals.append(Aval((self.avals[source].size,), int64))
        for step in steps:
            is_flat = self.avals[step.operands[1]].ndim == 1
            values = "{1}" if is_flat else "{1}.reshape({p2})"
            bound = (np.bincount, size) if is_flat else (np.bincount, size, -1)
            step.expression = Expression(f"{{p0}}({{0}}, {values}, {{p1}})", bound)
            step.operands = (places, step.operands[1])
        check = Expression("{p0}({0})", (partial(places_below, size),), shares=True)
        if self.avals[source].dtype is int64:
            flat = "{0}" if self.avals[source].ndim == 1 else "{0}.reshape({p2})"
            text = "{0}.item({0}.argmax()) < {p1} and {0}.item({0}.argmin()) >= 0"
            text = f"({flat} if {text} else {{p0}}({{p1}}, {{0}}))"
            check = Expression(text, (places_below, size, -1), shares=True)
        return Step(check, (source,), (places,), ())


def _from_the_front(i: Any, size: Any) -> Any:
    """Count negative indices from the end."""
    return np.where(np.less(i, 0), np.add(i, size), i)

"""Sums with padded terms: only the window is added.

The transpose of a slice is a pad with zeros, and transposes are summed: an array of zeros would be
written and read for each. Here a padded term waits for the sum that reads it, and is added to a
window of the other term: in its memory where that is nobody else's (`_reuse.py`), else in a copy.
Where nothing is added, a zero keeps its sign. Read next: `_reuse.py`, `_plan.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tenferro.primitives import Aval
from tenferro.primitives.arithmetic import Add, Sub
from tenferro.primitives.structural import Pad
from tenferro_numpy._expression import Expression, simple
from tenferro_numpy._steps import Step

__all__ = ["add_windows"]

_WAITING = 8  # padded terms that may wait together; their operands stay alive meanwhile

Window = tuple[slice, ...]


class _Term(NamedTuple):
    """A padded term: its step, where its operand goes, and the positions of its instructions."""

    step: Step
    window: Window
    positions: tuple[int, ...]


def add_windows(
    steps: Sequence[Step],
    avals: list[Aval],
    operations: Sequence[Any],
    literals: Mapping[int, Any],
    outputs: Collection[int],
) -> list[Step]:
    """The steps, in which padded terms of sums are added to windows; avals of new slots appended.

    `operations` are those of the program by position.
    """
    pads = [step for step in steps if _operation(step, operations, Pad)]
    if not pads:
        return list(steps)
    return _Rewriting(steps, avals, operations, literals, outputs).run()


def _operation(step: Step, operations: Sequence[Any], *kinds: type) -> Any:
    """The operation of a step if it is of one of these classes and ours to rewrite."""
    op = operations[step.positions[0]] if len(step.positions) == 1 else None
    return op if type(op) in kinds and not step.expression.foreign else None


class _Rewriting:
    def __init__(
        self,
        steps: Sequence[Step],
        avals: list[Aval],
        operations: Sequence[Any],
        literals: Mapping[int, Any],
        outputs: Collection[int],
    ) -> None:
        self.steps = steps
        self.avals = avals
        self.operations = operations
        self.literals = literals
        self.waiting: dict[int, list[_Term]] = {}
        self.done: list[Step] = []
        self.reads = Counter(slot for step in steps for slot in step.operands)
        self.reads.update(outputs)
        summed = Counter(
            slot
            for step in steps
            if _operation(step, operations, Add, Sub)
            for slot in step.operands
        )
        self.summed = {slot for slot in summed if summed[slot] == self.reads[slot]}

    def run(self) -> list[Step]:
        """The new steps."""
        for step in self.steps:
            if _operation(step, self.operations, Pad):
                self.pad(step)
            elif self.waiting and _operation(step, self.operations, Add, Sub):
                self.sum(step)
            else:
                self.done.append(step)
        return self.done

    def pad(self, step: Step) -> None:
        """Let a padded term wait for its sum, if it has one and is padded with zeros."""
        window = self.window(step)
        if window is None or step.targets[0] not in self.summed:
            self.done.append(step)
        else:
            self.waiting[step.targets[0]] = [_Term(step, window, step.positions)]

    def window(self, step: Step) -> Window | None:
        """Where the operand of a pad goes; None where it is cropped or not padded with zeros."""
        op = self.operations[step.positions[0]]
        x, value = step.operands
        shape = self.avals[x].shape
        zero = getattr(self.literals.get(value), "value", 1) == 0
        if not zero or not shape or 0 in shape or min(*op.low, *op.high) < 0:
            return None
        return tuple(
            [
                slice(low, low + (size - 1) * (interior + 1) + 1, interior + 1)
                for low, size, interior in zip(op.low, shape, op.interior, strict=True)
            ]
        )

    def sum(self, step: Step) -> None:
        """Add the terms that wait for this sum, or let them wait for the next."""
        left, right = step.operands
        first, second = self.waiting.get(left, []), self.waiting.get(right, [])
        subtracts = type(self.operations[step.positions[0]]) is Sub
        target = step.targets[0]
        if not (first or second) or (first and second and subtracts):
            sides = ((left, first), (right, second))
            step.operands = tuple([self.begin(terms) if terms else i for i, terms in sides])
            self.done.append(step)
        elif first and subtracts:
            negative = self.new_like(target)
            self.done.append(Step(simple(np.negative, 1), (right,), (negative,), ()))
            self.combine(_adding, negative, first, step)
        elif not (first and second):
            base, terms = (left, second) if second else (right, first)
            self.combine(_subtracting if subtracts else _adding, base, terms, step)
        elif self.may_wait(target, len(first) + len(second)):
            (*rest, last) = (*first, *second)
            last = last._replace(positions=(*last.positions, *step.positions))
            self.waiting[target] = [*rest, last]
        else:
            self.combine(_adding, self.begin(first), second, step)

    def may_wait(self, slot: int, count: int) -> bool:
        """Whether a sum of padded terms is left to the one sum that reads it."""
        return slot in self.summed and self.reads[slot] == 1 and count <= _WAITING

    def begin(self, terms: Sequence[_Term]) -> int:
        """The slot of a sum of terms: the first as it is padded, the others added to it."""
        first, *rest = terms
        slot = self.new_like(first.step.targets[0])
        pad = first.step
        self.done.append(Step(pad.expression, pad.operands, (slot,), first.positions))
        if not rest:
            return slot
        target = self.new_like(slot)
        self.combine(_adding, slot, rest, Step(pad.expression, (), (target,), ()))
        return target

    def combine(
        self, function: Callable[[Window], Expression], base: int, terms: Sequence[_Term], to: Step
    ) -> None:
        """Combine one slot with terms, to the target of a step."""
        for term in terms:
            is_last = term is terms[-1]
            target = to.targets[0] if is_last else self.new_like(to.targets[0])
            positions = (*term.positions, *to.positions) if is_last else term.positions
            line = function(term.window)
            self.done.append(Step(line, (base, term.step.operands[0]), (target,), positions))
            base = target

    def new_like(self, slot: int) -> int:
        """A new slot of the same shape and dtype."""
        self.avals.append(self.avals[slot])
        return len(self.avals) - 1


def _line(function: Any, window: Window) -> Expression:
    in_place = Expression("{p0}({0}, {1}, {p1})", (function.in_place, window), memory_of=0)
    return Expression("{p0}({0}, {1}, {p1})", (function, window), update=in_place)


class _Combining:
    """Combine a window of an array with another: in a copy, or in place."""

    def __init__(self, function: np.ufunc) -> None:
        self.function = function

    def __call__(self, x: Any, piece: Any, window: Window) -> Any:
        """In a copy."""
        return self.in_place(x.copy(), piece, window)

    def in_place(self, x: Any, piece: Any, window: Window) -> Any:
        """In the array itself."""
        part = x[window]
        self.function(part, piece, part)
        return x


def _adding(window: Window) -> Expression:
    return _line(_add, window)


def _subtracting(window: Window) -> Expression:
    return _line(_subtract, window)


_add, _subtract = _Combining(np.add), _Combining(np.subtract)

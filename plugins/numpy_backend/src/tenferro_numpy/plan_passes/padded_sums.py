"""Sums with padded terms: only the window is added.

The transpose of a slice is a pad with zeros, and transposes are summed: an array of zeros would be
written and read for each. Here a padded term waits for the sum that reads it, and is added to a
window of the other term: in its memory if it has no other reference (`memory/reuse.py`), else in a
copy. Where nothing is added, a zero keeps its sign. What a diagonal is padded with may also be 0·s,
which is nan if the number s is not finite: only then is it added to all elements. Read next:
`memory/reuse.py`, `planner.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from tenferro.backend.extend import NamedTuple
from tenferro.primitives import Aval
from tenferro.primitives.arithmetic import Add, Mul, Sub
from tenferro.primitives.structural import Pad
from tenferro_numpy.ir.expression import Expression, simple
from tenferro_numpy.ir.step import Step

__all__ = ["add_windows"]

_WAITING = 8  # padded terms that may wait together; their operands stay alive meanwhile
_MAX_STEPS_TO_WAIT = 64  # steps that they may wait

Window = tuple[slice, ...]


class _Term(NamedTuple):
    """A padded term: its step, where its operand goes, how, and the positions it stands for.

    filler   the slot of what it is padded with, if that is 0·s
    """

    step: Step
    window: Window
    positions: tuple[int, ...]
    function: _Combining
    filler: int | None = None

    def line(self) -> Expression:
        """Return the line that adds the term to the first operand."""
        bound = self.function, self.window
        in_place = self.function.in_place, self.window
        text = "{p0}({0}, {1}, {p1})" if self.filler is None else "{p0}({0}, {1}, {p1}, {2})"
        return Expression(text, bound, update=Expression(text, in_place, memory_of=0))

    def operands(self, base: int) -> tuple[int, ...]:
        """Return the operands of that line."""
        piece = self.step.operands[0]
        return (base, piece) if self.filler is None else (base, piece, self.filler)


class _Sum(NamedTuple):
    """Pending part of a sum: a slot, if there is one, and padded terms."""

    base: int | None
    terms: tuple[_Term, ...]


def add_windows(
    steps: Sequence[Step],
    avals: list[Aval],
    operations: Sequence[Any],
    literals: Mapping[int, Any],
    outputs: Collection[int],
) -> list[Step]:
    """Add padded terms of sums to windows; append the avals of new slots.

    `operations` are those of the program by position.
    """
    pads = [step for step in steps if _operation(step, operations, Pad)]
    if not pads:
        return list(steps)
    return _Rewriting(steps, avals, operations, literals, outputs).run()


def _operation(step: Step, operations: Sequence[Any], *kinds: type) -> Any:
    """Return the operation of a step if it is of one of these classes and may be rewritten."""
    op = step.operation_of(operations)
    return op if type(op) in kinds else None


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
        self.waiting: dict[int, _Sum] = {}
        self.now = 0
        self.done: list[Step] = []
        self.reads = Counter(slot for step in steps for slot in step.operands)
        self.reads.update(outputs)
        self.maker = {step.targets[0]: step for step in steps if not avals[step.targets[0]].shape}
        self.summed: Counter[int] = Counter()  # how many sums read a slot
        self.reader: dict[int, int] = {}  # the last of them
        for position, step in enumerate(steps):
            if _operation(step, operations, Add, Sub):
                self.summed.update(step.operands)
                self.reader.update(dict.fromkeys(step.operands, position))

    def run(self) -> list[Step]:
        """Return the new steps."""
        for position, step in enumerate(self.steps):
            self.now = position
            if _operation(step, self.operations, Pad):
                self.pad(step)
            elif self.waiting and _operation(step, self.operations, Add, Sub):
                self.sum(step)
            else:
                self.done.append(step)
        return self.done

    def pad(self, step: Step) -> None:
        """Let a padded term wait for its sum, if it has one and is padded with zeros."""
        window, target = self.window(step), step.targets[0]
        if window is None or self.summed[target] < self.reads[target]:
            self.done.append(step)
        else:
            filler = None if self.is_zero(step.operands[1]) else step.operands[1]
            term = _Term(step, window, step.positions, _add, filler)
            self.waiting[target] = _Sum(None, (term,))

    def is_zero(self, slot: int) -> bool:
        """Return True for a literal zero."""
        return bool(getattr(self.literals.get(slot), "value", 1) == 0)

    def is_zero_or_nan(self, slot: int) -> bool:
        """Return True for 0·s."""
        made = self.maker.get(slot)
        product = None if made is None else _operation(made, self.operations, Mul)
        return made is not None and product is not None and any(map(self.is_zero, made.operands))

    def window(self, step: Step) -> Window | None:
        """Return where the operand of a pad goes; None if it is cropped or not padded with
        zeros.
        """
        op = self.operations[step.positions[0]]
        x, value = step.operands
        shape = self.avals[x].shape
        zero = self.is_zero(value) or self.is_zero_or_nan(value)
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
        first, second = self.waiting.get(left), self.waiting.get(right)
        if first is None and second is None:
            self.done.append(step)
            return
        first, second = first or _Sum(left, ()), second or _Sum(right, ())
        terms, negated = first.terms, second.terms
        if type(self.operations[step.positions[0]]) is Sub:
            negated = tuple([term._replace(function=_opposite(term)) for term in negated])
        before = len(self.done)
        base = self.base(step, first.base, second.base)
        *rest, last = (*terms, *negated)
        if before == len(self.done):
            last = last._replace(positions=(*last.positions, *step.positions))
        total = _Sum(base, (*rest, last))
        if self.may_wait(step.targets[0], len(total.terms)):
            self.waiting[step.targets[0]] = total
        else:
            self.write(total, step.targets[0])

    def base(self, step: Step, left: int | None, right: int | None) -> int | None:
        """Return the sum of the terms without padding."""
        if left is None and right is not None and _operation(step, self.operations, Sub):
            return self.negative(right, step.positions)
        if left is None or right is None:
            return right if left is None else left
        slot = self.new_like(step.targets[0])
        self.done.append(Step(step.expression, (left, right), (slot,), step.positions))
        return slot

    def may_wait(self, slot: int, count: int) -> bool:
        """Return True if terms are left to the one sum that reads them, because it follows soon."""
        only = self.reads[slot] == self.summed[slot] == 1
        return only and count <= _WAITING and self.reader[slot] - self.now <= _MAX_STEPS_TO_WAIT

    def write(self, total: _Sum, target: int) -> None:
        """Write a sum: the first term as it is padded if there is nothing else."""
        base, terms = total.base, list(total.terms)
        if base is None:
            terms.sort(key=lambda term: term.function is not _add)
            first = terms.pop(0)
            pad, base = first.step, self.new_like(target)
            self.done.append(Step(pad.expression, pad.operands, (base,), first.positions))
            if first.function is not _add:
                base = self.negative(base, ())
        for term in terms:
            slot = target if term is terms[-1] else self.new_like(target)
            self.done.append(Step(term.line(), term.operands(base), (slot,), term.positions))
            base = slot

    def negative(self, slot: int, positions: tuple[int, ...]) -> int:
        """Emit the negative of a slot."""
        negative = self.new_like(slot)
        self.done.append(Step(simple(np.negative, 1), (slot,), (negative,), positions))
        return negative

    def new_like(self, slot: int) -> int:
        """Add a slot of the same shape and dtype."""
        self.avals.append(self.avals[slot])
        return len(self.avals) - 1


class _Combining:
    """Combine a window of an array with another: in a copy, or in place."""

    def __init__(self, function: np.ufunc) -> None:
        self.function = function

    def __call__(self, x: Any, piece: Any, window: Window, filler: Any = 0) -> Any:
        """Update a copy."""
        return self.in_place(x.copy(), piece, window, filler)

    def in_place(self, x: Any, piece: Any, window: Window, filler: Any = 0) -> Any:
        """Update the array itself; elsewhere, combine it with the filler unless that is 0."""
        part = x[window]
        if filler == 0:
            self.function(part, piece, part)
            return x
        inside = self.function(part, piece)
        self.function(x, filler, x)
        part[...] = inside
        return x


_add, _subtract = _Combining(np.add), _Combining(np.subtract)


def _opposite(term: _Term) -> _Combining:
    return _subtract if term.function is _add else _add

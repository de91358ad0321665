"""In which form lines read values of rank 0: as Python's own numbers, NumPy's, or arrays.

Lines that have a form on Python's numbers (`python_scalars.py`) and feed each other are taken
together or not at all: a function of `math` always, so that a value has the same bits in every
program; mere operators where they save more than the conversions at the border cost. Read next:
`planner.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from tenferro.primitives import Aval
from tenferro_numpy.ir.expression import Expression
from tenferro_numpy.ir.step import Step

__all__ = ["as_arrays", "unbox"]

_UNBOX_COST, _BOX_COST = 20, 60  # nanoseconds
_WORTH_AN_ARRAY = 2  # reads
_as_array = Expression("{p0}({0})", (np.asarray,), shares=True)
_TO_NUMBER = {
    name: Expression("{p0}({0})", (kind,)) for name, kind in (("float64", float), ("bool", bool))
}
_TO_NUMPY = {
    name: Expression("{p0}({0})", (kind,))
    for name, kind in (("float64", np.float64), ("bool", np.bool_))
}


def unbox(
    steps: Sequence[Step],
    avals: list[Aval],
    free: Collection[int],
    numbers: Collection[int] = (),
    linked: Mapping[int, int] | None = None,
) -> tuple[list[Step], set[int]]:
    """Insert conversions, and return the steps and the slots that hold Python numbers.

    The avals of new slots are appended. ``numbers`` are slots that hold such numbers already.
    ``free`` are slots that are there in both forms: literals,
    and what a loop only reads. ``linked`` are the inputs of a loop's body that have the form of
    another slot: carries, and what they become.
    """
    possible: dict[int, Step | None] = {
        slot: step for step in steps if step.expression.scalar is not None for slot in step.targets
    }
    linked = _possible_carries(linked or {}, possible, {*free, *numbers})
    possible.update(dict.fromkeys(linked))
    if not (possible or numbers):
        return list(steps), set()
    worthwhile = _Groups(possible, free, linked).worthwhile(steps, numbers)
    if not (worthwhile or numbers):
        return list(steps), set()
    border = _Border(avals, free)
    border.numbers.update(worthwhile, numbers)
    return border.rewrite(steps), border.numbers


def _possible_carries(
    linked: Mapping[int, int], possible: Collection[int], free: Collection[int]
) -> dict[int, int]:
    """Return the carries that may be Python numbers, because what they become may be."""
    found = dict(linked)
    while True:
        fewer = {
            slot: other
            for slot, other in found.items()
            if other in possible or other in free or other in found
        }
        if len(fewer) == len(found):
            return found
        found = fewer


def as_arrays(steps: Sequence[Step], avals: list[Aval], literals: Collection[int]) -> list[Step]:
    """Convert scalars to arrays once, if several elementwise lines combine them with arrays.

    A ufunc reads an array of rank 0 faster than a scalar, which it converts each time; `np.where`
    takes longer to convert a scalar than `np.asarray` does.
    """
    scalars = {slot for slot, aval in enumerate(avals) if not aval.shape}.difference(literals)
    if not scalars:
        return list(steps)
    readers = [
        (position, step)
        for position, step in enumerate(steps)
        if not scalars.isdisjoint(step.operands)
        and avals[step.targets[0]].shape
        and step.expression.into
    ]
    found = [step for _, step in readers] + [step for _, step in readers if _selects(step)]
    reads = Counter([slot for step in found for slot in step.operands if slot in scalars])
    often = {slot for slot, count in reads.items() if count >= _WORTH_AN_ARRAY}
    made: dict[int, int] = {}
    done: list[Step] = []
    begin = 0
    for position, step in readers:
        for slot in step.operands:
            if slot in often and slot not in made:
                made[slot] = len(avals)
                avals.append(avals[slot])
                done += steps[begin:position]
                done.append(Step(_as_array, (slot,), (made[slot],), ()))
                begin = position
        step.operands = tuple([made.get(slot, slot) for slot in step.operands])
    return [*done, *steps[begin:]]


def _selects(step: Step) -> bool:
    """Return True for a line of `np.where`, which one conversion makes faster already."""
    return step.expression.bound[0] is np.where


class _Groups:
    """Possible slots that feed each other, and what each group would save."""

    def __init__(
        self,
        possible: Mapping[int, Step | None],
        free: Collection[int],
        linked: Mapping[int, int],
    ) -> None:
        self.possible = possible
        self.free = free
        self._parent = {slot: slot for slot in possible}
        for slot, step in possible.items():
            beside = (linked[slot],) if step is None else (*step.operands, *step.targets)
            for other in beside:
                if other in possible:
                    self._parent[self.of(other)] = self.of(slot)

    def of(self, slot: int) -> int:
        """Return the slot that represents the group of a slot."""
        parent = self._parent
        while parent[slot] != slot:
            parent[slot] = slot = parent[parent[slot]]
        return slot

    def worthwhile(self, steps: Sequence[Step], numbers: Collection[int]) -> list[int]:
        """Return the slots whose group saves more than its conversions cost.

        What groups read of ``numbers``, or what lines on numbers read of them, is not converted.
        """
        gain = dict.fromkeys(self.possible, 0)
        for slot, step in self.possible.items():
            if step is not None:
                assert step.expression.scalar is not None
                gain[self.of(slot)] += step.expression.scalar.gain
        is_other = self.possible.keys().isdisjoint
        beside = [
            step
            for step in steps
            if step.targets[0] in self.possible or not is_other(step.operands)
        ]
        conversions = {pair for step in beside for pair in self._conversions(step)}
        for group, slot, cost in conversions:
            gain[group] += cost if slot in numbers else -cost
        return [slot for slot in self.possible if gain[self.of(slot)] > 0]

    def _conversions(self, step: Step) -> Iterator[tuple[int, int, int]]:
        """(group, slot, cost) of what a step would have to convert."""
        possible = self.possible
        target = step.targets[0]
        scalar = step.expression.scalar
        if step.on_numbers:
            for slot in step.operands:
                if slot in possible:
                    yield self.of(slot), slot, -_UNBOX_COST
            return
        if step.expression.as_is or (scalar is not None and scalar.expression.as_is):
            return
        for slot in step.operands:
            if target in possible and slot not in possible and slot not in self.free:
                yield self.of(target), slot, _UNBOX_COST
            elif slot in possible and target not in possible:
                yield self.of(slot), slot, _BOX_COST


class _Border:
    """Writes the conversions between Python's numbers and NumPy's."""

    def __init__(self, avals: list[Aval], free: Collection[int]) -> None:
        self.avals = avals
        self.free = free
        self.numbers: set[int] = set()
        self.steps: list[Step] = []
        self._converted: dict[int, int] = {}

    def rewrite(self, steps: Sequence[Step]) -> list[Step]:
        """Rewrite the steps to read numbers of their own kind."""
        numbers, free = self.numbers, self.free
        for step in steps:
            was, on_numbers = step.on_numbers, step.targets[0] in numbers
            step.on_numbers = on_numbers
            if on_numbers and not was:
                assert step.expression.scalar is not None
                step.expression = step.expression.scalar.expression
            if step.expression.as_is:
                self.steps.append(step)
                continue
            for slot in step.operands:
                if (slot in numbers) is not on_numbers and slot not in free:
                    step.operands = tuple([self.read(i, on_numbers) for i in step.operands])
                    break
            self.steps.append(step)
        return self.steps

    def read(self, slot: int, on_numbers: bool) -> int:
        """Return the slot as a number of this kind, converted if it is of the other."""
        if slot in self.free or (slot in self.numbers) is on_numbers:
            return slot
        found = self._converted.get(slot)
        if found is None:
            found = self._converted[slot] = len(self.avals)
            aval = self.avals[slot]
            self.avals.append(aval)
            table = _TO_NUMBER if on_numbers else _TO_NUMPY
            line = table[aval.dtype.name]
            self.steps.append(Step(line, (slot,), (found,), (), on_numbers=on_numbers))
            if on_numbers:
                self.numbers.add(found)
        return found

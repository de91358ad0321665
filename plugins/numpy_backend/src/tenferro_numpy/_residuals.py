"""Large values that are cheaper made again than kept.

The derivative of a long program reads values from long ago. Where several of them are made from one
array by a few additions and products, or that array is kept anyway, only the array is kept, and
they are made again beside their late reader: in a region that reads the array once, and to the same
bits. Read next: `_regions.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from tenferro.primitives import Aval
from tenferro_numpy._steps import Step

__all__ = ["make_again"]

_LATE = 128  # steps after which a region has ended
_DEEPEST = 4  # lines from the array that is kept
_CHEAP = frozenset(
    [
        np.add, np.subtract, np.multiply, np.negative, np.square, np.absolute, np.maximum,
        np.minimum, np.less, np.less_equal, np.greater, np.greater_equal,
    ]
)  # fmt: skip


def make_again(
    steps: Sequence[Step],
    avals: list[Aval],
    literals: Collection[int],
    outputs: Collection[int],
    smallest: int,
) -> list[Step]:
    """The steps, in which late readers of cheap large values read new ones; avals appended."""
    sources = _sources(steps, avals, literals, smallest)
    chosen = _worthwhile(steps, sources, outputs)
    if not chosen:
        return list(steps)
    return _Again(avals, sources, chosen, outputs).rewrite(steps)


class _Source:
    """How a cheap value is made: of which array, by which step, how many lines from the array."""

    __slots__ = ("array", "depth", "position", "step")

    def __init__(self, array: int, step: Step, position: int, depth: int) -> None:
        self.array = array
        self.step = step
        self.position = position
        self.depth = depth


def _sources(
    steps: Sequence[Step], avals: Sequence[Aval], literals: Collection[int], smallest: int
) -> dict[int, _Source]:
    """For each large value that is made cheaply from one array: how."""
    found: dict[int, _Source] = {}
    for position, step in enumerate(steps):
        expression, target = step.expression, step.targets[0]
        if avals[target].size < smallest or not expression.into:
            continue
        if expression.bound[0] not in _CHEAP or len(expression.bound) > 1:
            continue
        arrays = {i for i in step.operands if avals[i].shape and i not in literals}
        known = [found[i] for i in arrays if i in found]
        roots = {found[i].array if i in found else i for i in arrays}
        depth = 1 + max((source.depth for source in known), default=0)
        if len(roots) == 1 and depth <= _DEEPEST:
            found[target] = _Source(roots.pop(), step, position, depth)
    return found


def _worthwhile(
    steps: Sequence[Step], sources: dict[int, _Source], outputs: Collection[int]
) -> set[int]:
    """The values that are made again: several of one array, or of an array that is kept anyway."""
    made = {slot for step in steps for slot in step.targets}
    last: dict[int, int] = {}
    late: dict[int, dict[int, int]] = {}  # array → its values that are read late, and when last
    for position, step in enumerate(steps):
        for slot in step.operands:
            last[slot] = position
            source = sources.get(slot)
            if source is not None and position - source.position > _LATE and slot not in outputs:
                late.setdefault(source.array, {})[slot] = position
    chosen: set[int] = set()
    for array, values in late.items():
        soon = max(values.values()) - _LATE
        is_kept = array in outputs or array not in made or last[array] >= soon
        if is_kept or len(values) > 1:
            chosen.update(values)
    return chosen


class _Again:
    """Writes the steps that make values again."""

    def __init__(
        self,
        avals: list[Aval],
        sources: dict[int, _Source],
        chosen: set[int],
        outputs: Collection[int],
    ) -> None:
        self.avals = avals
        self.sources = sources
        self.chosen = chosen
        self.outputs = outputs
        self.done: list[Step] = []
        self.copies: dict[int, tuple[int, int]] = {}  # slot → its last copy, and made when

    def rewrite(self, steps: Sequence[Step]) -> list[Step]:
        """The steps, with copies before late readers."""
        for position, step in enumerate(steps):
            if any([self.is_late(slot, position) for slot in step.operands]):
                step.operands = tuple([self.read(slot, position) for slot in step.operands])
            self.done.append(step)
        return self.without_dead()

    def without_dead(self) -> list[Step]:
        """The steps without those whose values have only late readers."""
        read = set(self.outputs)
        kept = []
        for step in reversed(self.done):
            if step.targets[0] not in self.sources or step.targets[0] in read:
                read.update(step.operands)
                kept.append(step)
        return kept[::-1]

    def is_late(self, slot: int, position: int) -> bool:
        """Whether a step reads a copy of a slot."""
        return slot in self.chosen and position - self.sources[slot].position > _LATE

    def read(self, slot: int, position: int) -> int:
        """The slot or a copy of it, made now or not long ago."""
        return self.copy(slot, position) if self.is_late(slot, position) else slot

    def copy(self, slot: int, position: int) -> int:
        """A copy, with copies of what lies between it and its array."""
        copy, since = self.copies.get(slot, (slot, -_LATE - 1))
        if position - since <= _LATE:
            return copy
        source = self.sources[slot]
        operands = tuple(
            [
                self.copy(i, position) if i in self.sources and i != source.array else i
                for i in source.step.operands
            ]
        )
        self.avals.append(self.avals[slot])
        copy = len(self.avals) - 1
        self.copies[slot] = copy, position
        self.done.append(Step(source.step.expression, operands, (copy,), source.step.positions))
        return copy

"""Dead arrays are written to again: updates in place, and results in the memory of operands.

A step may write where nobody reads any more: into an array that the program itself made, that
nothing alive is a view of, and that no code of others has seen. An update of a dead operand then
costs what is updated, and an elementwise line needs no new memory. Small arrays wait for such a
line after their death, large ones only for a few steps. Read next: `_plan.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from tenferro.primitives import Aval
from tenferro_numpy._expression import Expression
from tenferro_numpy._steps import Step
from tenferro_numpy._tiles import Region

__all__ = ["reuse", "written_operand"]

_SMALL = 1 << 12  # bytes of arrays that wait for a line, however long
_SOON = 8  # steps that a larger one waits


def reuse(
    steps: Sequence[Step],
    avals: Sequence[Aval],
    outputs: Collection[int],
    donated: Collection[int] = (),
) -> None:
    """Let steps write into memory that is dead after them.

    A step gets the array as its last operand, which also keeps it alive until then.
    """
    memory = _Memory(avals, _last_uses(steps, outputs))
    for given in donated:
        if given in memory.last and avals[given].shape:
            memory.lies_in(given, given, given)
            memory.writeable.add(given)
    forms: dict[int, tuple[Expression, Expression]] = {}
    for position, step in enumerate(steps):
        memory.begin(position, step)
        expression = step.expression
        region = expression.bound[0] if expression.bound else None
        if isinstance(region, Region):
            _into_operands(region, step, memory)
        elif expression.update is not None and memory.can_update(step):
            step.expression = expression.update
        elif _has_out(expression) and avals[step.targets[0]].shape and not step.on_numbers:
            _into_array(step, memory, forms)
        memory.end(step)


def _into_array(
    step: Step, memory: _Memory, forms: dict[int, tuple[Expression, Expression]]
) -> None:
    """Let an elementwise line write into an array that is dead, if there is one for it."""
    slot, expression = memory.room_for(step), step.expression
    if slot is None:
        return
    step.operands = (*step.operands, slot)
    if id(expression) not in forms:
        forms[id(expression)] = expression, _into(expression)
    step.expression = forms[id(expression)][1]


def _into_operands(region: Region, step: Step, memory: _Memory) -> None:
    """Let a region write its arrays into operands that nobody reads afterwards."""
    direct, moved = step.operands[: region.operand_count], step.operands[region.operand_count :]
    for i, target in enumerate(step.targets[: len(region.arrays)]):
        for place, slot in enumerate(direct):
            if (
                place not in region.reuse.values()
                and slot not in moved  # other tiles still read it
                and memory.has_room(slot, target)
                and _is_done(region, place, i)
            ):
                region.reuse[i] = place
                break


def _is_done(region: Region, operand: int, array: int) -> bool:
    """Whether a tile of an operand is not read after the array is written in its place."""
    written = any(move.out == region.operand_count + array for move in region.moves)
    for write in region.writes:
        if written and operand in write.operands:
            return False
        if write.out == region.operand_count + array:
            if operand in write.operands and not write.in_place:
                return False
            written = True
    return True


def _has_out(expression: Expression) -> bool:
    """Whether the line can write its result to a given array, and returns that."""
    is_ufunc = bool(expression.into) and isinstance(expression.bound[0], np.ufunc)
    return is_ufunc or bool(expression.onto)


def _into(expression: Expression) -> Expression:
    """The line that writes into its last operand."""
    count = expression.operand_count
    text = (expression.onto or expression.into).replace("{out}", f"{{{count}}}")
    return Expression(text, expression.bound, memory_of=count)


def _last_uses(steps: Sequence[Step], outputs: Collection[int]) -> dict[int, int]:
    """For each slot the last step that touches it; outputs are touched after all."""
    last = {}
    for position, step in enumerate(steps):
        for slot in (*step.targets, *step.operands):
            last[slot] = position
    last.update(dict.fromkeys(outputs, len(steps)))
    return last


def written_operand(step: Step, number: int) -> int | None:
    """The operand into which a step writes one of its results."""
    expression = step.expression
    place = expression.memory_of
    if expression.bound and isinstance(expression.bound[0], Region):
        place = expression.bound[0].reuse.get(number)
    return None if place is None else step.operands[place]


class _Memory:
    """Which slots lie in which memory, and how many of them are alive.

    Memory is named by the slot that it was made for. What comes from outside has no name here.
    """

    def __init__(self, avals: Sequence[Aval], last: dict[int, int]) -> None:
        self.avals = avals
        self.last = last
        self.now = 0
        self.name: dict[int, int] = {}  # of the memory of a slot
        self.alive: dict[int, int] = {}  # name → number of slots that are alive
        self.whole: dict[int, int] = {}  # name → the slot that last was all of it
        self.seen: set[int] = set()  # names of memory that somebody else may hold
        self.writeable: set[int] = set()  # slots that are arrays one may write to
        self.waiting: dict[Aval, list[tuple[int, int]]] = {}  # dead memory: (since when, slot)

    def begin(self, position: int, step: Step) -> None:
        """Note what the code of a step may keep."""
        self.now = position
        if step.expression.foreign or (step.expression.shares and self.source(step) is None):
            self.seen.update([self.name[i] for i in step.operands if i in self.name])

    def source(self, step: Step) -> int | None:
        """The operand that the result is a view of; None if it may be several."""
        arrays = [i for i in step.operands if self.avals[i].shape]
        return arrays[0] if len(arrays) == 1 else None

    def is_free(self, slot: int) -> bool:
        """Whether the step may write to an operand: with it dies all that shares its memory."""
        name = self.name.get(slot)
        return (
            name is not None
            and self.last[slot] == self.now
            and name not in self.seen
            and self.alive[name] == 1
            and slot in self.writeable
        )

    def can_update(self, step: Step) -> bool:
        """Whether a step may change its first operand."""
        slot = step.operands[0]
        return self.is_free(slot) and step.operands.count(slot) == 1

    def has_room(self, slot: int, target: int) -> bool:
        """Whether an operand is free, and its memory just what a target needs."""
        fits = self.avals[slot] == self.avals[target] and self.is_free(slot)
        return fits and self.whole[self.name[slot]] == slot

    def room_for(self, step: Step) -> int | None:
        """A slot whose array may take the result of an elementwise step."""
        aval = self.avals[step.targets[0]]
        if step.expression.in_place:
            for slot in step.operands:
                if self.has_room(slot, step.targets[0]):
                    return slot
        waiting = self.waiting.get(aval)
        if not waiting:
            return None
        since, slot = waiting.pop()
        is_small = aval.size * aval.dtype.itemsize <= _SMALL
        return slot if is_small or self.now - since <= _SOON else None

    def end(self, step: Step) -> None:
        """Note where the results of a step are, and what is dead after it."""
        if step.expression.shares:
            self.views(step)
        else:
            self.makes(step)
        for slot in {*step.targets, *step.operands}:
            if self.last[slot] == self.now and slot in self.name:
                self.dies(slot)

    def views(self, step: Step) -> None:
        """Note the result of a step that shares memory with its operand."""
        viewed, expression = self.source(step), step.expression
        if viewed is not None and viewed in self.name:
            target, line = step.targets[0], expression.template
            # of a broadcast that stays unexpanded, the aval is larger than the array
            same = line == "{0}.reshape({p0})" and expression.bound[0] == self.avals[target].shape
            self.lies_in(self.name[viewed], target, viewed if same else None)
            if viewed in self.writeable and line.startswith("{0}"):
                self.writeable.add(target)

    def makes(self, step: Step) -> None:
        """Note where a step wrote its results: into operands, or new memory."""
        for number, slot in enumerate(step.targets):
            if not self.avals[slot].shape:
                continue
            source = written_operand(step, number)
            if source is None:
                self.lies_in(slot, slot, slot)
            else:
                self.lies_in(self.name[source], slot, source)
            self.writeable.add(slot)

    def lies_in(self, name: int, slot: int, source: int | None = None) -> None:
        """Note the memory of a slot, which is all of it if its source was."""
        self.name[slot] = name
        self.alive[name] = self.alive.get(name, 0) + 1
        if self.whole.setdefault(name, slot) == source:
            self.whole[name] = slot

    def dies(self, slot: int) -> None:
        """Note that nobody reads a slot any more."""
        name = self.name[slot]
        self.alive[name] -= 1
        if not self.alive[name] and name not in self.seen:
            whole = self.whole[name]
            self.waiting.setdefault(self.avals[whole], []).append((self.now, whole))

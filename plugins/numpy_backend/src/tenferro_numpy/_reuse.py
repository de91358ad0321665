"""Dead arrays are written to again: updates in place, and results in the memory of operands.

A step may write where nobody reads any more: into an array that the program itself made, that
nothing alive is a view of, and that no code of others has seen. An update of a dead operand then
costs what is updated, and an elementwise line needs no new memory. Small arrays wait for such a
line after their death, large ones only for a few steps. Read next: `_plan.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tenferro_numpy._expression import Expression
from tenferro_numpy._memory import Memory, size_of
from tenferro_numpy._steps import Step
from tenferro_numpy._tiles import Region

__all__ = ["reuse"]

_SMALL = 1 << 12  # bytes of arrays that wait for a line, however long
_SOON = 8  # steps that a larger one waits


def reuse(steps: Sequence[Step], memory: Memory) -> None:
    """Let steps write into memory that is dead after them.

    A step gets the array as its last operand, which also keeps it alive until then.
    """
    avals = memory.avals
    forms: dict[int, tuple[Expression, Expression | None]] = {}
    for position, step in enumerate(steps):
        memory.begin(position, step)
        expression = step.expression
        form = forms.get(id(expression))
        if form is None:
            form = forms[id(expression)] = expression, _into(expression)
        if expression.update is not None and _can_update(step, memory):
            step.expression = expression.update
        elif form[1] is not None:
            if avals[step.targets[0]].shape:
                _into_array(step, memory, form[1])
        elif expression.bound and isinstance(expression.bound[0], Region):
            _into_operands(expression.bound[0], step, memory)
        memory.end(step)


def _can_update(step: Step, memory: Memory) -> bool:
    """Whether a step may change its first operand."""
    slot = step.operands[0]
    return memory.is_free(slot) and step.operands.count(slot) == 1


def _into_array(step: Step, memory: Memory, form: Expression) -> None:
    """Let an elementwise line write into an array that is dead, if there is one for it."""
    slot = _room_for(step, memory)
    if slot is not None:
        step.operands = (*step.operands, slot)
        step.expression = form


def _room_for(step: Step, memory: Memory) -> int | None:
    """A slot whose array may take the result of an elementwise step."""
    target = step.targets[0]
    if step.expression.in_place:
        for slot in memory.dying[memory.now]:
            if memory.has_room(slot, target):
                return slot
    waiting = memory.waiting.get(memory.avals[target])
    if not waiting:
        return None
    since, slot = waiting.pop()
    if memory.now - since > _SOON and size_of(memory.avals[slot]) > _SMALL:
        return None
    memory.wakes(slot, since)
    return slot


def _into_operands(region: Region, step: Step, memory: Memory) -> None:
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


def _into(expression: Expression) -> Expression | None:
    """The line that writes into its last operand, and returns that; None where there is none."""
    is_ufunc = bool(expression.into) and isinstance(expression.bound[0], np.ufunc)
    if not (is_ufunc or expression.onto):
        return None
    count = expression.operand_count
    text = (expression.onto or expression.into).replace("{out}", f"{{{count}}}")
    return Expression(text, expression.bound, memory_of=count)

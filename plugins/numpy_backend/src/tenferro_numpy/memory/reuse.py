"""Dead arrays are written to again: updates in place, and results in the memory of operands.

A step may write to memory that is not read any more: into an array that the program itself made,
that nothing alive is a view of, and that no code of others has seen. An update of a dead operand
then costs what is updated, and an elementwise line needs no new memory. Small arrays wait for such
a line after their death, large ones only for a few steps. Read next: `planner.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from tenferro.backend.extend import NamedTuple
from tenferro_numpy.ir.expression import Expression
from tenferro_numpy.ir.peak import size_of
from tenferro_numpy.ir.step import Step
from tenferro_numpy.ir.tiled import Tiled
from tenferro_numpy.memory.ownership import Memory

__all__ = ["reuse", "writing_into"]

_MAX_BYTES_TO_KEEP = 1 << 12  # bytes of arrays that wait for a line, however long
_MAX_STEPS_TO_WAIT = 8  # steps that a larger one waits


class _Form(NamedTuple):
    """Facts about an expression that decide reuse.

    into      the line that writes into its last operand, and returns that, if there is one
    is_plain  it makes new memory, and nothing else can be done to it
    """

    expression: Expression
    into: Expression | None
    is_plain: bool


def reuse(
    steps: Sequence[Step],
    memory: Memory,
    spare: Mapping[int, int] | None = None,
    *,
    any_order: bool = False,
) -> None:
    """Let steps write into memory that is dead after them.

    A step gets the array as its last operand, which also keeps it alive until then. ``spare`` names
    for some results a donated slot to take where there is no such memory. Arrays of rank 1 may have
    any stride if they are in ``any_order``.
    """
    avals = memory.avals
    forms: dict[int, _Form] = {}
    for position, step in enumerate(steps):
        expression = step.expression
        form = forms.get(id(expression))
        if form is None:
            form = forms[id(expression)] = _form(expression)
        into = None if any_order and expression.strict_out else form.into
        memory.now = position
        if not form.is_plain:
            memory.begin(position, step)
            if _in_operands(step, memory):
                into = None
        if into is not None and avals[step.targets[0]].shape:
            slot = _room_for(step, memory)
            if slot is None and spare and step.targets[0] in spare:
                slot = spare[step.targets[0]]
                memory.dying[position] = [*memory.dying[position], slot]
            if slot is not None:
                step.operands = (*step.operands, slot)
                step.expression = into
        memory.end(step)


def _form(expression: Expression) -> _Form:
    is_region = bool(expression.bound) and isinstance(expression.bound[0], Tiled)
    special = is_region or expression.update is not None
    kept = expression.shares or expression.foreign
    return _Form(expression, writing_into(expression), not special and not kept)


def _in_operands(step: Step, memory: Memory) -> bool:
    """Let an update or a region write into its operands; whether there is nothing else to do."""
    expression = step.expression
    if expression.update is not None:
        slot = step.operands[0]
        if memory.is_free(slot) and step.operands.count(slot) == 1:
            step.expression = expression.update
            return True
    elif expression.bound and isinstance(expression.bound[0], Tiled):
        _into_operands(expression.bound[0], step, memory)
    return False


def _room_for(step: Step, memory: Memory) -> int | None:
    """Return a slot whose array may take the result of an elementwise step."""
    target = step.targets[0]
    if step.expression.in_place:
        for slot in memory.dying[memory.now]:
            if memory.has_room(slot, target):
                return slot
    waiting = memory.waiting.get(memory.avals[target])
    if not waiting:
        return None
    since, slot = waiting.pop()
    if memory.now - since > _MAX_STEPS_TO_WAIT and size_of(memory.avals[slot]) > _MAX_BYTES_TO_KEEP:
        return None
    memory.wakes(slot, since)
    return slot


def _into_operands(region: Tiled, step: Step, memory: Memory) -> None:
    """Let a region write its arrays into operands that are not read afterwards."""
    direct, moved = step.operands[: region.operand_count], step.operands[region.operand_count :]
    for i, target in enumerate(step.targets[: len(region.arrays)]):
        if i in region.reuse:
            continue
        for place, slot in enumerate(direct):
            if (
                place not in region.reuse.values()
                and slot not in moved  # other tiles still read it
                and memory.has_room(slot, target)
                and _is_done(region, place, i)
            ):
                region.reuse[i] = place
                break


def _is_done(region: Tiled, operand: int, array: int) -> bool:
    """Return True if a tile of an operand is not read after the array overwrites it."""
    written = any(move.out == region.operand_count + array for move in region.moves)
    for write in region.writes:
        if written and operand in write.operands:
            return False
        if write.out == region.operand_count + array:
            if operand in write.operands and not write.in_place:
                return False
            written = True
    return True


def writing_into(expression: Expression) -> Expression | None:
    """Return the line that writes into its last operand and returns it; None if there is none."""
    is_ufunc = bool(expression.into) and isinstance(expression.bound[0], np.ufunc)
    if not (is_ufunc or expression.onto):
        return None
    text, count = _numbered(expression.onto or expression.into, expression.template)
    return Expression(text, expression.bound, memory_of=count)


@lru_cache(maxsize=512)  # programs share their templates
def _numbered(text: str, template: str) -> tuple[str, int]:
    """Return the text with a number for the place of its result, and that number."""
    count = Expression(template).operand_count
    return text.replace("{out}", f"{{{count}}}"), count

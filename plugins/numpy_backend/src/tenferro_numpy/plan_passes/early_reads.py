"""Reads of a part come before the update of the whole, and copy the part.

An update writes into its operand only if nothing reads that later. The gradient of a buffer that is
filled part by part reads each part of a cotangent and then overwrites it with zeros; where the read
stands behind the update, or its result is a view, each update would copy the whole cotangent. This
only changes the order of steps and copies of parts: whether the update may write in place is
decided by `memory/reuse.py`. Read next: that.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tenferro.primitives import Aval
from tenferro.primitives.indexing import DynamicSlice
from tenferro.primitives.structural import Slice
from tenferro_numpy.ir.expression import Expression
from tenferro_numpy.ir.step import Step

__all__ = ["read_parts_early"]

_MIN_SAVED = 2  # times the elements of all copied parts, which the updated array must have


def read_parts_early(
    steps: list[Step],
    avals: Sequence[Aval],
    operations: Sequence[Any],
    kept: Collection[int],
) -> list[Step]:
    """Return the steps in an order in which more updates can write in place.

    `operations` are those of the program by position; slots in `kept` outlive the program.
    """
    updates = {
        step.operands[0]: position
        for position, step in enumerate(steps)
        if step.expression.update is not None and step.operands[0] not in kept
    }
    if not updates:
        return steps
    made_at = {slot: position for position, step in enumerate(steps) for slot in step.targets}
    readers: dict[int, list[int]] = {slot: [] for slot in updates}
    for position, step in enumerate(steps):
        for slot in readers.keys() & set(step.operands):
            readers[slot].append(position)
    before: dict[int, list[int]] = {}  # position of an update → of the reads to put before it
    for slot, update in updates.items():
        parts = _parts(slot, update, readers[slot], steps, operations, made_at)
        if parts and _saves(avals[slot], parts, steps, avals):
            before[update] = parts
    return _moved(steps, before) if before else steps


def _parts(
    slot: int,
    update: int,
    readers: Sequence[int],
    steps: Sequence[Step],
    operations: Sequence[Any],
    made_at: Mapping[int, int],
) -> list[int]:
    """Return the reads of parts that keep an update from writing in place.

    Return none if another step does, too.
    """
    parts = []
    for position in readers:
        step = steps[position]
        if position == update or (position < update and not _keeps(step)):
            continue
        known = all([made_at.get(i, -1) < update for i in step.operands])
        if slot != step.operands[0] or not known or not _is_part(step, operations):
            return []
        parts.append(position)
    return parts


def _keeps(step: Step) -> bool:
    """Return True if what a step reads may be in use after it."""
    return step.shares or step.expression.foreign


def _is_part(step: Step, operations: Sequence[Any]) -> bool:
    """Return True if a step makes a view of a part of its first operand, by code of ours."""
    return step.shares and type(step.operation_of(operations)) in (Slice, DynamicSlice)


def _saves(whole: Aval, parts: Sequence[int], steps: Sequence[Step], avals: Sequence[Aval]) -> bool:
    """Return True if the copies of the parts are small compared with a copy of the whole."""
    copied = sum([avals[steps[position].targets[0]].size for position in parts])
    return _MIN_SAVED * copied <= whole.size


def _moved(steps: Sequence[Step], before: Mapping[int, Sequence[int]]) -> list[Step]:
    """Make reads of parts copy them, and put those behind their update before it."""
    copying = {read: _copying(steps[read]) for reads in before.values() for read in reads}
    late = {read for update, reads in before.items() for read in reads if read > update}
    result = []
    for position, step in enumerate(steps):
        result += [copying[read] for read in before.get(position, ()) if read in late]
        if position not in late:
            result.append(copying.get(position, step))
    return result


def _copying(read: Step) -> Step:
    line = Expression(f"{read.expression.template}.copy()", read.expression.bound)
    return Step(line, read.operands, read.targets, read.positions)

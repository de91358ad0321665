"""Lazy broadcasts: a ufunc that has a full operand anyway expands the others.

A ufunc is slow at that where arrays are small or their last axis is short: a broadcast with enough
readers is expanded once.
Read next: `planner.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tenferro.primitives import Aval
from tenferro.primitives.constants import Constant
from tenferro_numpy.ir.expression import IDENTITY
from tenferro_numpy.ir.step import Step

__all__ = ["leave_to_readers"]


def leave_to_readers(
    steps: list[Step],
    avals: Sequence[Aval],
    literals: dict[int, Any],
    outputs: Collection[int],
    region: float,
) -> list[Step]:
    """Skip broadcasts that are read only by elementwise lines with a full operand.

    Literals that stay unexpanded are replaced. Arrays of `region` elements and more may be read in
    regions, which expand operands tile by tile.
    """
    makers = _candidates(steps, avals, literals)
    for slot in outputs:
        makers.pop(slot, None)
    if not makers:
        return steps
    readers = _readers(steps, makers)
    _drop_expanded(readers, makers, avals, region)
    shrunk: dict[int, None] = {}
    for slot in sorted(readers):
        if all(_expands(step, slot, shrunk, avals) for step in readers[slot]):
            shrunk[slot] = None
    gone: set[int] = set()
    for slot in shrunk:
        maker = makers[slot]
        if maker is None:
            constant = literals[slot]
            literals[slot] = Constant(constant.value, constant.dtype, ())
        elif maker.expression.unexpanded is IDENTITY:
            gone.add(slot)
            _read_instead(readers[slot], slot, maker.operands[0])
        else:
            assert maker.expression.unexpanded is not None
            maker.expression = maker.expression.unexpanded
    return [step for step in steps if step.targets[0] not in gone] if gone else steps


def _candidates(
    steps: Sequence[Step], avals: Sequence[Aval], literals: Mapping[int, Any]
) -> dict[int, Step | None]:
    """Return what can stay unexpanded: constants, and the results of some steps."""
    found: dict[int, Step | None] = {
        slot: None for slot, op in literals.items() if type(op) is Constant and avals[slot].shape
    }
    found.update([(step.targets[0], step) for step in steps if step.expression.unexpanded])
    return found


def _readers(steps: Sequence[Step], slots: Mapping[int, Any]) -> dict[int, list[Step]]:
    """Return the steps that read each of these slots."""
    readers: dict[int, list[Step]] = {}
    is_unread = slots.keys().isdisjoint
    for step in steps:
        if is_unread(step.operands):
            continue
        for slot in step.operands:
            if slot in slots:
                readers.setdefault(slot, []).append(step)
    return readers


def _drop_expanded(
    readers: dict[int, list[Step]],
    makers: Mapping[int, Step | None],
    avals: Sequence[Aval],
    region: float,
) -> None:
    """Drop the broadcasts that have enough readers to be expanded once."""
    for slot, steps in list(readers.items()):
        maker = makers[slot]
        if maker is None or avals[slot].size >= region:
            continue
        if len(steps) >= maker.expression.expanded_for:
            del readers[slot]


def _expands(step: Step, slot: int, shrunk: Collection[int], avals: Sequence[Aval]) -> bool:
    """Return True if a step expands a slot itself, because another operand is full."""
    if not step.expression.broadcasts:
        return False
    shape = avals[slot].shape
    for other in step.operands:
        if other != slot and other not in shrunk and avals[other].shape == shape:
            return True
    return False


def _read_instead(readers: Sequence[Step], slot: int, other: int) -> None:
    for step in readers:
        step.operands = tuple([other if i == slot else i for i in step.operands])

"""Lazy broadcasts: a ufunc expands its operands itself, as long as they give its shape together.

One full operand does, or a row and a column. A ufunc is slow at that where arrays are small or
their last axis is short: a broadcast with enough readers is expanded once.
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
    """Skip broadcasts that are read only by elementwise lines whose operands expand each other.

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
    shrunk: dict[int, tuple[int, ...]] = {}  # slots, with the shapes that they have from now on
    for slot in sorted(readers):
        shape = _unexpanded_shape(makers[slot], avals)
        if all(_expands(step, slot, shape, shrunk, avals) for step in readers[slot]):
            shrunk[slot] = shape
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


def _unexpanded_shape(maker: Step | None, avals: Sequence[Aval]) -> tuple[int, ...]:
    """Return the shape of a broadcast that stays unexpanded; ``None`` makes a constant."""
    if maker is None:
        return ()
    unexpanded = maker.expression.unexpanded
    assert unexpanded is not None
    if unexpanded is IDENTITY:
        return avals[maker.operands[0]].shape
    shape: tuple[int, ...] = unexpanded.bound[0]
    return shape


def _expands(
    step: Step,
    slot: int,
    shape: tuple[int, ...],
    shrunk: Mapping[int, tuple[int, ...]],
    avals: Sequence[Aval],
) -> bool:
    """Return True if the operands of a step still give its shape when a slot has this shape."""
    if not step.expression.broadcasts:
        return False
    given = [shape if i == slot else shrunk.get(i, avals[i].shape) for i in step.operands]
    return _broadcast(given) == avals[slot].shape


def _broadcast(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the shape that operands of these shapes have together."""
    found = [1] * max(map(len, shapes))
    for shape in shapes:
        first = len(found) - len(shape)
        for axis, extent in enumerate(shape, first):
            if extent != 1:
                found[axis] = extent
    return tuple(found)


def _read_instead(readers: Sequence[Step], slot: int, other: int) -> None:
    for step in readers:
        step.operands = tuple([other if i == slot else i for i in step.operands])

"""Masks that a number guards: where the number is False, nothing of the mask is computed.

The derivative of x**y replaces a base by 1 where y = 0 and 1/x is infinite. If y is one number for
all elements, so is the test of it, and an exponent that is not 0 needs neither the mask nor the
selection. So ``where(number & mask, x, y)`` looks at the number first, and the lines that only
the mask and x need run behind it, where they take longer: the number is a test for equality, which
is mostly False. Results keep every bit. Read next: `planner.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from tenferro.primitives import Aval
from tenferro.primitives.comparison import Eq, LogicalAnd, Select
from tenferro.primitives.constants import Constant
from tenferro.primitives.structural import BroadcastInDim
from tenferro_numpy.ir.expression import Expression
from tenferro_numpy.ir.kept import number
from tenferro_numpy.ir.step import Step

__all__ = ["guard_masks"]


def guard_masks(
    steps: Sequence[Step],
    avals: Sequence[Aval],
    operations: Sequence[Any],
    literals: Mapping[int, Any],
    outputs: Collection[int],
    region: float,
) -> list[Step]:
    """Return the steps with guarded masks inside of the selections that read them.

    `operations` are those of the program by position. Arrays of `region` elements and more stay:
    regions compute masks where they are in the cache.
    """
    reads = Counter([*outputs, *[slot for step in steps for slot in step.operands]])
    makers = {step.targets[0]: step for step in steps if len(step.targets) == 1}
    inside: set[Step] = set()
    idle: set[Step] = set()
    for step in steps:
        aval = avals[step.targets[0]]
        is_small = aval.shape and aval.size < region and step.targets[0] not in outputs
        is_choice = type(step.operation_of(operations)) is Select and len(step.operands) == 3
        if not is_small or not is_choice:  # a selection next to zeros reads no second branch
            continue
        guarded = _guarded(step.operands[0], avals, operations, makers)
        if guarded is None or _is_repeated(step.operands[2], operations, makers, literals):
            continue
        both, wide, mask = guarded
        needed = (step.operands[1], mask) if reads[both.targets[0]] == 1 else step.operands[1:2]
        lines = _lines_of(needed, aval.shape, avals, operations, makers, reads)
        _put_behind(wide.operands[0], mask, lines, step, literals)
        inside.update([line for line in lines if reads[line.targets[0]] == 1])
        idle.update((both, wide, *lines))
    return _without(steps, inside, idle, outputs) if idle else [*steps]


def _is_repeated(
    slot: int, operations: Sequence[Any], makers: Mapping[int, Step], literals: Mapping[int, Any]
) -> bool:
    """Return True for a literal or a broadcast, which a selection expands itself."""
    maker = makers.get(slot)
    return slot in literals or (
        maker is not None and type(maker.operation_of(operations)) is BroadcastInDim
    )


def _guarded(
    slot: int, avals: Sequence[Aval], operations: Sequence[Any], makers: Mapping[int, Step]
) -> tuple[Step, Step, int] | None:
    """Return the steps of a conjunction and of its number, which is expanded; and the mask.

    The number says whether two others are equal.
    """
    both = makers.get(slot)
    if both is None or type(both.operation_of(operations)) is not LogicalAnd:
        return None
    for slot, mask in (both.operands, both.operands[::-1]):
        wide = makers.get(slot)
        if wide is None or type(wide.operation_of(operations)) is not BroadcastInDim:
            continue
        test = makers.get(wide.operands[0])
        if test is not None and not avals[test.targets[0]].shape:
            if type(test.operation_of(operations)) is Eq:
                return both, wide, mask
    return None


def _lines_of(
    needed: Sequence[int],
    shape: tuple[int, ...],
    avals: Sequence[Aval],
    operations: Sequence[Any],
    makers: Mapping[int, Step],
    reads: Counter[int],
) -> list[Step]:
    """Return the lines that nothing else needs than one reader of these values."""
    found: list[Step] = []
    waiting = [*needed]
    while waiting:
        slot = waiting.pop()
        maker = makers.get(slot)
        if maker is None or maker in found or avals[slot].shape != shape:
            continue
        op = maker.operation_of(operations)
        is_wide = type(op) is BroadcastInDim
        if is_wide and not avals[maker.operands[0]].shape:
            found.append(maker)  # a number is expanded again, so that others need not expand it
        elif reads[slot] == 1 and op is not None and (is_wide or maker.is_elementwise):
            found.append(maker)
            waiting += maker.operands
    return sorted(found, key=lambda line: line.positions)


def _put_behind(
    guard: int, mask: int, lines: Sequence[Step], step: Step, literals: Mapping[int, Any]
) -> None:
    """Let a selection compute its condition only if the guard is True."""
    _, chosen, otherwise = step.operands
    body = [(line.expression, line.operands, line.targets[0]) for line in lines]
    body.append((step.expression, (mask, chosen, otherwise), step.targets[0]))
    made = {target for *_, target in body}
    numbers: dict[int, Any] = {}
    operands: dict[int, int] = {guard: 0, otherwise: 1}
    for slot in [slot for _, slots, _ in body for slot in slots]:
        literal = literals.get(slot)
        if type(literal) is Constant:
            numbers[slot] = number(literal.value, literal.dtype.name)
        elif slot not in made:
            operands.setdefault(slot, len(operands))
    names = ", ".join([f"{{{i}}}" for i in operands.values()])
    step.expression = Expression(
        f"({{1}} if not {{0}} else {{p0}}({names}))",
        (_Lines(tuple(body), tuple(operands), numbers),),
        shares=True,
        as_is=True,
    )
    step.operands = tuple(operands)


def _without(
    steps: Sequence[Step],
    inside: Collection[Step],
    idle: Collection[Step],
    outputs: Collection[int],
) -> list[Step]:
    """Drop the steps that moved, and those that nothing reads any more."""
    kept = [step for step in steps if step not in inside]
    reads = Counter([*outputs, *[slot for step in kept for slot in step.operands]])
    left: list[Step] = []
    for step in reversed(kept):
        if step in idle and not reads[step.targets[0]]:
            reads.subtract(step.operands)
        else:
            left.append(step)
    return left[::-1]


class _Lines:
    """Lines that run one after the other, as a function of the values that they read."""

    def __init__(
        self,
        lines: tuple[tuple[Expression, tuple[int, ...], int], ...],
        operands: tuple[int, ...],
        numbers: Mapping[int, Any],
    ) -> None:
        self._lines = lines
        self._operands = operands
        self._numbers = numbers

    def __call__(self, *operands: Any) -> Any:
        arrays = map(np.asarray, operands)  # Python's numbers are float64 or bool
        values = {**self._numbers, **dict(zip(self._operands, arrays, strict=True))}
        for line, slots, target in self._lines:
            values[target] = line.function()(*[values[slot] for slot in slots])
        return values[self._lines[-1][2]]

"""Regions made of groups of steps: what they read and give, and their buffers.

`choice.py` chooses the groups. Read next: `kernels/region.py`, which runs a region.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np

from tenferro.backend.regions import Group
from tenferro.primitives import Aval
from tenferro_numpy.ir.expression import Expression, Function
from tenferro_numpy.ir.step import Step
from tenferro_numpy.kernels.region import Region, Write
from tenferro_numpy.kernels.tile_layout import Move
from tenferro_numpy.kernels.tile_reductions import Fold
from tenferro_numpy.machine.tile_size import Tiling

__all__ = ["Writers", "region_step", "share_equal"]


def region_step(
    group: Group[Step],
    avals: Sequence[Aval],
    exports: Set[int],
    tiling: Tiling,
    literals: Collection[int],
    writers: Writers,
) -> Step:
    """Make one step for a region: its operands, exported results, and buffers."""
    everything = [step for _, step in sorted(group.members, key=lambda pair: pair[0])]
    members = [step for step in everything if step.expression.pieces is None]
    moved = [step for step in everything if step.expression.pieces is not None]
    folds = [step for _, step in sorted(group.folds, key=lambda pair: pair[0])]
    made = {step.targets[0] for step in everything}
    given = tuple(dict.fromkeys(i for s in members for i in s.operands if i not in made))
    kept = [step.targets[0] for step in everything if step.targets[0] in exports]
    buffers = _Buffers(avals, (*given, *kept), {step.operands[0] for step in folds})
    sources = tuple(dict.fromkeys(slot for step in moved for slot in step.operands))
    operands = (*given, *sources)
    place_of = {slot: len(given) + i for i, slot in enumerate(sources)}
    moves = [buffers.move(step, place_of, exports) for step in moved]
    writes = buffers.writes(members, writers)
    region = Region(
        group.shape,
        len(given),
        writes,
        [_dtype(avals[slot]) for slot in kept],
        buffers.scratch,
        [_fold(step, buffers) for step in folds],
        tiling,
        moves,
        sum(avals[slot].shape == group.shape for slot in given if slot not in literals),
    )
    text = ", ".join(f"{{{i}}}" for i in range(len(operands)))
    targets = (*kept, *(step.targets[0] for step in folds))
    positions = tuple(sorted(i for step in (*everything, *folds) for i in step.positions))
    return Step(Expression(f"{{p0}}({text})", (region,)), operands, targets, positions)


class _Buffers:
    """Places for what a region makes on the way, taken again after the last use."""

    def __init__(self, avals: Sequence[Aval], slots: Sequence[int], held: Set[int]) -> None:
        self.avals = avals
        self.place = {slot: i for i, slot in enumerate(slots)}
        self.held = {*held}  # until the end of a tile, for its reductions
        self.first = len(slots)
        self.scratch: list[np.dtype[Any]] = []
        self.free: dict[np.dtype[Any], list[int]] = {}

    def move(self, step: Step, place_of: Mapping[int, int], kept: Collection[int]) -> Move:
        """Plan a pad or concatenation; its buffer may alias an operand and must not be recycled."""
        target, pieces = step.targets[0], step.expression.pieces
        assert pieces is not None
        full = target in self.held
        self.held.add(target)
        operands = tuple([place_of[slot] for slot in step.operands])
        return Move(pieces, operands, self.take(target), target in kept, full)

    def writes(self, members: Sequence[Step], writers: Writers) -> list[Write]:
        """Return the writes of each tile, in order."""
        last = {slot: step for step in members for slot in step.operands}
        done = []
        for step in members:
            dying = [
                slot
                for slot in dict.fromkeys(step.operands)
                if last[slot] is step and slot not in self.held and self.place[slot] >= self.first
            ]
            operands = tuple([self.place[slot] for slot in step.operands])
            target = step.targets[0]
            if step.expression.in_place:
                self.release(dying)
                out = self.take(target)
            else:
                out = self.take(target)
                self.release(dying)
            function = writers.of(step.expression)
            if function is np.multiply and operands[0] == operands[1] and self._is_float(target):
                function, operands = np.square, operands[:1]  # the same numbers, and read once
            done.append(Write(function, operands, out, step.expression.in_place))
        return done

    def _is_float(self, slot: int) -> bool:
        return _dtype(self.avals[slot]).kind == "f"

    def release(self, slots: Iterable[int]) -> None:
        for slot in slots:
            self.free.setdefault(_dtype(self.avals[slot]), []).append(self.place[slot])

    def take(self, slot: int) -> int:
        if slot not in self.place:
            dtype = _dtype(self.avals[slot])
            free = self.free.get(dtype)
            if free:
                self.place[slot] = free.pop()
            else:
                self.place[slot] = self.first + len(self.scratch)
                self.scratch.append(dtype)
        return self.place[slot]


class Writers:
    """Cache of functions that write an expression's result; equal regions share them."""

    def __init__(self) -> None:
        self.found: dict[int, tuple[Expression, Function]] = {}

    def of(self, expression: Expression) -> Function:
        if id(expression) not in self.found:
            self.found[id(expression)] = expression, expression.writer()
        return self.found[id(expression)][1]


def share_equal(steps: Iterable[Step]) -> None:
    """Let equal regions be one object, as those of all turns of an unrolled loop are.

    A region keeps how it is divided into tiles; a thousand that are one keep that once.
    """
    known: dict[object, Expression] = {}
    for step in steps:
        bound = step.expression.bound
        if bound and isinstance(bound[0], Region):
            key = step.expression.template, bound[0].key
            step.expression = known.setdefault(key, step.expression)


def _fold(step: Step, buffers: _Buffers) -> Fold:
    fold = step.expression.fold
    assert fold is not None
    function, axes, dtype = fold
    return Fold(function, buffers.place[step.operands[0]], axes, dtype)


def _dtype(aval: Aval) -> np.dtype[Any]:
    return np.dtype(aval.dtype.name)

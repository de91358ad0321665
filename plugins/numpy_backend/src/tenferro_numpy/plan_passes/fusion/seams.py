"""Ufuncs of rolled and concatenated arrays run part by part, between their seams.

A stencil on a ring adds u[i - 1] and u[i + 1]: two concatenations of slices of u. Written out, each
of them is one more pass over memory. Here the ufunc that reads it takes the slices themselves: of
np.roll(u, 1) + np.roll(u, -1) it computes the first element, all between, and the last one.
Regions do so tile by tile (`ir/assembly.py`); this is for the steps that run as lines.
Read next: `plan_passes/fusion/choice.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tenferro.primitives import Aval
from tenferro_numpy.ir.expression import Expression, simple
from tenferro_numpy.ir.step import Step

__all__ = ["PartwiseUfunc", "split_at_seams"]

#: Elements for each part. A part costs one microsecond, a copy of so many elements two.
_MIN_ELEMENTS_PER_PART = 1 << 13

_Index = tuple[slice, ...]
#: by operand of the ufunc: its number in the line, and its elements; None for those of a scalar
_Taken = tuple[tuple[int, _Index | None], ...]


class PartwiseUfunc:
    """A ufunc over parts: each takes elements of operands and gives some of the result.

    `whole` numbers the operands that have the shape of the result, though maybe unexpanded.
    """

    __slots__ = ("dtype", "function", "parts", "shape", "whole")

    def __init__(
        self,
        function: np.ufunc,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        parts: Sequence[tuple[_Taken, _Index]],
        whole: Sequence[int] = (),
    ) -> None:
        self.function = function
        self.shape = shape
        self.dtype = dtype
        self.parts = tuple(parts)
        self.whole = tuple(whole)

    def __call__(self, *operands: Any) -> Any:
        """Return a new array."""
        return self.into(*operands, np.empty(self.shape, self.dtype))

    def into(self, *given: Any) -> Any:
        """Write into the last operand, which shares no memory with the others, and return it."""
        *operands, out = given
        for i in self.whole:
            if np.shape(operands[i]) != self.shape:
                operands[i] = np.broadcast_to(operands[i], self.shape)
        for taken, place in self.parts:
            read = [operands[i] if index is None else operands[i][index] for i, index in taken]
            self.function(*read, out=out[place])
        return out

    def __repr__(self) -> str:
        return f"<{self.function.__name__} of {len(self.parts)} parts>"


def split_at_seams(
    steps: Sequence[Step], avals: Sequence[Aval], outputs: Collection[int]
) -> list[Step]:
    """Let ufuncs read the pieces of concatenations that nothing else reads."""
    joined = {step.targets[0]: step for step in steps if step.is_concatenation}
    reads = Counter([*outputs, *[slot for step in steps for slot in step.operands]])
    joined = {slot: step for slot, step in joined.items() if reads[slot] == 1}
    found = [_of_pieces(step, joined, avals) for step in steps]
    used = {id(step) for new in found if new is not None for step in new[1]}
    pairs = zip(steps, found, strict=True)
    return [step if new is None else new[0] for step, new in pairs if id(step) not in used]


def _of_pieces(
    step: Step, joined: Mapping[int, Step], avals: Sequence[Aval]
) -> tuple[Step, list[Step]] | None:
    """Return the step on pieces, and the concatenations that it does without."""
    if joined.keys().isdisjoint(step.operands):
        return None
    expression, aval = step.expression, avals[step.targets[0]]
    function = expression.bound[0] if expression.bound else None
    if not isinstance(function, np.ufunc) or expression != simple(function, len(step.operands)):
        return None
    read = [avals[slot].shape for slot in step.operands]
    first = next(slot for slot in step.operands if slot in joined)
    if any([shape not in ((), aval.shape) for shape in read]):
        return None
    axis = _axis_of(joined[first])
    mine = {
        slot: joined[slot]
        for slot in step.operands
        if slot in joined and _axis_of(joined[slot]) == axis
    }
    starts = {slot: _starts(concatenation, axis) for slot, concatenation in mine.items()}
    cuts = sorted({cut for some in starts.values() for cut in some})
    if aval.size < _MIN_ELEMENTS_PER_PART * len(cuts):
        return None
    operands: list[int] = []
    numbers: dict[int, int] = {}  # slot → the number of its first operand in the line
    for slot in step.operands:
        numbers[slot] = len(operands)
        operands += mine[slot].operands if slot in mine else (slot,)

    def taken(slot: int, begin: int, end: int) -> tuple[int, _Index | None]:
        if slot not in mine:
            return numbers[slot], _range(axis, begin, end) if avals[slot].shape else None
        piece = max(i for i, start in enumerate(starts[slot]) if start <= begin)
        offset = starts[slot][piece]
        return numbers[slot] + piece, _range(axis, begin - offset, end - offset)

    parts = [
        (tuple([taken(slot, *ends) for slot in step.operands]), _range(axis, *ends))
        for ends in pairwise([*cuts, aval.shape[axis]])
    ]
    whole = [numbers[i] for i in numbers if i not in mine and avals[i].shape]
    by_parts = PartwiseUfunc(function, aval.shape, np.dtype(aval.dtype.name), parts, whole)
    names = "".join([f"{{{i}}}, " for i in range(len(operands))])
    line = Expression(
        f"{{p0}}({names[:-2]})", (by_parts, by_parts.into), onto=f"{{p1}}({names}{{out}})"
    )
    positions = {*step.positions, *[i for one in mine.values() for i in one.positions]}
    new = Step(line, tuple(operands), step.targets, tuple(sorted(positions)))
    return new, [*mine.values()]


def _axis_of(step: Step) -> int:
    """Return the axis of a concatenation."""
    axis: int = step.expression.bound[1]
    return axis


def _starts(step: Step, axis: int) -> list[int]:
    """Return the place of each piece along the axis."""
    pieces = step.expression.pieces
    assert pieces is not None
    return [start[axis] for start in pieces.starts]


def _range(axis: int, begin: int, end: int) -> _Index:
    return (*[slice(None)] * axis, slice(begin, end))

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
    """Return the step on pieces, and the concatenations that it does without.

    Return None for steps that are no single ufunc, read no concatenation or another shape, and for
    parts that are too small.
    """
    if joined.keys().isdisjoint(step.operands):
        return None
    expression, aval = step.expression, avals[step.targets[0]]
    function = expression.bound[0] if expression.bound else None
    if not isinstance(function, np.ufunc) or expression != simple(function, len(step.operands)):
        return None
    if any([avals[slot].shape not in ((), aval.shape) for slot in step.operands]):
        return None
    pieces = _Pieces(step, joined, avals)
    if aval.size < _MIN_ELEMENTS_PER_PART * len(pieces.cuts):
        return None
    parts = [pieces.part(*ends) for ends in pairwise([*pieces.cuts, aval.shape[pieces.axis]])]
    dtype = np.dtype(aval.dtype.name)
    by_parts = PartwiseUfunc(function, aval.shape, dtype, parts, pieces.whole())
    names = "".join([f"{{{i}}}, " for i in range(len(pieces.operands))])
    line = Expression(
        f"{{p0}}({names[:-2]})", (by_parts, by_parts.into), onto=f"{{p1}}({names}{{out}})"
    )
    replaced = [*pieces.joined.values()]
    positions = {*step.positions, *[i for one in replaced for i in one.positions]}
    new = Step(line, tuple(pieces.operands), step.targets, tuple(sorted(positions)))
    return new, replaced


class _Pieces:
    """The operands of a ufunc, with concatenations along one axis replaced by their pieces.

    ``cuts`` are the places along that axis at which a piece of any of them starts.
    """

    def __init__(self, step: Step, joined: Mapping[int, Step], avals: Sequence[Aval]) -> None:
        read = [slot for slot in step.operands if slot in joined]
        self.slots = step.operands
        self.avals = avals
        self.axis = _axis_of(joined[read[0]])
        self.joined = {slot: joined[slot] for slot in read if _axis_of(joined[slot]) == self.axis}
        self.starts = {slot: _starts(one, self.axis) for slot, one in self.joined.items()}
        self.cuts = sorted({cut for starts in self.starts.values() for cut in starts})
        self.operands: list[int] = []
        self.numbers: dict[int, int] = {}  # slot → the number of its first operand in the line
        for slot in self.slots:
            self.numbers[slot] = len(self.operands)
            self.operands += self.joined[slot].operands if slot in self.joined else (slot,)

    def part(self, begin: int, end: int) -> tuple[_Taken, _Index]:
        """Return what the ufunc reads of its operands between two cuts, and what it writes."""
        taken = tuple([self._taken(slot, begin, end) for slot in self.slots])
        return taken, _range(self.axis, begin, end)

    def _taken(self, slot: int, begin: int, end: int) -> tuple[int, _Index | None]:
        number = self.numbers[slot]
        if slot not in self.joined:
            return number, _range(self.axis, begin, end) if self.avals[slot].shape else None
        starts = self.starts[slot]
        piece = max(i for i, start in enumerate(starts) if start <= begin)
        return number + piece, _range(self.axis, begin - starts[piece], end - starts[piece])

    def whole(self) -> list[int]:
        """Return the numbers of the operands that have the shape of the result."""
        arrays = [slot for slot in self.numbers if self.avals[slot].shape]
        return [self.numbers[slot] for slot in arrays if slot not in self.joined]


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

"""Cut a long program into segments that XLA compiles one by one; identical ones are compiled once.

XLA's time grows faster than the program, and a recurrence written out repeats itself. A segment is
a run of instructions with the slots that it reads and leaves behind; ``structure`` is equal for
segments that one executable can serve. Cuts fall on multiples of a period where the instructions
repeat, so that repetition becomes equality. Literals belong to no segment: each that needs one
makes its own. Knows no jax. Read next: ``_compile.py``.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from tenferro.computegraph import CompiledProgram, Instruction

#: How far back a reference counts as part of the pattern when repetition is looked for.
_MAX_INPUT_DISTANCE = 32


class Segment(NamedTuple):
    """Some instructions, the slots they read, and what they leave behind.

    outputs   (slot in the segment, slot in which the result is kept); a slot may be kept twice
    frees     slots that nothing reads after this segment
    """

    positions: tuple[int, ...]
    inputs: tuple[int, ...]
    outputs: tuple[tuple[int, int], ...]
    frees: tuple[int, ...]
    structure: Hashable


class SegmentPlan(NamedTuple):
    """The segments in order, and the slots of the results; ``slot_count`` has room for copies."""

    segments: tuple[Segment, ...]
    results: tuple[int, ...]
    slot_count: int


def is_literal(instruction: Instruction) -> bool:
    """Return True if an instruction makes its value from parameters alone."""
    return bool(instruction.operation.literal) and not instruction.inputs


def plan_segments(
    program: CompiledProgram, held: frozenset[int], size: int, limit: int | None = None
) -> SegmentPlan:
    """Cut a program of more than ``limit`` instructions into segments of about ``size``.

    ``held`` are slots whose values exist before the program starts, in addition to those of the
    inputs.
    """
    work = [
        position
        for position, instruction in enumerate(program.instructions)
        if not is_literal(instruction)
    ]
    whole = not size or len(work) <= (size if limit is None else limit)
    bounds = [len(work)] if whole else _cuts(program, work, size)
    return _Planner(program, held).plan(work, bounds)


# ---- where to cut --------------------------------------------------------------------------------


def _cuts(program: CompiledProgram, work: Sequence[int], size: int) -> list[int]:
    """Return the ends of the segments; all have one length while the instructions repeat."""
    signs = _signatures(program, work)
    ends: list[int] = []
    start = 0
    while start < len(work):
        start = min(start + _length(signs[start : start + 2 * size], size), len(work))
        ends.append(start)
    return ends


def _signatures(program: CompiledProgram, work: Sequence[int]) -> list[Hashable]:
    """Return per instruction: operation, input avals, and the distances to recent inputs."""
    made_at: dict[int, int] = {}
    signs: list[Hashable] = []
    for index, position in enumerate(work):
        operation, inputs, outputs, *_ = program.instructions[position]
        distances = tuple([index - made_at.get(i, -_MAX_INPUT_DISTANCE) for i in inputs])
        near = tuple([d if d < _MAX_INPUT_DISTANCE else 0 for d in distances])
        signs.append((operation, near, tuple([program.avals[i] for i in inputs])))
        made_at.update(dict.fromkeys(outputs, index))
    return signs


def _length(signs: Sequence[Hashable], size: int) -> int:
    """Return a multiple of the period of the instructions ahead, else ``size``.

    The border of a prefix gives its period (Knuth, Morris & Pratt 1977).
    """
    borders = [0] * len(signs)
    length = size
    for end in range(1, len(signs)):
        border = borders[end - 1]
        while border and signs[end] != signs[border]:
            border = borders[border - 1]
        borders[end] = border + (signs[end] == signs[border])
        period = end + 1 - borders[end]
        candidate = period * (size // period) if period <= size else size
        if 2 * period <= end + 1 and candidate <= end + 1:
            length = candidate
    return length


# ---- what a segment reads and leaves -------------------------------------------------------------


class _Planner:
    """Works out the slots between segments."""

    def __init__(self, program: CompiledProgram, held: frozenset[int]) -> None:
        self.program = program
        self.given = held.union(program.inputs)
        self.literals = {
            slot: position
            for position, instruction in enumerate(program.instructions)
            if is_literal(instruction)
            for slot in instruction.outputs
            if slot not in held
        }

    def plan(self, work: Sequence[int], ends: Sequence[int]) -> SegmentPlan:
        parts = [tuple(work[i:j]) for i, j in zip([0, *ends], ends, strict=False)] or [()]
        results, copies = self._results(parts)
        reads = [self._reads(part) for part in parts]
        reads[-1].update(dict.fromkeys(copies.values()))
        last_read = {slot: k for k, slots in enumerate(reads) for slot in slots}
        kept = frozenset(results)
        if len(parts) == 1:
            return self._whole(parts[0], reads[0], results, copies)
        segments = []
        for k, part in enumerate(parts):
            wanted = [
                (slot, slot)
                for slot in self._writes(part)
                if slot in kept or last_read.get(slot, k) > k
            ]
            if k == len(parts) - 1:
                wanted += [(slot, copy) for copy, slot in copies.items()]
            frees = tuple(s for s in reads[k] if last_read[s] == k and s not in kept)
            segments.append(self._segment(part, reads[k], tuple(wanted), frees))
        return SegmentPlan(tuple(segments), results, self.program.slot_count + len(copies))

    def _whole(
        self,
        part: tuple[int, ...],
        reads: dict[int, None],
        results: tuple[int, ...],
        copies: dict[int, int],
    ) -> SegmentPlan:
        """Plan the only segment: it takes the inputs in their order, then what is held, and gives
        the results in theirs, so that nothing stands between a call and the executable.
        """
        inputs = dict.fromkeys(self.program.inputs)
        held = [slot for slot in reads if slot in self.given and slot not in inputs]
        outputs = tuple([(copies.get(slot, slot), slot) for slot in results])
        ordered = {**inputs, **dict.fromkeys(held), **reads}
        segment = self._segment(part, ordered, outputs, ())
        return SegmentPlan((segment,), results, self.program.slot_count + len(copies))

    def _results(self, parts: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], dict[int, int]]:
        """Return the slots of the results, and new slots for those that must be copies.

        Copies are results that are returned twice, or that the program did not compute itself.
        """
        fresh = {slot for part in parts for slot in self._writes(part)}
        copies: dict[int, int] = {}
        results = []
        for slot in self.program.outputs:
            if slot in fresh:
                fresh.remove(slot)
                results.append(slot)
            else:
                results.append(self.program.slot_count + len(copies))
                copies[results[-1]] = slot
        return tuple(results), copies

    def _writes(self, part: Sequence[int]) -> list[int]:
        return [slot for p in part for slot in self.program.instructions[p].outputs]

    def _reads(self, part: Sequence[int]) -> dict[int, None]:
        """Return the slots that a part reads, in the order of first use."""
        return {slot: None for p in part for slot in self.program.instructions[p].inputs}

    def _segment(
        self,
        part: tuple[int, ...],
        reads: dict[int, None],
        outputs: tuple[tuple[int, int], ...],
        frees: tuple[int, ...],
    ) -> Segment:
        own = set(self._writes(part))
        literals = dict.fromkeys(self.literals[slot] for slot in reads if slot in self.literals)
        inputs = tuple(s for s in reads if s not in own and s not in self.literals)
        positions = (*literals, *part)
        structure = self._structure(positions, inputs, outputs)
        frees = tuple(s for s in frees if s in inputs and s not in self.given)
        return Segment(positions, inputs, outputs, frees, structure)

    def _structure(
        self,
        positions: Sequence[int],
        inputs: Sequence[int],
        outputs: Sequence[tuple[int, int]],
    ) -> Hashable:
        """Return the segment with slots numbered from its own inputs on."""
        number = {slot: i for i, slot in enumerate(inputs)}
        rows: list[Any] = []
        for position in positions:
            operation, read, written, *_ = self.program.instructions[position]
            rows.append((operation, tuple([number[i] for i in read])))
            for slot in written:
                number[slot] = len(number)
        return (
            tuple([self.program.avals[i] for i in inputs]),
            tuple(rows),
            tuple([number[slot] for slot, _ in outputs]),
        )

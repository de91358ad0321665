"""Parts of a program that run block by block, some rows at a time, so that they stay in the cache.

A product, a softmax of its rows, what the loss does with them and the sums of the gradient: each
alone goes once through memory. Where every instruction acts on rows, as most do whose leading axis
counts samples, a block of rows goes through all of them before the next. Values that only the block
reads are never whole in memory. Read next: `_blocked.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tenferro.computegraph import PRIMARY, CompiledProgram, compile_program, from_rows
from tenferro.computegraph._records import NamedTuple
from tenferro.primitives import Aval
from tenferro.primitives.constants import Constant
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.structural import BroadcastInDim, Reshape, Transpose
from tenferro_numpy._rows import REDUCTIONS, ByRows, acts_by_rows, with_extent
from tenferro_numpy._tiling import even_rows

__all__ = ["Block", "find_blocks"]

_FEWEST = 4  # rows of a block
_OWN = 2  # part of the cache for what a block makes; the rest is for operands and for BLAS
_WHOLE = 8  # part of the cache that a whole operand of a product, or a partial result, may take
_VIEWS = (BroadcastInDim, Reshape, Transpose)
_BETWEEN_REGIONS = (DotGeneral, *REDUCTIONS)


class Block(NamedTuple):
    """Instructions that act on rows of one extent, and what they exchange with the others."""

    members: dict[int, ByRows]  # by position
    extent: int
    rows: int  # of a block
    by_rows: tuple[int, ...]  # slots read row by row
    whole: tuple[int, ...]  # slots read whole
    stacked: tuple[int, ...]  # slots whose rows others read
    joined: dict[int, np.ufunc]  # slots that are joined of parts, and how
    constants: dict[tuple[int, bool], Constant]  # read row by row, or whole
    work: int  # elements that are written

    @property
    def sizes(self) -> tuple[int, ...]:
        """The rows of a full block, and of the last one."""
        rest = self.extent % self.rows
        return (self.rows, rest) if rest else (self.rows,)

    def program(self, program: CompiledProgram, rows: int) -> CompiledProgram:
        """Its instructions for so many rows."""
        avals: list[Aval] = []
        slots: dict[tuple[int, bool], int] = {}  # a slot may be read row by row, and whole

        def place(slot: int, *, by_rows: bool) -> int:
            aval = program.avals[slot]
            slots[slot, by_rows] = len(avals)
            avals.append(Aval((rows, *aval.shape[1:]), aval.dtype) if by_rows else aval)
            return slots[slot, by_rows]

        for slot in self.by_rows:
            place(slot, by_rows=True)
        for slot in self.whole:
            place(slot, by_rows=False)
        inputs = [(f"x{i}", aval) for i, aval in enumerate(avals)]
        instructions: list[Any] = []
        for pair, constant in self.constants.items():
            made = place(pair[0], by_rows=pair[1])
            full = Constant(constant.value, constant.dtype, avals[made].shape)
            instructions.append((full, (), (made,), PRIMARY, None))
        for position, how in self.members.items():
            op, read, outputs, _, role, source = program.instructions[position]
            operands = tuple([slots[pair] for pair in zip(read, how.operands, strict=True)])
            made = place(outputs[0], by_rows=how.joined is None)
            sized = with_extent(op, rows) if how.joined is None else op
            instructions.append((sized, operands, (made,), role, source))
        results = [slots[slot, True] for slot in self.stacked]
        results += [slots[slot, False] for slot in self.joined]
        return compile_program(from_rows(inputs, instructions, results, avals))


def find_blocks(program: CompiledProgram, cache: int) -> list[Block]:
    """The parts of a program that are worth it, for a cache of so many bytes."""
    found: list[Block] = []
    taken: set[int] = set()
    for extent in _extents(program, cache):
        block = _Search(program, extent, cache, taken).block()
        while block is not None:
            found.append(block)
            taken.update(block.members)
            block = _Search(program, extent, cache, taken).block()
    return found


def _extents(program: CompiledProgram, cache: int) -> list[int]:
    """The extents of leading axes of values that fill the cache together, the largest first."""
    if not any(isinstance(i.operation, _BETWEEN_REGIONS) for i in program.instructions):
        return []
    sizes: Counter[int] = Counter()
    for instruction in program.instructions:
        for aval in [program.avals[slot] for slot in instruction.outputs]:
            if aval.shape and aval.shape[0] >= 2 * _FEWEST:
                sizes[aval.shape[0]] += _bytes(aval)
    return [extent for extent, size in sizes.most_common() if size > cache]


class _Search:
    """What acts on rows of an extent, and needs nothing that follows from it and does not."""

    def __init__(self, program: CompiledProgram, extent: int, cache: int, taken: set[int]) -> None:
        self.program = program
        self.extent = extent
        self.cache = cache
        self.members: dict[int, ByRows] = {}
        self.made: dict[int, ByRows] = {}  # by slot
        self.after: set[int] = set()  # slots that follow from the block, and have no rows in it
        for position, instruction in enumerate(program.instructions):
            op, inputs, outputs = instruction[:3]
            how = None if position in taken else self.how(op, inputs, outputs)
            if how is not None:
                self.members[position] = self.made[outputs[0]] = how
                if how.joined is not None:
                    self.after.update(outputs)
            elif any([i in self.after or i in self.made for i in inputs]):
                self.after.update(outputs)

    def how(self, op: Any, inputs: Sequence[int], outputs: Sequence[int]) -> ByRows | None:
        """How an instruction acts in the block, if it can be in it."""
        if len(outputs) != 1 or not inputs:
            return None
        avals = [self.program.avals[i] for i in inputs]
        result = self.program.avals[outputs[0]]
        how = acts_by_rows(op, avals, result, self.extent)
        if how is None:
            return None
        for slot, by_rows in zip(inputs, how.operands, strict=True):
            if slot in self.after or (slot in self.made and not by_rows):
                return None
        whole = [aval for aval, by_rows in zip(avals, how.operands, strict=True) if not by_rows]
        whole += [result] if how.joined is not None else []
        return how if all(_WHOLE * _bytes(aval) <= self.cache for aval in whole) else None

    def block(self) -> Block | None:
        """What was found, if it is worth it."""
        avals, exported = self.program.avals, self.exported()
        written = {slot: _bytes(avals[slot]) for slot in self.written()}
        inside = sum(size for slot, size in written.items() if slot not in exported)
        outside = sum(_bytes(avals[slot]) for slot in exported)
        if inside <= max(self.cache, outside) or not self.is_more_than_a_region():
            return None
        rows = self.cache * self.extent // (_OWN * sum(written.values()))
        rows = even_rows(self.extent, rows) if rows else 0
        if not _FEWEST <= rows < self.extent:
            return None
        constants, given = self.read()
        return Block(
            self.members,
            self.extent,
            rows,
            tuple([slot for slot, by_rows in given if by_rows]),
            tuple([slot for slot, by_rows in given if not by_rows]),
            tuple([slot for slot in exported if self.made[slot].joined is None]),
            {slot: join for slot in exported if (join := self.made[slot].joined) is not None},
            constants,
            sum(avals[slot].size for slot in written),
        )

    def read(self) -> tuple[dict[tuple[int, bool], Constant], list[tuple[int, bool]]]:
        """What it reads, row by row or whole, that others make: constants, and the rest."""
        instructions = self.program.instructions
        pairs: dict[tuple[int, bool], None] = {}
        for position, how in self.members.items():
            read = zip(instructions[position].inputs, how.operands, strict=True)
            pairs.update({pair: None for pair in read if pair[0] not in self.made})
        known = {i.outputs[0]: i.operation for i in instructions if type(i.operation) is Constant}
        constants = {pair: known[pair[0]] for pair in pairs if pair[0] in known}
        return constants, [pair for pair in pairs if pair not in constants]

    def written(self) -> Iterator[int]:
        """The slots with rows that are arrays of their own."""
        for position, how in self.members.items():
            op, _, outputs = self.program.instructions[position][:3]
            if how.joined is None and not isinstance(op, _VIEWS):
                yield outputs[0]

    def exported(self) -> dict[int, None]:
        """The slots that others read."""
        read = set(self.program.outputs)
        for position, instruction in enumerate(self.program.instructions):
            if position not in self.members:
                read.update(instruction.inputs)
        return {slot: None for slot in self.made if slot in read}

    def is_more_than_a_region(self) -> bool:
        """Whether a product or a reduction within rows stands between members."""
        breaking: set[int] = set()  # slots
        for position, how in self.members.items():
            op, inputs, outputs = self.program.instructions[position][:3]
            after_break = not breaking.isdisjoint(inputs)
            if isinstance(op, _VIEWS):
                if after_break:
                    breaking.update(outputs)
                continue
            product = isinstance(op, DotGeneral)
            if after_break or (product and not self.made.keys().isdisjoint(inputs)):
                return True
            if product or (isinstance(op, REDUCTIONS) and how.joined is None):
                breaking.update(outputs)
        return False


def _bytes(aval: Aval) -> int:
    return aval.size * aval.dtype.itemsize

"""Savings of a row block, and the number of rows that fit the cache.

Regions alone already keep in the cache what elementwise lines hand on. What they must write out is
what stands on both sides of a product, or of a reduction within rows. A backend whose fused loops
have one result each writes out as well what two results need. Read next: ``even.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import accumulate

from tenferro.backend.row_blocks.row_rules import REDUCTIONS, ByRows
from tenferro.computegraph import CompiledProgram
from tenferro.primitives import Aval
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.structural import BroadcastInDim, Reshape, Transpose

__all__ = ["VIEWS", "Gains", "size_of"]

_SEVERAL = -1  # results, where slots have numbers from 0
VIEWS = (BroadcastInDim, Reshape, Transpose)


class Gains:
    """The memory that some instructions write; views are part of what they view.

    written   bytes of each array with rows, by the slot that makes it
    between   of them, those that regions would write out for other members
    alive     the most bytes that are alive at once

    ``one_result`` states that regions have one result each.
    """

    def __init__(
        self,
        program: CompiledProgram,
        members: Mapping[int, ByRows],
        exported: Collection[int],
        *,
        one_result: bool = False,
    ) -> None:
        self.written: dict[int, int] = {}
        self.between: set[int] = set()
        self._made: dict[int, int] = {}  # the position of the member that makes a slot
        self._root: dict[int, int] = {}  # the slot whose memory a slot is
        self._level: dict[int, int] = {}  # of the region that would make it
        self._ready: dict[int, int] = {}  # the first level that may read it
        self._last: dict[int, int] = {}  # the position of the last member that reads it
        for position, how in members.items():
            self._note(program, position, how)
        if one_result:
            self._note_shared(program, members, exported)
        self._last.update(
            {self._root[slot]: len(program) for slot in exported if slot in self._root}
        )
        self.alive = self._most_alive()

    def _note(self, program: CompiledProgram, position: int, how: ByRows) -> None:
        op, inputs, outputs = program.nodes[position][:3]
        read = [slot for slot in inputs if slot in self._root]
        level = max([self._ready[slot] for slot in read], default=0)
        product = isinstance(op, DotGeneral)
        for slot in read:
            root = self._root[slot]
            self._last[root] = position
            if product or level > self._level[root]:
                self.between.add(root)
        if how.joined is not None:
            return
        (made,) = outputs
        if isinstance(op, VIEWS):
            if read:
                self._root[made] = self._root[read[0]]
                self._ready[made] = self._ready[read[0]]
            return
        self._root[made] = made
        self._made[made] = self._last[made] = position
        self.written[made] = size_of(program.avals[made])
        self._level[made] = level
        self._ready[made] = level + (product or isinstance(op, REDUCTIONS))
        if product:
            self.between.add(made)

    def _note_shared(
        self, program: CompiledProgram, members: Mapping[int, ByRows], exported: Collection[int]
    ) -> None:
        """Add to ``between`` what two regions read, if each region has one result."""
        reader: dict[int, int] = {}  # by slot: the result that needs it, or _SEVERAL
        for position in reversed(list(members)):
            op, inputs, (made,) = program.nodes[position][:3]
            result = reader.get(made, made)
            if members[position].joined is not None or isinstance(op, (DotGeneral, *REDUCTIONS)):
                result = made
            elif made in self.written and (result == _SEVERAL or made in exported):
                self.between.add(made)
                result = made
            for slot in inputs:
                reader[slot] = result if reader.get(slot, result) == result else _SEVERAL

    def _most_alive(self) -> int:
        changes = [(self._made[slot], 0, size) for slot, size in self.written.items()]
        changes += [(self._last[slot], 1, -size) for slot, size in self.written.items()]
        return max(accumulate([size for _, _, size in sorted(changes)]), default=0)


def size_of(aval: Aval) -> int:
    """Return the bytes of an array."""
    return aval.size * aval.dtype.itemsize

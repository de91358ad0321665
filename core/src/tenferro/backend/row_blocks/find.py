"""Search for row blocks: parts of a program that run tile by tile, some rows at a time.

A product, a softmax of its rows, what the loss does with them and the sums of the gradient: each
alone goes once through memory. Where every instruction acts on rows, as most do where an axis
counts samples, a tile of some rows goes through all of them before the next, and stays in the
cache. The axis may stand anywhere. Values that only the row block reads are never whole in memory.
Read next: ``row_rules.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.backend.row_blocks.even import even_rows
from tenferro.backend.row_blocks.row_rules import (
    DTYPES,
    REDUCTIONS,
    ByRows,
    acts_by_rows,
    has_rule,
    resized,
    row_axis,
    with_rows,
)
from tenferro.backend.row_blocks.savings import VIEWS, Gains, size_of
from tenferro.computegraph import PRIMARY, CompiledProgram, compile_program, from_rows
from tenferro.primitives import Aval
from tenferro.primitives.constants import Constant
from tenferro.primitives.contraction import DotGeneral

__all__ = ["RowBlock", "find_row_blocks"]

_MIN_ROWS_OF_TILE = 4
#: The values of a tile take half of the cache, unless a backend says more; operands and BLAS the
#: rest.
_CACHE_PER_TILE = 2
_CACHE_PER_WHOLE_OPERAND = 8  # an operand that is read whole, or a partial result, an eighth
_MIN_BYTES_SAVED_PER_BYTE_READ = 3  # bytes not written out, for each that others read
_MOVES_PER_PART = 2  # a partial result is written, and added up: twice what else is not written
_SHIFT_OF_LINE = 10  # 1/2¹⁰ of the cache in bytes: elements for which a line is worth its call
_MAX_EXTENTS_COMPARED = 4  # that hold the most bytes
_MAX_SEARCHES = 32  # walks through a program; each may find a block
_MAX_VAIN_SEARCHES = 4  # of one extent in a row that find no block, as in a chain of products
_OPERATION = itemgetter(0)  # of an instruction
_BETWEEN_REGIONS = (DotGeneral, *REDUCTIONS)


class RowBlock(NamedTuple):
    """Instructions that act on rows of one extent, and what they exchange with the others."""

    members: dict[int, ByRows]  # by position
    extent: int
    rows: int  # of a tile
    by_rows: tuple[int, ...]  # slots read row by row
    whole: tuple[int, ...]  # slots read whole
    stacked: tuple[int, ...]  # slots whose rows others read
    joined: dict[int, type]  # slots that are joined of parts, and by which elementwise primitive
    constants: dict[tuple[int, bool], Constant]  # read row by row, or whole
    work: int  # elements that are written
    saved: int  # bytes that are not written out

    @property
    def sizes(self) -> tuple[int, ...]:
        """The rows of a full tile, and of the last one if it is smaller."""
        rest = self.extent % self.rows
        return (self.rows, rest) if rest else (self.rows,)

    def program(self, program: CompiledProgram, rows: int) -> CompiledProgram:
        """Return its instructions for this many rows."""
        avals: list[Aval] = []
        slots: dict[tuple[int, bool], int] = {}  # a slot may be read row by row, and whole

        def place(slot: int, *, by_rows: bool) -> int:
            aval = program.avals[slot]
            slots[slot, by_rows] = len(avals)
            shape = resized(aval.shape, self.extent, rows) if by_rows else aval.shape
            avals.append(Aval(shape, aval.dtype))
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
            row = program.nodes[position]
            op, read, outputs = row[:3]
            operands = tuple([slots[pair] for pair in zip(read, how.operands, strict=True)])
            made = place(outputs[0], by_rows=how.joined is None)
            sized = with_rows(op, self.extent, rows) if how.joined is None else op
            instructions.append((sized, operands, (made,), row.role, row.source))
        results = [slots[slot, True] for slot in self.stacked]
        results += [slots[slot, False] for slot in self.joined]
        return compile_program(from_rows(inputs, instructions, results, avals))


class _Target(NamedTuple):
    """Target of the search: bytes of the cache and of a tile, and whether fused loops have one
    result each.
    """

    cache: int
    tile: int
    one_result: bool


class _Acting(NamedTuple):
    """Instructions that act on the rows of an extent, and those of them that a block needs."""

    rows: Mapping[int, ByRows]
    borders: Set[int]


def find_row_blocks(
    program: CompiledProgram, cache: int, *, tile: int = 0, one_result: bool = False
) -> list[RowBlock]:
    """Find the row blocks that save memory traffic, for a cache of so many bytes.

    The values of a tile take about ``tile`` bytes, or half of the cache if that is more.
    ``one_result`` states that the loops into which the backend fuses elementwise code have one
    result each.
    """
    target = _Target(cache, max(tile, cache // _CACHE_PER_TILE), one_result)
    extents = _extents(program, cache)
    entries = _entries(program) if extents else {}
    written = [size_of(program.avals[row[2][0]]) for row in program.nodes] if extents else []
    acting: dict[int, _Acting] = {}
    for extent in extents:
        rows = _acting_by_rows(entries, extent, cache)
        borders = _borders(program, rows, target)
        if borders and sum([written[position] for position in rows]) > cache:
            acting[extent] = _Acting(rows, borders)
    first: dict[int, _Search] = {}
    if len(acting) > 1:
        compared = list(acting)[:_MAX_EXTENTS_COMPARED]
        first = {
            extent: _Search(program, extent, target, acting[extent].rows) for extent in compared
        }
    chosen = _Chosen(program)
    walks = iter(range(_MAX_SEARCHES))
    for extent in _most_saving_first(first, acting):
        _find_along(extent, acting[extent], chosen, walks, target, first.get(extent), written)
    return chosen.blocks


def _find_along(
    extent: int,
    acting: _Acting,
    chosen: _Chosen,
    walks: Iterator[int],
    target: _Target,
    first: _Search | None,
    written: Sequence[int],
) -> None:
    """Add the row blocks of one extent; ``first`` is the search through all instructions.

    ``written`` are the bytes that each instruction writes.
    """
    rows, borders = acting
    left = rows.keys() - chosen.block_of.keys()
    vain = 0
    for _ in walks:
        if (
            vain >= _MAX_VAIN_SEARCHES
            or borders.isdisjoint(left)
            or sum([written[position] for position in left]) <= target.cache
        ):
            break
        search = first
        if search is None or len(left) < len(rows):
            search = _Search(chosen.program, extent, target, {i: rows[i] for i in left})
        left -= search.members.keys()
        vain = 0 if chosen.add(search) else vain + 1
        if not search.members:
            break


class _Chosen:
    """The row blocks of a program that were found so far; ``block_of`` numbers them by position."""

    def __init__(self, program: CompiledProgram) -> None:
        self.program = program
        self.blocks: list[RowBlock] = []
        self.block_of: dict[int, int] = {}

    def add(self, search: _Search) -> bool:
        """Add what a search found, if it is a block; all blocks must be able to run as wholes."""
        block = search.block
        if block is None:
            return False
        joined = {**self.block_of, **dict.fromkeys(search.members, len(self.blocks))}
        if not _has_order(self.program, joined):
            return False
        self.blocks.append(block)
        self.block_of = joined
        return True


def _entries(program: CompiledProgram) -> dict[tuple[Any, ...], list[int]]:
    """Return what decides how instructions act, with their positions: operation, avals, that of
    the result last.
    """
    aval_of = program.avals.__getitem__
    allowed = {aval for aval in set(program.avals) if aval.dtype.name in DTYPES}
    kinds = {kind for kind in set(map(type, map(_OPERATION, program.nodes))) if has_rule(kind)}
    found: dict[tuple[Any, ...], list[int]] = {}
    for position, row in enumerate(program.nodes):
        if type(row[0]) in kinds and row[1] and len(row[2]) == 1:
            avals = (*map(aval_of, row[1]), aval_of(row[2][0]))
            if allowed.issuperset(avals):
                found.setdefault((row[0], *avals), []).append(position)
    return found


def _most_saving_first(first: Mapping[int, _Search], extents: Iterable[int]) -> Iterable[int]:
    """Return the extents in the order of the bytes that their first blocks would save.

    Extents of small arrays, which are not among the ``first``, keep their order behind these.
    """
    blocks = {extent: search.block for extent, search in first.items()}
    saved = {extent: block.saved for extent, block in blocks.items() if block is not None}
    order = sorted(first, key=lambda extent: saved.get(extent, 0), reverse=True)
    return dict.fromkeys([*order, *extents])


def _acting_by_rows(
    entries: Mapping[tuple[Any, ...], Iterable[int]], extent: int, cache: int
) -> dict[int, ByRows]:
    """Return how instructions act on rows, by position, except those that read too much else."""
    found: dict[int, ByRows] = {}
    for entry, positions in entries.items():
        how = _acts(entry, extent, cache)
        if how is not None:
            found.update(dict.fromkeys(positions, how))
    return found


def _borders(program: CompiledProgram, rows: Mapping[int, ByRows], target: _Target) -> Set[int]:
    """Return the positions of instructions across which a block may hand on values.

    Where fused loops have any number of results, these are products, and reductions within rows:
    a block without any saves nothing.
    """
    if target.one_result:
        return rows.keys()
    kinds = {position: type(program.nodes[position][0]) for position in rows}
    return {
        position
        for position, kind in kinds.items()
        if issubclass(kind, _BETWEEN_REGIONS)
        and (kind is DotGeneral or rows[position].joined is None)
    }


@lru_cache(maxsize=2048)  # a function and its derivatives share most of their instructions
def _acts(entry: tuple[Any, ...], extent: int, cache: int) -> ByRows | None:
    op, *avals, result = entry
    how = acts_by_rows(op, avals, result, extent)
    if how is None:
        return None
    whole = [aval for aval, by_rows in zip(avals, how.operands, strict=True) if not by_rows]
    whole += [result] if how.joined is not None else []
    return how if all(_CACHE_PER_WHOLE_OPERAND * size_of(aval) <= cache for aval in whole) else None


def _has_order(program: CompiledProgram, block_of: Mapping[int, int]) -> bool:
    """Return True if blocks can run as a whole, one after the other: none waits for itself."""
    maker: dict[int, int] = {}  # slot → its block, or its position below all blocks
    readers: dict[int, set[int]] = {}
    for position, row in enumerate(program.nodes):
        node = block_of.get(position, ~position)
        maker.update(dict.fromkeys(row[2], node))
        readers.setdefault(node, set())
    waits = dict.fromkeys(readers, 0)
    for position, row in enumerate(program.nodes):
        node = block_of.get(position, ~position)
        for slot in row[1]:
            source = maker.get(slot, node)
            if source != node and node not in readers[source]:
                readers[source].add(node)
                waits[node] += 1
    ready = [node for node, count in waits.items() if not count]
    done = 0
    while ready:
        done += 1
        for node in readers[ready.pop()]:
            waits[node] -= 1
            if not waits[node]:
                ready.append(node)
    return done == len(waits)


def _extents(program: CompiledProgram, cache: int) -> list[int]:
    """Return the extents of axes of values that fill the cache together, largest first."""
    kinds = set(map(type, map(_OPERATION, program.nodes)))
    if not any(issubclass(kind, _BETWEEN_REGIONS) for kind in kinds):
        return []
    sizes: Counter[int] = Counter()
    lines: dict[int, int] = {}  # the largest array of an extent
    avals = program.avals[len(program.inputs) :]
    for aval, count in Counter(avals).items():
        for extent in set(aval.shape):
            if extent < 2 * _MIN_ROWS_OF_TILE or row_axis(aval.shape, extent) is None:
                continue
            sizes[extent] += count * size_of(aval)
            lines[extent] = max(lines.get(extent, 0), aval.size)
    least = cache >> _SHIFT_OF_LINE  # elements of a line of some of the rows
    return [
        extent for extent, size in sizes.most_common() if size > cache and lines[extent] > least
    ]


class _Search:
    """Search for instructions that act on rows of an extent and form a valid block."""

    def __init__(
        self, program: CompiledProgram, extent: int, target: _Target, rows: Mapping[int, ByRows]
    ) -> None:
        self.program = program
        self.extent = extent
        self.cache, self.tile, self.one_result = target
        self.members: dict[int, ByRows] = {}
        self.made: dict[int, ByRows] = {}  # by slot
        self.after: set[int] = set()  # slots that follow from the block, and have no rows in it
        first, last = min(rows, default=0), max(rows, default=-1)
        members, made, after = self.members, self.made, self.after
        waits_not, is_not_made = after.isdisjoint, made.keys().isdisjoint
        for position, row in enumerate(program.nodes[first : last + 1], first):
            inputs, outputs, how = row[1], row[2], rows.get(position)
            if how is not None and waits_not(inputs) and self.reads_rows_only(inputs, how):
                members[position] = made[outputs[0]] = how
                if how.joined is not None:
                    after.update(outputs)
            elif not (waits_not(inputs) and is_not_made(inputs)):
                after.update(outputs)
        self.drop_idle_views()

    def reads_rows_only(self, inputs: Sequence[int], how: ByRows) -> bool:
        """Return True if an instruction reads nothing whole that the block makes."""
        if False not in how.operands:
            return True
        made, reads = self.made, zip(inputs, how.operands, strict=True)
        return not any([slot in made for slot, by_rows in reads if not by_rows])

    def drop_idle_views(self) -> None:
        """Leave views that no member reads to those who do."""
        read: set[int] = set()
        for position in reversed(list(self.members)):
            op, inputs, outputs = self.program.nodes[position][:3]
            if isinstance(op, VIEWS) and outputs[0] not in read:
                del self.members[position], self.made[outputs[0]]
            else:
                read.update(inputs)

    @cached_property
    def block(self) -> RowBlock | None:
        """The block that was found, if it is worth it."""
        avals = self.program.avals
        made = sum([size_of(avals[slot]) for slot in self.made])
        if made <= self.cache:
            return None
        exported = self.exported()
        outside = sum([size_of(avals[slot]) for slot in exported])
        least = max(self.cache, _MIN_BYTES_SAVED_PER_BYTE_READ * outside)
        if made - outside <= least:
            return None
        gains = Gains(self.program, self.members, exported, one_result=self.one_result)
        inside = sum([gains.written[slot] for slot in gains.between if slot not in exported])
        if inside <= least:
            return None
        in_half = self.cache * self.extent // (_CACHE_PER_TILE * gains.alive)
        rows = self.tile * self.extent // gains.alive
        rows = min(rows, max(in_half, self.extent // 2))  # at least two larger tiles
        rows = even_rows(self.extent, rows) if rows else 0
        work = sum(avals[slot].size for slot in gains.written)
        a_line = work * rows // (self.extent * len(gains.written))
        if not _MIN_ROWS_OF_TILE <= rows < self.extent or a_line < self.cache >> _SHIFT_OF_LINE:
            return None
        constants, given = self.read()
        tiles = -(-self.extent // rows)
        partial = sum([size_of(avals[i]) for i in exported if self.made[i].joined is not None])
        whole = sum([size_of(avals[slot]) for slot, by_rows in given if not by_rows])
        again = partial + max(0, whole - self.cache)  # bytes that each tile moves again
        if inside <= _MOVES_PER_PART * tiles * again or gains.alive < tiles * partial:
            return None
        return RowBlock(
            self.members,
            self.extent,
            rows,
            tuple([slot for slot, by_rows in given if by_rows]),
            tuple([slot for slot, by_rows in given if not by_rows]),
            tuple([slot for slot in exported if self.made[slot].joined is None]),
            {slot: join for slot in exported if (join := self.made[slot].joined) is not None},
            constants,
            work,
            inside - outside,
        )

    def read(self) -> tuple[dict[tuple[int, bool], Constant], list[tuple[int, bool]]]:
        """Return the constants and other slots that the block reads, row by row or whole."""
        nodes = self.program.nodes
        pairs: dict[tuple[int, bool], None] = {}
        for position, how in self.members.items():
            read = zip(nodes[position].inputs, how.operands, strict=True)
            pairs.update({pair: None for pair in read if pair[0] not in self.made})
        known = {i.outputs[0]: i.operation for i in nodes if type(i.operation) is Constant}
        constants = {pair: known[pair[0]] for pair in pairs if pair[0] in known}
        return constants, [pair for pair in pairs if pair not in constants]

    def exported(self) -> dict[int, None]:
        """Return the slots that other instructions read."""
        read = set(self.program.outputs)
        for position, row in enumerate(self.program.nodes):
            if position not in self.members:
                read.update(row[1])
        return {slot: None for slot in self.made if slot in read}

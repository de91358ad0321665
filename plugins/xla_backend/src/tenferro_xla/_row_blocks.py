"""Row blocks: parts of a program that XLA runs in a loop over tiles of rows, within the cache.

On the CPU, XLA fuses elementwise code, but writes out what stands on both sides of a product or a
reduction, and what two results need; arrays of many rows then go through memory many times. Core
finds the parts that act on rows (``tenferro.backend.row_blocks``); each becomes one instruction,
``RowBlockLoop``, lowered to a ``fori_loop`` whose body takes a tile of rows through all of them.
XLA divides the rows of a tile among processors, and each has a cache of its own. Value and gradient
of a Gaussian mixture at 10,000 points take 42 ms whole, and 9 ms so. Read next: ``_trace.py``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
from jax import Array, lax

from tenferro.backend.lowering import LoweringTable
from tenferro.backend.regions import in_order
from tenferro.backend.row_blocks import VIEWS, RowBlock, find_row_blocks, row_axis, size_of
from tenferro.computegraph import PRIMARY, CompiledProgram, Operation, compile_program, from_rows
from tenferro.primitives import (
    Add,
    Aval,
    DebugCallback,
    DotGeneral,
    HostCallback,
    Maximum,
    Minimum,
)
from tenferro_xla._bodies import OwnOperation
from tenferro_xla._loop_constants import with_broadcasts_in_loops
from tenferro_xla._operands import numpy_dtype
from tenferro_xla.lowerings.control import of_program

__all__ = [
    "RowBlockLoop",
    "cache_of_processors",
    "described_blocks",
    "rewritten_as_body",
    "with_row_blocks",
]

#: Bytes of the cache of one processor: a usual second level, or a share of the third.
_BYTES_PER_PROCESSOR = 1 << 21
#: Times that each tile moves an operand that it reads whole: products read it and pack it.
_MOVES_PER_TILE = 2
#: Multiple of the cache that a loop must save: behind it is a larger one, where less still fits.
_MIN_CACHES_SAVED = 3
#: Multiple of the cache from which on arrays leave that one, too.
_CACHES_OF_FAR_MEMORY = 12
#: Calls of kernels (0.4 µs each) in the time in which what the cache holds comes from the next one.
_CALLS_PER_CACHE = 100
_JOINS: dict[type, tuple[Callable[[Any, Any], Array], float, bool]] = {
    Add: (lax.add, -0.0, False),
    Maximum: (lax.max, -np.inf, False),
    Minimum: (lax.min, np.inf, True),
}
"""The function that joins partial results, and the number and the bool that leave others as is."""


class RowBlockLoop(OwnOperation):
    """Run a program for some rows at a time.

    parts     the program for a full tile, and the one for the rows that are left, if any are
    extent    rows in all; ``rows`` of a full tile
    sliced    number of operands that are read row by row; those behind them are read whole
    stacked   avals of the results that have rows
    joined    avals of the results that are joined of parts, and the primitives that join them
    """

    name = "row_blocks"
    input_count = None
    parts: tuple[CompiledProgram, ...]
    extent: int
    rows: int
    sliced: int
    stacked: tuple[Aval, ...]
    joined: tuple[tuple[Aval, type], ...]

    @property
    def output_count(self) -> int:
        """As many as the program of a tile has."""
        return len(self.stacked) + len(self.joined)

    def abstract_eval(self, *_: Aval) -> tuple[Aval, ...]:
        """Return the avals of the results."""
        return *self.stacked, *[aval for aval, _ in self.joined]

    def lowered(self, table: LoweringTable) -> Callable[..., Any]:
        """Return the function of JAX that runs all tiles."""
        full, *others = [of_program(part, table) for part in self.parts]
        count, rest = divmod(self.extent, self.rows)

        def run(_: Operation, *xs: Array) -> Any:
            def tile(i: Any, kept: Sequence[Array]) -> list[Array]:
                start = i * self.rows
                return self._kept(kept, full(*self._rows_of(xs, start, self.rows)), start)

            found = lax.fori_loop(0, count, tile, self._empty())
            if rest:
                start = count * self.rows
                found = self._kept(found, others[0](*self._rows_of(xs, start, rest)), start)
            return found[0] if len(found) == 1 else tuple(found)

        return run

    def _axis(self, shape: Sequence[int]) -> int:
        return row_axis(shape, self.extent) or 0

    def _rows_of(self, xs: Sequence[Array], start: Any, count: int) -> list[Array]:
        """Return the operands of one tile."""
        taken = [
            lax.dynamic_slice_in_dim(x, start, count, self._axis(x.shape))
            for x in xs[: self.sliced]
        ]
        return [*taken, *xs[self.sliced :]]

    def _kept(self, kept: Sequence[Array], found: Sequence[Array], start: Any) -> list[Array]:
        """Write the rows of one tile, and join its partial results with those before."""
        split = len(self.stacked)
        results = [
            lax.dynamic_update_slice_in_dim(x, y, start, self._axis(x.shape))
            for x, y in zip(kept[:split], found[:split], strict=True)
        ]
        pairs = zip(self.joined, kept[split:], found[split:], strict=True)
        return results + [_JOINS[how][0](x, y) for (_, how), x, y in pairs]

    def _empty(self) -> list[Array]:
        """Return what the first tile writes to and is joined with."""
        filled = [(aval, 0) for aval in self.stacked]
        neutral = [(aval, _neutral(aval, how)) for aval, how in self.joined]
        return [lax.full(x.shape, value, numpy_dtype(x.dtype)) for x, value in filled + neutral]


def _neutral(aval: Aval, join: type) -> Any:
    """Return what leaves every number as it is; of sums that is -0, since 0 + -0 is 0."""
    _, number, truth = _JOINS[join]
    if aval.dtype.is_bool:
        return truth
    return complex(number, number) if aval.dtype.is_complex else number


class _Unit(NamedTuple):
    """An instruction of the new program, before its slots are numbered."""

    operation: Operation
    operands: tuple[int, ...]
    targets: tuple[int, ...]
    role: Any
    source: Any


def cache_of_processors() -> int:
    """Return the bytes of the caches of the processors that XLA uses."""
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows
        count = os.cpu_count() or 1
    return _BYTES_PER_PROCESSOR * count


def with_row_blocks(program: CompiledProgram, cache: int) -> CompiledProgram:
    """Return a program with loops over tiles instead of its row blocks, where that pays.

    A program that calls functions on the host stays as it is, because they run in its order; so
    does every program without a cache.
    """
    if not cache or any(
        isinstance(node.operation, (HostCallback, DebugCallback)) for node in program.nodes
    ):
        return program
    found = find_row_blocks(program, cache, one_result=True)
    blocks = [block for block in found if _pays(program, block, cache)]
    if not blocks:
        return program
    inside: set[int] = set()
    placed: list[tuple[int, Any]] = []
    for block in blocks:
        inside.update(block.members)
        placed.append((max(block.members), _unit(program, block)))
    for position, node in enumerate(program.nodes):
        if position not in inside:
            placed.append((position, _Unit(*node[:3], node.role, node.source)))
    return _numbered(program, in_order(sorted(placed, key=lambda pair: pair[0])))


def rewritten_as_body(program: CompiledProgram, cache: int) -> CompiledProgram:
    """Return the body of a loop or branch with the rewrites that whole programs have."""
    return with_row_blocks(with_broadcasts_in_loops(program), cache)


def _pays(program: CompiledProgram, block: RowBlock, cache: int) -> bool:
    """Return True if a row block saves much, and more than it costs.

    Each tile moves again what it reads whole (a layer's weights), and calls all kernels again. The
    calls matter as long as what is saved would come from a nearer cache.
    """
    if block.saved <= _MIN_CACHES_SAVED * cache:
        return False
    saved = block.saved
    cost = _MOVES_PER_TILE * sum([size_of(program.avals[slot]) for slot in block.whole])
    if saved < _CACHES_OF_FAR_MEMORY * cache:
        calls = sum([_calls(program, block, i) for i in block.members])
        cost += calls * cache // _CALLS_PER_CACHE
        saved += sum([_reordered(program, i) for i in block.members])
    return saved > cost * -(-block.extent // block.rows)


def _calls(program: CompiledProgram, block: RowBlock, position: int) -> int:
    """Return how many kernels an equation calls: a product one for each example of its batch.

    Examples that are the rows are divided among the tiles.
    Where the rows are the last axis, the calls take little: 25 products of 10 times 125 numbers run
    in 13 µs, and in 22 µs where the rows are the first of two.
    """
    op, inputs, _ = program.nodes[position][:3]
    if isinstance(op, VIEWS):
        return 0
    if not isinstance(op, DotGeneral):
        return 1
    shapes = [program.avals[slot].shape for slot in inputs]
    axes = [row_axis(shape, block.extent) for shape in shapes]
    if any([axis == len(shape) - 1 for axis, shape in zip(axes, shapes, strict=True)]):
        return 1
    return prod([shapes[0][axis] for axis in op.lhs_batch if axis != axes[0]])


def _reordered(program: CompiledProgram, position: int) -> int:
    """Return the bytes that move where XLA copies a product's operands, batch first."""
    op, inputs, _ = program.nodes[position][:3]
    if not isinstance(op, DotGeneral):
        return 0
    batches = zip(inputs, (op.lhs_batch, op.rhs_batch), strict=True)
    moved = [slot for slot, batch in batches if batch != tuple(range(len(batch)))]
    return sum([2 * size_of(program.avals[slot]) for slot in moved])


def _unit(program: CompiledProgram, block: RowBlock) -> _Unit:
    avals = program.avals
    operation = RowBlockLoop(
        tuple([block.program(program, rows) for rows in block.sizes]),
        block.extent,
        block.rows,
        len(block.by_rows),
        tuple([avals[i] for i in block.stacked]),
        tuple([(avals[i], how) for i, how in block.joined.items()]),
    )
    targets = (*block.stacked, *block.joined)
    return _Unit(operation, (*block.by_rows, *block.whole), targets, PRIMARY, None)


def _numbered(program: CompiledProgram, units: Sequence[_Unit]) -> CompiledProgram:
    """Number the slots that are left, and make a program."""
    slots = {slot: slot for slot in program.inputs}
    avals = list(program.input_avals)
    rows: list[Any] = []
    for unit in units:
        read = tuple([slots[i] for i in unit.operands])
        for slot in unit.targets:
            slots[slot] = len(avals)
            avals.append(program.avals[slot])
        rows.append(
            (unit.operation, read, tuple([slots[i] for i in unit.targets]), unit.role, unit.source)
        )
    inputs = list(zip(program.input_names, program.input_avals, strict=True))
    return compile_program(from_rows(inputs, rows, [slots[i] for i in program.outputs], avals))


def described_blocks(program: CompiledProgram, table: LoweringTable, cache: int) -> list[str]:
    """Return one text for each row block of a program, and of bodies of its loops and branches."""
    found = []
    for node in program.nodes:
        op = node.operation
        if isinstance(op, RowBlockLoop):
            count = len(op.parts[0])
            found.append(f"{count} equations run {op.rows} of {op.extent} rows at a time")
        bodies: Sequence[tuple[str, Any]] = getattr(op, "bodies", ()) if cache else ()
        for _, body in bodies:
            inner = rewritten_as_body(table.close(compile_program(body.flat)), cache)
            texts = described_blocks(inner, table, cache)
            found += [f"{text}, in {op.name}" for text in texts]
    return found

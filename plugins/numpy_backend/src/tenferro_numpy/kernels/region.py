"""A fused elementwise region at work: tile by tile, every buffer small enough for the cache.

Whole arrays that go through memory once for each operation cost more than the arithmetic. A region
takes a tile of every operand through all of its operations, with `out=` into scratch that stays in
the cache of a core, and only then the next tile. Large regions are divided over threads (NumPy
releases the interpreter while it computes). What a region gives does not depend on the number of
threads: the tiles, and the order in which partial reductions are joined, follow from the shape and
the size of a tile alone. Read next: `plan_passes/fusion/choice.py`, which finds the regions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from operator import itemgetter
from typing import Any, Literal

import numpy as np

from tenferro.backend.extend import NamedTuple
from tenferro_numpy.ir.tiled import Tiled
from tenferro_numpy.kernels.lines import are_faster
from tenferro_numpy.kernels.tile_layout import Division, Move, Tile, assemble, divide
from tenferro_numpy.kernels.tile_reductions import Fold, folding, reduced
from tenferro_numpy.machine.threads import (
    cut,
    memory_for,
    memory_of_thread,
    new_array,
    shared,
)
from tenferro_numpy.machine.tile_size import WORTH_THREADS, Index, Tiling, tile_for_buffers

__all__ = ["Region", "Write"]


class Write(NamedTuple):
    """One operation on tiles: `function(*operands, out)`; places are numbers of buffers.

    `in_place`: `out` may be the memory of an operand.
    """

    function: Callable[..., Any]
    operands: tuple[int, ...]
    out: int
    in_place: bool = False


class Region(Tiled):
    """A fused region: called with its operands, gives its arrays and then its reductions.

    Buffers are numbered: the first `operand_count` operands, `full` of them fill their tile, then
    the arrays that it gives, then scratch. Operands after these are only read by moves. `reuse`
    says into which operand an array may be written, for operands that are not read afterwards.
    """

    __slots__ = (
        "arrays", "at_once", "calls", "elements", "flat", "folds", "full", "held", "known", "moves",
        "operand_count", "reuse", "scratch", "shape", "tiling", "writes",
    )  # fmt: skip

    def __init__(
        self,
        shape: tuple[int, ...],
        operand_count: int,
        writes: Sequence[Write],
        arrays: Sequence[np.dtype[Any]],
        scratch: Sequence[np.dtype[Any]],
        folds: Sequence[Fold],
        tiling: Tiling,
        moves: Sequence[Move] = (),
        full: int = 0,
    ) -> None:
        self.shape = shape
        self.operand_count = operand_count
        self.writes = tuple(writes)
        self.calls = [(w.function, itemgetter(*w.operands, w.out)) for w in writes]
        self.arrays = tuple(arrays)
        self.scratch = tuple(scratch)
        self.folds = tuple(folds)
        self.tiling = tiling
        self.reuse: dict[int, int] = {}  # number of an array → operand
        self.moves = tuple(moves)
        self.full = full
        self.flat = not moves and all(len(fold.axes) == len(shape) for fold in folds)
        widest = max((dtype.itemsize for dtype in (*arrays, *scratch)), default=8)
        self.elements = tile_for_buffers(tiling.elements, full + len(arrays) + len(scratch))
        self.at_once = prod(shape) * widest <= tiling.bytes
        self.held: tuple[Any, Any, list[Any]] = (None, None, [])  # scratch of the last run
        self.known: tuple[Any, Division | None] = (None, None)  # the division of the last run

    @property
    def key(self) -> tuple[object, ...]:
        """Key that determines all behaviour: regions with equal keys may be one object."""
        return (
            self.shape, self.operand_count, self.full, self.writes, self.arrays, self.scratch,
            self.folds, self.moves, self.tiling, tuple(self.reuse.items()),
        )  # fmt: skip

    def __reduce__(self) -> tuple[object, ...]:
        parts = (self.shape, self.operand_count, self.writes, self.arrays, self.scratch, self.folds)
        more = (self.tiling, self.moves, self.full, self.reuse)
        return _region, (*parts, *more)

    def is_small(self) -> bool:
        """Return True if its lines are faster one by one.

        Pads are not lines: a region reads their zeros from one number.
        """
        made = [dtype.itemsize for dtype in (*self.arrays, *self.scratch)]
        work = len(self.calls) + len(self.folds)
        if not are_faster(prod(self.shape), made, work, self.tiling):
            return False
        return all([move.pieces.fill is None for move in self.moves])

    def __call__(self, *operands: Any) -> Any:
        """Compute the arrays and reductions of these operands; a single one is not in a tuple."""
        direct = operands[: self.operand_count]
        if self.at_once and all([_has_rows(x) for x in direct]):
            results = self._in_one_tile(operands)
        else:
            results = self._in_tiles(operands)
        return results[0] if len(results) == 1 else tuple(results)

    def _in_one_tile(self, operands: Sequence[Any]) -> list[Any]:
        """Compute everything at once, if a whole array is no larger than a tile."""
        results = self._places(operands, "C")
        scratch = self.scratch_of(self.shape)
        if self.tiling.poisoned:
            _poison(scratch)
        buffers = [*operands[: self.operand_count], *results, *scratch]
        if self.moves:
            ((tile,),) = self.divided(self.shape, prod(self.shape), operands).chunks
            assemble(tile.moves, buffers, operands)
        for function, taken in self.calls:
            function(*taken(buffers))
        for fold, place, axes, dtype in self.folds:
            results.append(reduced(fold, buffers[place], axes, dtype))
        return results

    def divided(self, shape: tuple[int, ...], elements: int, operands: Sequence[Any]) -> Division:
        """Divide an array of this shape into tiles of about ``elements``; cached for the next
        run.
        """
        shapes = tuple([x.shape for x in operands]) if self.moves else ()
        key = shape, elements, shapes
        known, division = self.known  # at once: another thread may replace them
        if division is None or known != key:
            division = divide(shape, elements, self.moves, shapes)
            self.known = key, division
        return division

    def scratch_of(self, shape: tuple[int, ...]) -> list[Any]:
        """Return scratch arrays of the shape of a tile, in memory of this thread."""
        held, held_shape, scratch = self.held
        if held is None or held is not memory_of_thread() or held_shape != shape:
            memory = memory_for(self.scratch, prod(shape))
            scratch = [x.reshape(shape) for x in cut(memory, self.scratch, prod(shape))]
            self.held = memory, shape, scratch
        return scratch

    def _in_tiles(self, operands: Sequence[Any]) -> list[Any]:
        """Tile by tile, over threads where that pays."""
        given = [_constant(x) for x in operands[: self.operand_count]]
        order: Literal["", "C", "F"] = self._order(given) if self.flat else ""
        results = self._places(operands, order or "C")
        views = [*given, *results]
        shape = self.shape
        if order:
            shape = (prod(shape),)
            views = [x if x.ndim == 1 else x.reshape(-1, order=order) for x in views]
        division = self.divided(shape, self.elements, operands)
        return results + _Pass(self, shape, division, views, operands, flat=bool(order)).run()

    def _order(self, given: Sequence[Any]) -> Literal["", "C", "F"]:
        """Return the order in which all operands are contiguous; empty if there is none."""
        whole = [x for x in given if x.ndim and x.size != 1]
        shape = self.shape
        if any([x.shape != shape for x in whole]):
            return ""
        flags = [x.flags for x in whole]
        if all([one.c_contiguous for one in flags]):
            return "C"
        return "F" if all([one.f_contiguous for one in flags]) else ""

    def _places(self, operands: Sequence[Any], order: Literal["C", "F"]) -> list[Any]:
        """Return where the arrays are written: new memory, or that of a dead operand."""
        places = []
        for i, dtype in enumerate(self.arrays):
            old = operands[self.reuse[i]] if i in self.reuse else None
            if old is not None and old.shape == self.shape:  # it may have been left unexpanded
                flags = old.flags
                if (flags.f_contiguous if order == "F" else flags.c_contiguous) and flags.writeable:
                    places.append(old)
                    continue
            new = new_array(self.shape, dtype, order)
            if self.tiling.poisoned:
                _poison([new])
            places.append(new)
        return places

    def __repr__(self) -> str:
        return (
            f"<Region of {len(self.writes)} operations and {len(self.folds)} reductions, "
            f"{'×'.join(map(str, self.shape))}>"
        )


class _Pass:
    """One run of a region over its tiles."""

    def __init__(
        self,
        region: Region,
        shape: tuple[int, ...],
        division: Division,
        views: Sequence[Any],
        operands: Sequence[Any],
        *,
        flat: bool,
    ) -> None:
        self.region = region
        self.operands = operands
        self.shape = shape
        self.division = division
        rank = len(shape)
        views = [x if x.ndim in (0, rank) else _aligned(x, rank) for x in views]
        self.views = [(x, x.shape == shape) for x in views]
        self.folds = [
            folding(fold._replace(axes=(0,)) if flat else fold, shape, division.axis)
            for fold in region.folds
        ]

    def run(self) -> list[Any]:
        region, chunks = self.region, self.division.chunks
        work = prod(self.shape) * (len(region.calls) + len(region.folds))
        threads = region.tiling.threads if work >= WORTH_THREADS else 1
        partials = shared(self.chunk, chunks, threads)
        return [fold.join([part[i] for part in partials]) for i, fold in enumerate(self.folds)]

    def chunk(self, tiles: Sequence[Tile]) -> list[list[Any]]:
        """Do these tiles; what each fold has found in them."""
        region, axis = self.region, self.division.axis
        full = self.division.shape[0]
        scratch = region.scratch_of(self.division.shape)
        views = self.views
        partials: list[list[Any]] = [[] for _ in self.folds]
        folds = list(zip(self.folds, partials, strict=True))
        for where, rows, moves in tiles:
            buffers = [x[where] if whole else _tile(x, where, axis) for x, whole in views]
            buffers += scratch if rows == full else [x[:rows] for x in scratch]
            if region.tiling.poisoned:
                _poison(scratch)
            if moves:
                assemble(moves, buffers, self.operands)
            for function, taken in region.calls:
                function(*taken(buffers))
            for fold, partial in folds:
                fold.add(partial, buffers[fold.operand], where)
        return partials


def _tile(x: Any, where: Index, axis: int) -> Any:
    """Return the part of an aligned view in a tile; axes of extent 1 are not divided."""
    if not x.ndim:
        return x
    index: list[int | slice] = [0 if x.shape[d] == 1 else where[d] for d in range(axis)]
    if x.shape[axis] != 1:
        index.append(where[axis])
    return x[tuple(index)]


def _aligned(x: Any, rank: int) -> Any:
    """Return a view with leading axes of extent 1, as broadcasting adds them."""
    return x.reshape((1,) * (rank - x.ndim) + x.shape)


def _has_rows(x: Any) -> bool:
    """Return True if an array lies in C order, perhaps with gaps between its rows."""
    if x.flags.c_contiguous:
        return True
    strides = x.strides
    return strides[-1] == x.itemsize and sorted(strides, reverse=True) == [*strides]


def _constant(x: Any) -> Any:
    """Return an operand; one element of it if all elements share one address."""
    if not isinstance(x, np.ndarray):
        return np.asarray(x)
    strides = x.strides
    if strides and not strides[-1] and x.size > 1 and not any(strides):
        return x[(0,) * x.ndim]
    return x


def _poison(arrays: Sequence[Any]) -> None:
    """Fill arrays of any layout with bytes 0xFF: nan, −1, and no valid bool."""
    for x in arrays:
        x[...] = np.frombuffer(b"\xff" * x.itemsize, x.dtype)[0]


def _region(*parts: Any) -> Region:
    """Make a region again, without the memory of its last run."""
    made = Region(*parts[:-1])
    made.reuse = parts[-1]
    return made

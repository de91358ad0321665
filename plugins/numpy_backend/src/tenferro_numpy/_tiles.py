"""A fused elementwise region at work: tile by tile, every buffer small enough for the cache.

Whole arrays that go through memory once for each operation cost more than the arithmetic. A region
takes a tile of every operand through all of its operations, with `out=` into scratch that stays in
the second-level cache, and only then the next tile. Large regions are divided over threads (NumPy
releases the interpreter while it computes). What a region gives does not depend on the number of
threads: the tiles, and the order in which partial reductions are joined, follow from the shape and
the size of a tile alone. Read next: `_regions.py`, which finds the regions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import product
from math import prod
from threading import Lock, local
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from tenferro_numpy._floating import restore, silence
from tenferro_numpy._pieces import Box, Pieces, put_together

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

__all__ = ["Fold", "Move", "Region", "Tiling", "Write", "can_fold", "thread_count", "tile_elements"]

_LEAST, _MOST = 1 << 16, 1 << 19  # bytes of a tile: below, calls cost more; above, nothing gains
_SHARE = 6  # whole tiles that fit the cache together
_SHRINKS = 2  # times that a tile may be halved for a region of many buffers
_CHUNKS = 16  # parts of a region that threads take in turn
_WORTH_THREADS = 1 << 18  # elements · operations below which waking a thread costs more

_SHORT = 256  # terms of a row that a product sums faster than a reduction

_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

Index = tuple[int | slice, ...]


class Tiling(NamedTuple):
    """How many elements a tile has, and how many threads share the work.

    Poisoned, every buffer is filled with bytes that no computation leaves there before it is
    written: what reads a place that nobody wrote is then seen in the results.
    """

    elements: int
    threads: int
    poisoned: bool = False


class Write(NamedTuple):
    """One operation on tiles: `function(*operands, out)`; places are numbers of buffers.

    `in_place`: `out` may be the memory of an operand.
    """

    function: Callable[..., Any]
    operands: tuple[int, ...]
    out: int
    in_place: bool = False


class Move(NamedTuple):
    """A buffer that is put together from whole operands before anything else is done with a tile.

    `kept`: the region gives it, so that a view of an operand is copied into it.
    """

    pieces: Pieces
    operands: tuple[int, ...]
    out: int
    kept: bool


class Fold(NamedTuple):
    """A reduction of a tile: `function` is a ufunc, `dtype` that of its result."""

    function: np.ufunc
    operand: int
    axes: tuple[int, ...]
    dtype: np.dtype[Any]


class Region:
    """A fused region: called with its operands, gives its arrays and then its reductions.

    Buffers are numbered: the first `operand_count` operands, then the arrays that it gives, then
    scratch. Operands after these are only read by moves. `reuse` says into which operand an array
    may be written, for operands that nobody reads afterwards.
    """

    __slots__ = (
        "arrays", "at_once", "elements", "flat", "folds", "held", "moves", "operand_count", "reuse",
        "scratch", "shape", "tiling", "writes",
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
    ) -> None:
        self.shape = shape
        self.operand_count = operand_count
        self.writes = tuple(writes)
        self.arrays = tuple(arrays)
        self.scratch = tuple(scratch)
        self.folds = tuple(folds)
        self.tiling = tiling
        self.reuse: dict[int, int] = {}  # number of an array → operand
        self.moves = tuple(moves)
        self.flat = not moves and all(len(fold.axes) == len(shape) for fold in folds)
        widest = max((dtype.itemsize for dtype in (*arrays, *scratch)), default=8)
        self.elements = _elements(tiling.elements, operand_count + len(arrays) + len(scratch))
        self.at_once = prod(shape) * widest <= 8 * tiling.elements
        self.held: tuple[Any, Any, list[Any]] = (None, None, [])  # scratch of the last run

    def __call__(self, *operands: Any) -> Any:
        """The arrays and reductions of these operands; a single one is not in a tuple."""
        direct = operands[: self.operand_count]
        if self.at_once and all([x.flags.c_contiguous for x in direct]):
            results = self._in_one_tile(operands)
        else:
            results = self._in_tiles(operands)
        return results[0] if len(results) == 1 else tuple(results)

    def _in_one_tile(self, operands: Sequence[Any]) -> list[Any]:
        """Everything at once, where a whole array is no larger than a tile."""
        results = self._places(operands, "C")
        scratch = self.scratch_of(self.shape)
        if self.tiling.poisoned:
            _poison(scratch)
        buffers = [*operands[: self.operand_count], *results, *scratch]
        if self.moves:
            self.move(buffers, operands, tuple([(0, n) for n in self.shape]), 0)
        for function, places, out, _ in self.writes:
            function(*[buffers[i] for i in places], buffers[out])
        for function, place, axes, dtype in self.folds:
            results.append(_reduced(function, buffers[place], axes, dtype))
        return results

    def scratch_of(self, shape: tuple[int, ...]) -> list[Any]:
        """Scratch arrays of the shape of a tile, in memory of this thread."""
        memory = _memory(self.scratch, prod(shape))
        held, held_shape, scratch = self.held
        if held is not memory or held_shape != shape:  # another thread's, or it has grown
            scratch = [x.reshape(shape) for x in _cut(memory, self.scratch, prod(shape))]
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
            views = [x.reshape(-1, order=order) for x in views]
        return results + _Pass(self, shape, views, operands, flat=bool(order)).run()

    def move(self, buffers: list[Any], operands: Sequence[Any], box: Box, axis: int) -> None:
        """Put together what the moves make, for the tile in a box."""
        for pieces, places, out, kept in self.moves:
            found = put_together(pieces, [operands[i] for i in places], box, buffers[out], axis)
            if not kept:
                buffers[out] = found
            elif found is not buffers[out]:
                buffers[out][...] = found

    def _order(self, given: Sequence[Any]) -> Literal["", "C", "F"]:
        """The order in which all operands are one run of memory; empty if there is none."""
        whole = [x.flags for x in given if x.size != 1]
        if any(x.size != 1 and x.shape != self.shape for x in given):
            return ""
        if all(flags.c_contiguous for flags in whole):
            return "C"
        return "F" if all(flags.f_contiguous for flags in whole) else ""

    def _places(self, operands: Sequence[Any], order: Literal["C", "F"]) -> list[Any]:
        """Where the arrays are written: new memory, or that of an operand which is done with."""
        places = []
        for i, dtype in enumerate(self.arrays):
            old = operands[self.reuse[i]] if i in self.reuse else None
            if old is not None and old.shape == self.shape:  # it may have been left unexpanded
                if old.flags[f"{order}_CONTIGUOUS"] and old.flags.writeable:
                    places.append(old)
                    continue
            new = np.empty(self.shape, dtype, order)
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
        views: Sequence[Any],
        operands: Sequence[Any],
        *,
        flat: bool,
    ) -> None:
        self.region = region
        self.operands = operands
        self.shape = shape
        self.views = [x if x.ndim in (0, len(shape)) else _aligned(x, len(shape)) for x in views]
        self.axis, rows = tiled_axis(shape, region.elements)
        self.rows = _even(shape[self.axis], rows)
        self.folds = [
            _folding(fold._replace(axes=(0,)) if flat else fold, shape, self.axis)
            for fold in region.folds
        ]

    def run(self) -> list[Any]:
        region = self.region
        starts = range(0, self.shape[self.axis], self.rows)
        tiles = list(product(*map(range, self.shape[: self.axis]), starts))
        per_chunk = -(-len(tiles) // _CHUNKS)
        chunks = [tiles[i : i + per_chunk] for i in range(0, len(tiles), per_chunk)]
        work = prod(self.shape) * (len(region.writes) + len(region.folds))
        threads = min(region.tiling.threads, len(chunks)) if work >= _WORTH_THREADS else 1
        if threads > 1:
            partials = _shared(self.chunk, chunks, threads)
        else:
            partials = [self.chunk(chunk) for chunk in chunks]
        return [fold.join([part[i] for part in partials]) for i, fold in enumerate(self.folds)]

    def chunk(self, tiles: Sequence[tuple[int, ...]]) -> list[list[Any]]:
        """Do these tiles; what each fold has found in them."""
        region = self.region
        full = min(self.rows, self.shape[self.axis])
        inner = self.shape[self.axis + 1 :]
        shaped = region.scratch_of((full, *inner))
        partials: list[list[Any]] = [[] for _ in self.folds]
        writes, views, axis, rows, extent = (
            region.writes, self.views, self.axis, self.rows, self.shape[self.axis],
        )  # fmt: skip
        for tile in tiles:
            lead, start = tile[:-1], tile[-1]
            stop = min(start + rows, extent)
            where: Index = (*lead, slice(start, stop))
            buffers = [_tile(x, where, axis) for x in views]
            buffers += shaped if stop - start == full else [x[: stop - start] for x in shaped]
            if region.tiling.poisoned:
                _poison(shaped)
            if region.moves:
                region.move(buffers, self.operands, self.box(tile, stop), axis)
            for function, operands, out, _ in writes:
                function(*[buffers[i] for i in operands], buffers[out])
            for fold, partial in zip(self.folds, partials, strict=True):
                fold.add(partial, buffers[fold.operand], where)
        return partials

    def box(self, tile: tuple[int, ...], stop: int) -> Box:
        """Where a tile begins and ends on every axis."""
        inner = [(0, n) for n in self.shape[self.axis + 1 :]]
        return (*((i, i + 1) for i in tile[:-1]), (tile[-1], stop), *inner)


def _elements(most: int, buffers: int) -> int:
    """The elements of a tile so that all buffers of a region stay in the cache."""
    halvings = 0
    while halvings < _SHRINKS and buffers > _SHARE << halvings:
        halvings += 1
    return max(most >> halvings, 1)


def tiled_axis(shape: Sequence[int], elements: int) -> tuple[int, int]:
    """The first axis whose rows are no larger than a tile, and how many of them make one."""
    inner = prod(shape)
    for axis, extent in enumerate(shape):
        inner //= max(extent, 1)
        if inner <= elements:
            return axis, max(elements // max(inner, 1), 1)
    raise AssertionError("an array of rank 0 has no tiles")


def _even(extent: int, rows: int) -> int:
    """The rows of tiles of nearly one size, instead of whole ones and a rest."""
    return -(-extent // max(round(extent / rows), 1))


def _tile(x: Any, where: Index, axis: int) -> Any:
    """The part of an aligned view that belongs to a tile; axes of extent 1 are not divided."""
    if not x.ndim:
        return x
    index: list[int | slice] = [0 if x.shape[d] == 1 else where[d] for d in range(axis)]
    if x.shape[axis] != 1:
        index.append(where[axis])
    return x[tuple(index)]


def _aligned(x: Any, rank: int) -> Any:
    """A view with axes of extent 1 in front, as broadcasting puts them."""
    return x.reshape((1,) * (rank - x.ndim) + x.shape)


def _constant(x: Any) -> Any:
    """An operand; one element of it where all are that one in memory."""
    if not isinstance(x, np.ndarray):
        return np.asarray(x)
    if x.ndim and x.size > 1 and not any(x.strides):
        return x[(0,) * x.ndim]
    return x


# ---- reductions --------------------------------------------------------------------------------


class _Within:
    """A reduction inside tiles: each tile gives its own part of the result."""

    def __init__(self, fold: Fold, shape: tuple[int, ...], axis: int) -> None:
        self.operand, self._function = fold.operand, fold.function
        self._axes = tuple(d - axis for d in fold.axes)
        self._out = np.empty([n for d, n in enumerate(shape) if d not in fold.axes], fold.dtype)

    def add(self, partial: list[Any], x: Any, where: Index) -> None:
        """Take in one tile; `partial` is what its chunk has found so far: nothing here."""
        _reduced(self._function, x, self._axes, self._out.dtype, self._out[where])

    def join(self, partials: Sequence[list[Any]]) -> Any:
        """The result, from what all chunks have found."""
        return self._out


class _Across:
    """A reduction over all tiled axes: partial results are joined in the order of the tiles."""

    def __init__(self, fold: Fold, shape: tuple[int, ...], axis: int) -> None:
        self.operand, self._function, self._dtype = fold.operand, fold.function, fold.dtype
        self._axes = tuple(d - axis for d in fold.axes if d >= axis)
        self._single = len(fold.axes) == len(shape)

    def add(self, partial: list[Any], x: Any, where: Index) -> None:
        """Take in one tile: a number is kept for a pairwise sum, an array is joined at once."""
        found = self._function.reduce(x, self._axes, self._dtype)
        if self._single or not partial:
            partial.append(found)
        else:
            self._function(partial[0], found, out=partial[0])

    def join(self, partials: Sequence[list[Any]]) -> Any:
        """The result, from what all chunks have found."""
        return self._function.reduce([x for part in partials for x in part], 0, self._dtype)


def _reduced(
    function: np.ufunc, x: Any, axes: tuple[int, ...], dtype: np.dtype[Any], out: Any = None
) -> Any:
    """`function.reduce` of an array in C order; rows are summed as `ones_for` says."""
    if function is np.add and dtype.kind == "f" and dtype.itemsize > 2:
        ones = ones_for(x.shape[1:], tuple([axis - 1 for axis in axes]), dtype)
        if ones is not None:
            if out is None:
                out = np.empty(x.shape[: x.ndim - len(axes)], dtype)
            np.dot(x.reshape(-1, ones.size), ones, out=out.reshape(-1))
            return out
    return function.reduce(x, axes, dtype, out)


@lru_cache(maxsize=256)
def ones_for(shape: tuple[int, ...], axes: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """What short rows are multiplied with to be summed, which is ten times as fast; or None.

    `add.reduce` costs some 20 ns a row before it adds anything. Shape and axes without the first,
    of which the tiles are made.
    """
    rank = len(shape)
    if min(axes) < 0 or sorted(axes) != list(range(rank - len(axes), rank)):
        return None
    length = prod(shape[axis] for axis in axes)
    if not 1 < length <= _SHORT:
        return None
    return np.ones(length, dtype)


def _folding(fold: Fold, shape: tuple[int, ...], axis: int) -> _Within | _Across:
    return (_Within if min(fold.axes) > axis else _Across)(fold, shape, axis)


def can_fold(axes: Sequence[int], shape: Sequence[int], elements: int) -> bool:
    """Whether a reduction is inside tiles, or over all axes that are divided into tiles."""
    for halvings in range(_SHRINKS + 1):
        axis, _ = tiled_axis(shape, max(elements >> halvings, 1))
        divided = set(range(axis + 1))
        if not (divided <= set(axes) or not divided & set(axes)):
            return False
    return bool(axes)


def _poison(arrays: Sequence[Any]) -> None:
    """Fill arrays of any layout with bytes 0xFF: nan, −1, and no valid bool."""
    for x in arrays:
        x[...] = np.frombuffer(b"\xff" * x.itemsize, x.dtype)[0]


# ---- scratch and threads -----------------------------------------------------------------------

_held = local()


def _memory(dtypes: Sequence[np.dtype[Any]], elements: int) -> Any:
    """Memory for scratch arrays, which the thread keeps for its next region."""
    size = sum(_padded(dtype, elements) for dtype in dtypes)
    memory = getattr(_held, "memory", None)
    if memory is None or memory.nbytes < size:
        memory = _held.memory = np.empty(size, np.uint8)
    return memory


def _cut(memory: Any, dtypes: Sequence[np.dtype[Any]], elements: int) -> list[Any]:
    """Flat scratch arrays out of this memory."""
    found, start = [], 0
    for dtype in dtypes:
        found.append(memory[start : start + elements * dtype.itemsize].view(dtype))
        start += _padded(dtype, elements)
    return found


def _padded(dtype: np.dtype[Any], elements: int) -> int:
    return -(-elements * dtype.itemsize // 64) * 64


_pool: list[tuple[int, int, ThreadPoolExecutor]] = []  # of this process: its id, threads, pool
_pool_lock = Lock()


def _threads(count: int) -> ThreadPoolExecutor:
    """The pool of this process; a fork does not inherit threads, so a child makes its own."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - only large regions need it

    with _pool_lock:
        if not _pool or _pool[0][0] != os.getpid() or _pool[0][1] < count:
            _pool[:] = [(os.getpid(), count, ThreadPoolExecutor(count, "tenferro-numpy"))]
        return _pool[0][2]


def _shared(function: Callable[[Any], Any], chunks: Sequence[Any], threads: int) -> list[Any]:
    """`function` of every chunk, in order; the calling thread takes its share."""
    results: list[Any] = [None] * len(chunks)
    waiting = iter(range(len(chunks)))
    taking = Lock()

    def work() -> None:
        token = silence()
        try:
            while True:
                with taking:
                    i = next(waiting, None)
                if i is None:
                    return
                results[i] = function(chunks[i])
        finally:
            restore(token)

    others = [_threads(threads).submit(work) for _ in range(threads - 1)]
    try:
        work()
    finally:
        for other in others:
            other.result()
    return results


# ---- the machine -------------------------------------------------------------------------------


@cache
def tile_elements() -> int:
    """Elements of eight bytes in an eighth of the second-level cache.

    Its size is read, not measured, because the size of tiles decides the order of sums, and
    results are to be the same in every process.
    """
    size = 1 << 21
    try:
        with open("/sys/devices/system/cpu/cpu0/cache/index2/size", encoding="ascii") as file:
            text = file.read().strip()
        size = int(text.rstrip("KMG")) * _UNITS[text[-1]]
    except (OSError, ValueError, KeyError, IndexError):
        pass  # another system, or a container that hides it
    return min(max(size // 8, _LEAST), _MOST) // 8


def thread_count() -> int:
    """The processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1

"""Reductions at the end of a region: inside tiles, or over all axes that are divided into tiles.

Partial results are joined in the order of the tiles, whichever thread found them. Short rows are
summed by a product, and compared column by column; short axes in the middle are joined slice by
slice. Read next: `kernels/region.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

import numpy as np

from tenferro.backend.extend import NamedTuple
from tenferro_numpy.machine.tile_size import SHRINKS, Index, tiled_axis

__all__ = [
    "Across", "Fold", "Within", "can_fold", "folding", "is_by_slices", "middle_of",
    "reduce_by_slices", "reduced", "row_length", "rows_of",
]  # fmt: skip

_MAX_TERMS_FOR_PRODUCT = 256  # terms of a row that a product sums faster than a reduction
_MAX_ELEMENTS_FOR_COLUMNS = 32  # elements of a row whose largest is found faster among columns
_MAX_SLICES = 9  # slices of a reduction that are joined one by one
_MAX_RUN_FOR_PRODUCT = 32  # elements after a middle axis that a product sums
_MAX_TERMS_OF_MIDDLE = 4096  # terms that a product adds about as exactly as a reduction
_MAX_ELEMENTS_OF_PART = 8192  # elements that BLAS sums in one thread
_MIN_TERMS_OF_PARTS = 5  # terms from which products of any number of parts are faster than slices
_MAX_PARTS_PER_SLICE = 32  # products that take as long as adding one slice
_MAX_RUN_FOR_SLICES = 64  # elements after the last reduced axis, which `reduce` takes at once


class Fold(NamedTuple):
    """A reduction of a tile: `function` is a ufunc, `dtype` that of its result."""

    function: np.ufunc
    operand: int
    axes: tuple[int, ...]
    dtype: np.dtype[Any]


class Within:
    """A reduction inside tiles: each tile gives its own part of the result."""

    def __init__(self, fold: Fold, shape: tuple[int, ...], axis: int) -> None:
        self.operand, self._function = fold.operand, fold.function
        self._axes = tuple(d - axis for d in fold.axes)
        self._out = np.empty([n for d, n in enumerate(shape) if d not in fold.axes], fold.dtype)

    def add(self, partial: list[Any], x: Any, where: Index) -> None:
        """Take in one tile; `partial` is what its chunk has found so far: nothing here."""
        reduced(self._function, x, self._axes, self._out.dtype, self._out[where])

    def join(self, partials: Sequence[list[Any]]) -> Any:
        """Return the result, from the partial results of all chunks."""
        return self._out


class Across:
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
        """Return the result, from the partial results of all chunks."""
        return self._function.reduce([x for part in partials for x in part], 0, self._dtype)


def reduced(
    function: np.ufunc, x: Any, axes: tuple[int, ...], dtype: np.dtype[Any], out: Any = None
) -> Any:
    """`function.reduce` of an array in C order, whose short rows are taken otherwise."""
    length = row_length(x.shape[1:], tuple([axis - 1 for axis in axes]))
    by_rows = rows_of(function, length, dtype)
    if by_rows is None:
        middle = middle_of(function, x.shape, axes, dtype) if x.dtype == dtype else None
        if middle is not None:
            whole = None if out is None else out.reshape(middle[0], middle[2])
            found = np.matmul(np.ones(middle[1], dtype), x.reshape(middle), out=whole)
            return found.reshape([n for d, n in enumerate(x.shape) if d not in axes])
        if x.dtype == dtype and is_by_slices(function, x.shape, axes, dtype):
            return reduce_by_slices(function, x, axes, out)
        return function.reduce(x, axes, dtype, out)
    if out is None:
        out = np.empty(x.shape[: x.ndim - len(axes)], dtype)
    by_rows(x.reshape(-1, length), out.reshape(-1))
    return out


@lru_cache(maxsize=256)
def row_length(shape: tuple[int, ...], axes: tuple[int, ...]) -> int:
    """Return how many contiguous elements a reduction joins; 0 if they are not contiguous.

    Shape and axes exclude the first axis, along which tiles are cut.
    """
    rank = len(shape)
    if min(axes) < 0 or sorted(axes) != list(range(rank - len(axes), rank)):
        return 0
    return prod(shape[axis] for axis in axes)


@lru_cache(maxsize=256)
def rows_of(
    function: np.ufunc, length: int, dtype: np.dtype[Any]
) -> Callable[[Any, Any], object] | None:
    """Return a function that reduces short rows of a matrix; None if `reduce` is as fast.

    `reduce` costs some 20 ns a row before it does anything, and goes through a row element by
    element. A product with ones is ten times as fast; so is the maximum of whole columns.
    """
    if (
        function is np.add
        and 1 < length <= _MAX_TERMS_FOR_PRODUCT
        and dtype.kind == "f"
        and dtype.itemsize > 2
    ):
        ones = np.ones(length, dtype)
        ones.flags.writeable = False  # a constant, which plans may be kept with
        return lambda x, out: np.dot(x, ones, out=out)
    if function in (np.maximum, np.minimum) and 1 < length <= _MAX_ELEMENTS_FOR_COLUMNS:
        return lambda x, out: function.reduce(np.ascontiguousarray(x.T), 0, None, out)
    return None


@lru_cache(maxsize=256)
def middle_of(
    function: np.ufunc, shape: tuple[int, ...], axes: tuple[int, ...], dtype: np.dtype[Any]
) -> tuple[int, int, int] | None:
    """Return a shape of three axes if a product with ones sums the middle one fastest.

    `reduce` goes through each short run of elements behind the reduced axes on its own. A product
    does so with a part of the array: three coordinates of 40 × 40 pairs are summed in 2 µs instead
    of 60.
    """
    first, last = min(axes, default=0), max(axes, default=0)
    is_block = len(axes) == last - first + 1
    if function is not np.add or dtype.char not in "fd" or not is_block or 0 in shape:
        return None
    parts, terms = prod(shape[:first]), prod(shape[first : last + 1])
    run = prod(shape[last + 1 :])
    if not (1 < terms <= _MAX_TERMS_OF_MIDDLE and 1 < run <= _MAX_RUN_FOR_PRODUCT and parts > 1):
        return None
    if terms * run > _MAX_ELEMENTS_OF_PART:
        return None
    is_fast = terms >= _MIN_TERMS_OF_PARTS or parts < _MAX_PARTS_PER_SLICE * (terms - 1)
    return (parts, terms, run) if is_fast else None


_JOINED_BY_SLICES = frozenset((np.add, np.multiply, np.maximum, np.minimum))


@lru_cache(maxsize=256)
def is_by_slices(
    function: np.ufunc, shape: tuple[int, ...], axes: tuple[int, ...], dtype: np.dtype[Any]
) -> bool:
    """Return True if short axes, not only the last ones, are reduced faster slice by slice.

    `reduce` costs 25 to 100 ns for each run of elements after the last reduced axis. It adds
    numbers of half precision in a larger one.
    """
    if function not in _JOINED_BY_SLICES or dtype.char in "?e" or 0 in axes or 0 in shape:
        return False
    if row_length(shape[1:], tuple([axis - 1 for axis in axes])):
        return False
    is_short = 1 < prod([shape[axis] for axis in axes]) <= _MAX_SLICES
    return is_short and prod(shape[max(axes) + 1 :]) <= _MAX_RUN_FOR_SLICES


def reduce_by_slices(function: np.ufunc, x: Any, axes: Sequence[int], out: Any = None) -> Any:
    """`function.reduce`, by a call for each slice but the first, in the order of memory."""
    index: list[Any] = [slice(None)] * x.ndim
    result = None
    for places in product(*[range(x.shape[axis]) for axis in axes]):
        for axis, place in zip(axes, places, strict=True):
            index[axis] = place
        part = x[tuple(index)]
        if result is None:
            result = part
        else:
            result = out = function(result, part, out=out)
    return result


def folding(fold: Fold, shape: tuple[int, ...], axis: int) -> Within | Across:
    """Choose how to run a reduction whose region is divided into tiles along an axis."""
    return (Within if min(fold.axes) > axis else Across)(fold, shape, axis)


def can_fold(axes: Sequence[int], shape: Sequence[int], elements: int) -> bool:
    """Return True if a reduction lies inside tiles, or covers all axes divided into tiles."""
    for halvings in range(SHRINKS + 1):
        axis, _ = tiled_axis(shape, max(elements >> halvings, 1))
        divided = set(range(axis + 1))
        if not (divided <= set(axes) or not divided & set(axes)):
            return False
    return bool(axes)

"""Elements at positions: along an axis, from several arrays, on a diagonal, where a mask is true.

Positions are integers and carry no derivative; values are gathered, so that theirs flows. How
positions beyond an axis count is said by ``mode``. Read next: ``searching.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from operator import index
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._known import elements, found_of, known
from tenferro.arrays.functions._out import into
from tenferro.arrays.functions.comparison import where
from tenferro.arrays.functions.indexing import getitem, integer_positions, moved_inside
from tenferro.arrays.functions.ranges import arange
from tenferro.arrays.functions.rounding import floor_divide, remainder
from tenferro.arrays.functions.searching import nonzero
from tenferro.arrays.functions.structural import ravel, stack, transpose
from tenferro.arrays.handle.array import Array, another_handle, evaluable
from tenferro.arrays.handle.convert import as_array, asarray
from tenferro.arrays.handle.looks import true_positions
from tenferro.arrays.promotion.broadcast import (
    broadcast_shapes,
    cast,
    integers,
    normalize_axis,
    stretch,
    together,
)
from tenferro.arrays.registry import covers
from tenferro.primitives import DTypeMismatchError, Shape, ShapeMismatchError, int64
from tenferro.primitives import structural as p


@covers("take_along_axis")
def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Array:
    """Take elements along an axis, one position for every other index.

    arr: [*s, n, *t]   indices: int[*s, k, *t]   →   y: [*s, k, *t]

    >>> import tenferro as tn
    >>> tn.take_along_axis([[3, 1, 2], [4, 6, 5]], [[1], [0]], 1)
    array([[1],
           [4]])
    """
    found, places, axis = _aligned(arr, indices, axis, "take_along_axis")
    return getitem(found, along(places, found.shape, axis))


def _aligned(arr: Any, indices: Any, axis: int | None, function: str) -> tuple[Array, Array, int]:
    found = ravel(arr) if axis is None else as_array(arr)
    places = integer_positions(indices, function)
    if places.ndim != found.ndim:
        error = ShapeMismatchError.of(
            function, "ranks differ", got=f"{found.aval}, indices {places.aval}",
            need="indices of the same rank", shapes=(found.shape, places.shape),
        )  # fmt: skip
        raise at_user_line(error)
    return found, places, normalize_axis(0 if axis is None else axis, found.ndim, function)


def along(places: Array, shape: Shape, axis: int) -> tuple[Array, ...]:
    """Return an index per axis: the places along one axis, every position along the others."""
    counted = [_axis_positions(n, d, len(shape)) for d, n in enumerate(shape)]
    return (*counted[:axis], places, *counted[axis + 1 :])


def _axis_positions(n: int, d: int, rank: int) -> Array:
    return p.reshape(arange(n), [n if i == d else 1 for i in range(rank)])


@covers("choose")
def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Array:
    """Construct an array by choosing, at each place, an element from one of the choices."""
    options = together("choose", *choices)
    places = _inside(asarray(a), len(options), mode, "choose")
    shape = broadcast_shapes(places.shape, options[0].shape, function="choose")
    spread = stack([stretch(c, shape) for c in options])
    picked = take_along_axis(spread, p.reshape(stretch(places, shape), (1, *shape)), 0)
    return into(out, p.reshape(picked, shape), "choose")


def _inside(places: Array, n: int, mode: str, function: str) -> Array:
    """Check positions among n: raise an error if known ones lie outside, or wrap, or clip."""
    if not (places.dtype.is_integer or places.dtype.is_bool):
        error = DTypeMismatchError.of(
            function,
            "positions are not integers",
            got=places.aval,
            need="integers",
            dtypes=(places.dtype,),
        )
        raise at_user_line(error)
    wide = cast(places, int64)
    if mode == "raise" and wide.size and evaluable(wide.key):
        value = known(wide, function, "")
        if value.min() < 0 or value.max() >= n:
            raise at_user_line(ValueError(f"{function}: a position lies outside 0 … {n - 1}"))
    return moved_inside(wide, n, mode)


@covers("compress")
def compress(condition: Any, a: Any, axis: int | None = None, out: Any = None) -> Array:
    """Return the slices along an axis at which a condition holds; without an axis, elements.

    Raises ConcretizationError: for a traced condition; np.where keeps the shape.
    """
    found = ravel(a) if axis is None else as_array(a)
    given = asarray(condition)
    if given.ndim != 1:
        raise at_user_line(ValueError(f"compress: a condition of rank 1, not {given.aval}"))
    (places,) = found_of([given], true_positions, "compress", "keep the shape with np.where")
    kept = elements(found, places, 0 if axis is None else axis)
    return into(out, kept, "compress")


@covers("extract")
def extract(condition: Any, arr: Any) -> Array:
    """Return the elements of the flattened array at which a condition holds.

    Raises ConcretizationError: for a traced condition; np.where keeps the shape.
    """
    return compress(ravel(condition), ravel(arr))


@covers("diagonal")
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """Return the diagonals of the matrices in two axes, as a new last axis."""
    found = as_array(a)
    i, j = (normalize_axis(axis, found.ndim, "diagonal") for axis in (axis1, axis2))
    if i == j:
        raise at_user_line(ValueError("diagonal: need two axes that differ"))
    rest = [axis for axis in range(found.ndim) if axis not in (i, j)]
    rows, columns = max(-index(offset), 0), max(index(offset), 0)
    count = max(min(found.shape[i] - rows, found.shape[j] - columns), 0)
    matrices = transpose(found, (*rest, i, j))
    lead, width = matrices.shape[:-2], matrices.shape[-1]
    flat = p.reshape(matrices, (*lead, matrices.shape[-2] * width))
    first, step = rows * width + columns, width + 1
    last = first + (count - 1) * step + 1 if count else first
    if not count:
        first = last = 0
    zeros, ones = (0,) * len(lead), (1,) * len(lead)
    return p.slice(flat, (*zeros, first), (*lead, last), (*ones, step))


@covers("ix_")
def ix_(*args: Any) -> tuple[Array, ...]:
    """Return open index arrays that together index a grid."""
    return tuple(_open(x, d, len(args)) for d, x in enumerate(args))


def _open(x: Any, d: int, rank: int) -> Array:
    found = asarray(x)
    if found.ndim != 1:
        raise at_user_line(ValueError(f"ix_: positions have rank 1, not {found.aval}"))
    if found.dtype.is_bool:
        found = nonzero(found)[0]
    found = found if found.size else cast(found, int64)
    return p.reshape(found, [found.size if i == d else 1 for i in range(rank)])


@covers("unravel_index")
def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Array, ...]:
    """Convert flat indices to a tuple of indices per axis.

    Of an index out of bounds that is only traced, the slowest axis gets an index out of bounds.
    """
    sizes = integers(shape)
    places = _inside(asarray(indices), prod(sizes), "raise", "unravel_index")
    result = []
    for n in (sizes if order == "F" else sizes[::-1])[:-1]:
        result.append(remainder(places, n))
        places = floor_divide(places, n)
    result += [another_handle(places)] if sizes else []
    return tuple(result if order == "F" else result[::-1])


@covers("ravel_multi_index")
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Array:
    """Convert a tuple of indices per axis to flat indices.

    Where one that is only traced lies out of bounds, the flat index is the product of ``dims``.
    """
    sizes = integers(dims)
    modes = [mode] * len(sizes) if isinstance(mode, str) else list(mode)
    axes = zip(tuple(multi_index), sizes, modes, strict=True)
    name = "ravel_multi_index"
    inside = [_inside(asarray(x), n, how, name) for x, n, how in axes]
    flat, stride = as_array(0), 1
    for places, n in zip(*_fastest_first(inside, sizes, order), strict=True):
        flat, stride = flat + places * stride, stride * n
    for places, n, how in zip(inside, sizes, modes, strict=True):
        if how == "raise" and not evaluable(places.key):
            flat = where((places >= 0) & (places < n), flat, stride)
    return flat


def _fastest_first(
    inside: Sequence[Array], sizes: Sequence[int], order: str
) -> tuple[Sequence[Array], Sequence[int]]:
    return (inside, sizes) if order == "F" else (inside[::-1], sizes[::-1])

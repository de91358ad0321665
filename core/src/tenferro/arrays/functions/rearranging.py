"""Elements in another order or several times: flips, rolls, rotations, repetitions.

Read next: ``editing.py``, for elements that come and go.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import index
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._known import elements, found_of, known, numpy_module
from tenferro.arrays.functions.broadcasting import at_least
from tenferro.arrays.functions.structural import ravel, swapaxes
from tenferro.arrays.handle.array import Array, another_handle
from tenferro.arrays.handle.convert import as_array
from tenferro.arrays.handle.views import view_of
from tenferro.arrays.promotion.broadcast import (
    axis_error,
    cast,
    integers,
    normalize_axes,
    normalize_axis,
    stretch,
)
from tenferro.arrays.registry import covers
from tenferro.primitives import DTypeMismatchError, int64
from tenferro.primitives import structural as p
from tenferro.primitives._primitive import bind


@covers("flip")
def flip(m: Any, axis: Any = None) -> Array:
    """Reverse the order of elements along axes."""
    found = as_array(m)
    return view_of(found, p.reverse(found, normalize_axes(axis, found.ndim, "flip")))


@covers("flipud")
def flipud(m: Any) -> Array:
    """Reverse the order of the rows of an array."""
    return flip(m, 0)


@covers("fliplr")
def fliplr(m: Any) -> Array:
    """Reverse the order of the columns of an array."""
    return flip(m, 1)


@covers("rot90")
def rot90(m: Any, k: int = 1, axes: Sequence[int] = (0, 1)) -> Array:
    """Rotate an array k times by 90 degrees, from the first of two axes to the second."""
    found = as_array(m)
    if len(tuple(axes)) != 2:
        raise axis_error("rot90", tuple(axes), found.ndim, "need two axes")
    i, j = (normalize_axis(axis, found.ndim, "rot90") for axis in axes)
    if i == j:
        raise axis_error("rot90", tuple(axes), found.ndim, "an axis is named twice")
    turns = index(k) % 4
    if turns == 2:
        return flip(found, (i, j))
    if turns == 1:
        return swapaxes(flip(found, j), i, j)
    return flip(swapaxes(found, i, j), j) if turns else view_of(found, found)


@covers("roll")
def roll(a: Any, shift: Any, axis: Any = None) -> Array:
    """Roll elements along axes; those that leave at the end enter at the beginning.

    >>> import tenferro as tn
    >>> tn.roll([1, 2, 3, 4], 1)
    array([4, 1, 2, 3])
    """
    found = as_array(a)
    if axis is None:
        return p.reshape(_roll_all(ravel(found), shift, (0,)), found.shape)
    given = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    axes = [normalize_axis(i, found.ndim, "roll") for i in given]
    return _roll_all(another_handle(found), shift, axes)


def _roll_all(x: Array, shift: Any, axes: Sequence[int]) -> Array:
    """Roll all axes: one shift for every axis, one axis for every shift, or one of each."""
    shifts = integers(shift)
    count = max(len(shifts), len(axes)) if shifts and axes else 0
    if {len(shifts), len(axes)} - {1, count}:
        raise at_user_line(ValueError(f"roll: {len(shifts)} shifts for {len(axes)} axes"))
    for i in range(count):
        x = _roll(x, shifts[i % len(shifts)], axes[i % len(axes)])
    return x


def _roll(x: Array, shift: int, axis: int) -> Array:
    size = x.shape[axis]
    behind = shift % size if size else 0
    if not behind:
        return x
    last, first, joined = _rolling(x.shape, size - behind, axis)
    return bind(joined, bind(last, x), bind(first, x))


@lru_cache(maxsize=512)  # loops roll by the same shifts again and again
def _rolling(shape: tuple[int, ...], at: int, axis: int) -> tuple[p.Slice, p.Slice, p.Concatenate]:
    """Return the operations that take the parts behind and before a place, and join them."""
    low, high = [0] * len(shape), list(shape)
    low[axis] = high[axis] = at
    ones = (1,) * len(shape)
    last = p.Slice(tuple(low), shape, ones)
    return last, p.Slice((0,) * len(shape), tuple(high), ones), p.Concatenate(axis)


@covers("tile")
def tile(A: Any, reps: Any) -> Array:
    """Repeat an array ``reps`` times along each axis; missing axes come in front."""
    given = integers(reps)
    found = at_least(A, len(given))
    times = (*[1] * (found.ndim - len(given)), *given)
    pairs = [size for i, n in enumerate(found.shape) for size in (times[i], n)]
    spread = p.broadcast_in_dim(found, pairs, range(1, 2 * found.ndim, 2))
    return p.reshape(spread, [n * k for n, k in zip(found.shape, times, strict=True)])


@covers("repeat")
def repeat(a: Any, repeats: Any, axis: int | None = None) -> Array:
    """Repeat each element of an array; without an axis, of the flattened array.

    Raises ConcretizationError: for traced numbers of repetitions; under ``jit`` they are static;
    DTypeMismatchError: unless they are integers.
    """
    found = as_array(a)
    if axis is None or (not found.ndim and normalize_axis(axis, 1, "repeat") == 0):
        found, axis = ravel(found), None  # a number has one element along axis 0
    along = 0 if axis is None else normalize_axis(axis, found.ndim, "repeat")
    instead = "make the repetitions static, or one integer"
    if isinstance(repeats, (list, tuple)) and not repeats:
        repeats = cast(as_array(repeats), int64)  # an empty list has no dtype of its own
    counts = as_array(repeats).aval
    if not (counts.dtype.is_integer or counts.dtype.is_bool):
        error = DTypeMismatchError.of(
            "repeat", "numbers of repetitions are not integers", got=counts, need="integers",
            dtypes=(counts.dtype,),
        )  # fmt: skip
        raise at_user_line(error)
    if not counts.ndim:
        return _repeat_each(found, index(known(repeats, "repeat", instead)), along)
    numpy, size = numpy_module("repeat"), found.shape[along]

    def find(counts: Any) -> Any:
        return (numpy.repeat(range(size), counts),)

    (places,) = found_of([repeats], find, "repeat", instead)
    return elements(found, places, along)


def _repeat_each(x: Array, count: int, axis: int) -> Array:
    if count < 0:
        raise at_user_line(ValueError("repeat: repetitions must not be negative"))
    n = x.shape[axis]
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    with_new_axis = p.reshape(x, (*before, n, 1, *after))
    return p.reshape(
        stretch(with_new_axis, (*before, n, count, *after)), (*before, n * count, *after)
    )

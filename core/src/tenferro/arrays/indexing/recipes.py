"""Recipes: what an index of numbers, slices and arrays of integers does to arrays of one shape.

A plan says it anew for every index. Indices that differ in their integers alone, also in those of
arrays of equal shapes, have one recipe, which is kept: the integers are data of the program.
Windows ``x[a:b]`` with two ends from the front and masks have none, and under ``jit``, where
integers are part of the program, nothing has one.
Read next: ``plan.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.handle.array import Array, remembered
from tenferro.arrays.handle.views import mark_of
from tenferro.arrays.indexing.errors import outside
from tenferro.arrays.indexing.gathering import Gathering, gather_from, joined_positions
from tenferro.arrays.indexing.plan import IndexPlan, as_data, fixed_position, positions
from tenferro.primitives import (
    DynamicSlice,
    Gather,
    Reshape,
    Reverse,
    Shape,
    Slice,
    TensorPrimitive,
    bind,
)

_MAX_KEPT_RECIPES = 4096
_ENDS = (int, type(None))
_recipes: dict[tuple[Shape, tuple[Any, ...]], Recipe] = {}


class Positions(NamedTuple):
    """An array of integers in an index, without their values."""

    shape: Shape


class Reads(NamedTuple):
    """Arrays of integers in an index, and the operation that reads with them from a box."""

    arrays: tuple[tuple[int, int, int], ...]  # (place in the index, axis, size of that axis)
    shape: Shape  # of all positions together
    operation: Gather


class Recipe(NamedTuple):
    """Operations that read an index of numbers, slices and arrays of integers."""

    integers: tuple[tuple[int, int, int], ...]  # (place in the index, axis, size of that axis)
    window: DynamicSlice | None  # moved by the integers
    starts: tuple[Array, ...]  # of the window, in the places of integers any
    rest: tuple[TensorPrimitive, ...]  # what is done with the window
    reads: Reads | None  # from what that gives


def form_of(index: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Return the index without the values of its integers; None if it can have no recipe."""
    form: list[Any] = []
    for entry in index:
        kind = type(entry)
        if kind is int:
            form.append(int)
        elif kind is slice:
            start, stop, step = ends = entry.start, entry.stop, entry.step
            if not (type(start) in _ENDS and type(stop) in _ENDS and type(step) in _ENDS):
                return None
            if start is not None and stop is not None and start >= 0 and stop >= 0:
                return None  # a window
            form.append(ends)
        elif entry is None or entry is Ellipsis:
            form.append(entry)
        elif _has_integers(entry, kind):
            form.append(Positions(entry.shape))
        else:
            return None
    return tuple(form)


def _has_integers(entry: Any, kind: type) -> bool:
    """Return True for an array of NumPy with integers along one axis or more."""
    return (
        kind.__name__ == "ndarray"
        and kind.__module__ == "numpy"
        and entry.dtype.kind in "iu"
        and entry.ndim > 0
    )


def read_again(x: Array, index: tuple[Any, ...], form: tuple[Any, ...]) -> Array | None:
    """Read an index by its recipe; None if there is none yet.

    Raises OutOfBoundsError: if an integer lies outside its axis.
    """
    recipe = _recipes.get((x.key.aval.shape, form))
    if recipe is None:
        return None
    mark = mark_of(x)
    if recipe.integers:
        x = _window(x, index, recipe)
    for operation in recipe.rest:
        x = bind(operation, x)
    reads = recipe.reads
    if reads is None:
        x.is_taken = mark
        return x
    given = [positions(index[place], n, axis, None) for place, axis, n in reads.arrays]
    return _gathered(x, joined_positions(given, reads.shape), reads.operation)


def _window(x: Array, index: tuple[Any, ...], recipe: Recipe) -> Array:
    """Read the window that the integers of an index move."""
    starts = [*recipe.starts]
    for place, axis, n in recipe.integers:
        i = index[place]
        if not -n <= i < n:
            raise outside(axis, i, n)
        if n > 1:
            starts[axis] = as_data(i % n)
    return x if recipe.window is None else bind(recipe.window, x, *starts)


def _gathered(box: Array, at: Array, operation: Gather) -> Array:
    """Read elements of a box, or find what an earlier call of the function recorded."""
    memo = at.key.memo
    if memo is None or box.key.memo is not memo or box.flow:
        return bind(operation, box, at)
    entry = operation, box.key, at.key
    found = memo.entries.get(entry)
    if found is not None:
        return remembered(found)
    looks = memo.looks
    result = bind(operation, box, at)
    memo.keep(entry, looks, result, Array)
    return result


def keep_recipe(
    shape: Shape,
    index: tuple[Any, ...],
    form: tuple[Any, ...],
    p: IndexPlan,
    at: Gathering | None,
) -> None:
    """Keep what a plan says of all indices of its form; ``at`` joins its arrays of integers."""
    reads = None
    if at is not None:
        operation = gather_from(tuple(p.shape), at, "clip")
        if operation is None:
            return
        joint = (*at.shape, len(at.axes))
        reads = Reads(_places(index, shape, is_array=True), joint, operation)
    moves = any([isinstance(start, Array) for start in p.starts])
    axes: list[tuple[Any, int, int, int]] = list(
        zip(p.starts, p.sizes, p.strides, shape, strict=True)
    )
    window: DynamicSlice | None = None
    starts: tuple[Array, ...] = ()
    if moves:
        window = DynamicSlice(tuple([size if k == 1 else n for _, size, k, n in axes]))
        fixed = [start if type(start) is int and k == 1 else 0 for start, _, k, _ in axes]
        starts = tuple([fixed_position(start) for start in fixed])
        axes = [(start if k > 1 else 0, size, k, n) for start, size, k, n in axes]
    rest: list[TensorPrimitive] = []
    if max(p.strides, default=1) > 1 or (not moves and tuple(p.sizes) != shape):
        rest.append(_sliced(axes))
    if p.reversed_axes:
        rest.append(Reverse(tuple(p.reversed_axes)))
    if len(_recipes) >= _MAX_KEPT_RECIPES:
        _recipes.clear()
    integers = _places(index, shape, is_array=False)
    operations = (*rest, Reshape(tuple(p.shape)))
    _recipes[shape, form] = Recipe(integers, window, starts, operations, reads)


def _sliced(axes: list[tuple[Any, int, int, int]]) -> Slice:
    limits = tuple([start + (size - 1) * k + 1 if size else start for start, size, k, _ in axes])
    return Slice(tuple([axis[0] for axis in axes]), limits, tuple([axis[2] for axis in axes]))


def _places(
    index: tuple[Any, ...], shape: Shape, *, is_array: bool
) -> tuple[tuple[int, int, int], ...]:
    """Return the place of each integer, or array of integers, in the index, its axis, and the size
    of that axis.
    """
    found, axis = [], 0
    missing = len(shape) - sum([not (e is None or e is Ellipsis) for e in index])
    for place, entry in enumerate(index):
        if _has_integers(entry, type(entry)) if is_array else type(entry) is int:
            found.append((place, axis, shape[axis]))
        axis += missing if entry is Ellipsis else entry is not None
    return tuple(found)

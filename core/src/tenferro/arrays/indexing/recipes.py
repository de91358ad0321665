"""Recipes: what an index of numbers and slices does to arrays of one shape, kept between calls.

A plan says it anew for every index. Indices that differ in their integers alone have one recipe:
the integers are data of the program. Windows ``x[a:b]`` with two ends from the front, arrays and
masks have none, and under ``jit``, where integers are part of the program, nothing has one.
Read next: ``plan.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.handle.array import Array
from tenferro.arrays.indexing.errors import outside
from tenferro.arrays.indexing.plan import IndexPlan, as_data, fixed_position
from tenferro.primitives import DynamicSlice, Reshape, Reverse, Shape, Slice, TensorPrimitive, bind

_MAX_KEPT_RECIPES = 4096
_ENDS = (int, type(None))
_recipes: dict[tuple[Shape, tuple[Any, ...]], Recipe] = {}


class Recipe(NamedTuple):
    """Operations that read an index of numbers and slices."""

    integers: tuple[tuple[int, int, int], ...]  # (place in the index, axis, size of that axis)
    window: DynamicSlice | None  # moved by the integers
    starts: tuple[Array, ...]  # of the window, in the places of integers any
    rest: tuple[TensorPrimitive, ...]  # what is done with the window


def form_of(index: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Return the index without the values of its integers; None where it has no recipe."""
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
        else:
            return None
    return tuple(form)


def read_again(x: Array, index: tuple[Any, ...], form: tuple[Any, ...]) -> Array | None:
    """Read an index by its recipe; None if there is none yet.

    Raises OutOfBoundsError: if an integer lies outside its axis.
    """
    recipe = _recipes.get((x.key.aval.shape, form))
    if recipe is None:
        return None
    integers, window, starts, rest = recipe
    if integers:
        given = [*starts]
        for place, axis, n in integers:
            i = index[place]
            if not -n <= i < n:
                raise outside(axis, i, n)
            if n > 1:
                given[axis] = as_data(i % n)
        if window is not None:
            x = bind(window, x, *given)
    for operation in rest:
        x = bind(operation, x)
    return x


def keep_recipe(shape: Shape, index: tuple[Any, ...], form: tuple[Any, ...], p: IndexPlan) -> None:
    """Keep what a plan says of all indices of its form."""
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
    found = Recipe(_integers(index, shape), window, starts, (*rest, Reshape(tuple(p.shape))))
    _recipes[shape, form] = found


def _sliced(axes: list[tuple[Any, int, int, int]]) -> Slice:
    limits = tuple([start + (size - 1) * k + 1 if size else start for start, size, k, _ in axes])
    return Slice(tuple([axis[0] for axis in axes]), limits, tuple([axis[2] for axis in axes]))


def _integers(index: tuple[Any, ...], shape: Shape) -> tuple[tuple[int, int, int], ...]:
    """Return the place of each integer in the index, its axis, and the size of that axis."""
    found, axis = [], 0
    missing = len(shape) - sum([not (e is None or e is Ellipsis) for e in index])
    for place, entry in enumerate(index):
        if type(entry) is int:
            found.append((place, axis, shape[axis]))
        axis += missing if entry is Ellipsis else entry is not None
    return tuple(found)

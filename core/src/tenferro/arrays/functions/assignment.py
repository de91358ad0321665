"""Writing into arrays: ``x[i] = v``, ``x += v`` and ``x.at[i].add(v)``, all differentiable.

Arrays are values: what is computed here is the updated value, and assignment makes the handle
stand for it. A box is replaced by a block, strided axes through a mask, and positions by
``scatter``; where a position is named twice, the last value remains, as in NumPy. Positions that
are only traced and lie outside are left out. The value is cast to the dtype of the array if that
keeps its kind, and refused otherwise. Read next: ``handle/at.py`` of the package.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions import indexing as reading
from tenferro.arrays.functions.diagonal_writes import diagonal_matrices, with_diagonal
from tenferro.arrays.handle import again
from tenferro.arrays.handle.array import SCALARS, Array
from tenferro.arrays.handle.convert import as_array, check_range, scalar
from tenferro.arrays.handle.weak import is_weak
from tenferro.arrays.indexing.gathering import Gathering, gathering
from tenferro.arrays.indexing.plan import IndexPlan, is_abstract, plan_index
from tenferro.arrays.indexing.progressions import Boxes, boxes_of
from tenferro.arrays.numpy_protocols.writing import check_cast, rebind, write
from tenferro.arrays.promotion.broadcast import broadcast_shapes, cast, stretch
from tenferro.arrays.registry import FUNCTIONS, covers
from tenferro.primitives import (
    DType,
    DynamicUpdateSlice,
    Shape,
    ShapeMismatchError,
    bind,
    bool_,
    complex64,
    float16,
    pad,
    reshape,
    reverse,
    scatter,
    scatter_add,
    scatter_max,
    scatter_min,
    scatter_mul,
    select,
    uint8,
)
from tenferro.primitives import slice as take_slice
from tenferro.primitives.constants import constant

_Scatter = Callable[..., Array]
_Write = Callable[[Array, IndexPlan, Array], Array]
_SMALLEST_DTYPE_OF = {
    bool: bool_,
    int: uint8,
    float: float16,
    complex: complex64,
}  # what a number asks for


@covers("__setitem__")
def assign(x: Array, index: Any, value: Any) -> None:
    """x[index] = value: from now on the handle stands for the updated value."""
    memo = x.key.memo
    if memo is None:
        rebind(x, updated(x, index, value))
    else:
        rebind(x, again.moving(memo, updated, x, index, value))


def updated(x: Array, index: Any, value: Any) -> Array:
    """Return the value of x after ``x[index] = value``.

    Raises OutOfBoundsError, IndexKindError: as reading at this index does.
    Raises DTypeMismatchError: if the dtype of x does not hold the kind of the value.
    Raises ShapeMismatchError: if the value does not broadcast to what the index reads.
    """
    v = value_for(x.dtype, value)
    if _is_mask(index, x):
        chosen = _choose(x, index, v)
        if chosen is not None:
            return chosen
    plan = plan_index(x, index, writing=True, fixed=is_abstract(x) or is_abstract(v))
    if not plan.advanced:
        return write_box(x, plan, fit(v, tuple(plan.shape)))
    boxes = boxes_of(plan, x.shape)
    if boxes is not None:
        return write_boxes(x, boxes, fit(v, boxes.shape), write_box)
    at = gathering(plan)
    box = reading.read_box(x, plan)
    v = fit(v, at.result_shape(box.shape))
    return write_box(x, plan, scattered(scatter, box, at, v, "drop"))


def value_for(dtype: DType, value: Any) -> Array:
    """Cast the value to a dtype, which must hold its kind."""
    kind = type(value)
    if kind in SCALARS:
        check_cast(
            _SMALLEST_DTYPE_OF[kind], dtype, "same_kind", "assignment", f"the value {value!r}"
        )
        if kind is not complex and not dtype.is_bool:
            value = float(value) if dtype.is_inexact else int(value)
        return scalar(value, dtype)
    if dtype.is_integer:
        _check_numbers(value, dtype)
    array = as_array(value)
    number = is_weak(array) and array.dtype.is_integer and dtype.is_integer
    if array.dtype is not dtype and not number:
        check_cast(array.dtype, dtype, "same_kind", "assignment", "the value")
    return cast(array, dtype)


def _check_numbers(value: Any, dtype: DType) -> None:
    """Raise OverflowError for integers of Python and NumPy that do not fit; arrays may wrap."""
    if isinstance(value, (list, tuple)):
        for item in value:
            _check_numbers(item, dtype)
    elif type(value) is int or (hasattr(value, "dtype") and _is_numpy_integer(value)):
        check_range(int(value), dtype)


def _is_numpy_integer(x: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(x, numpy.integer)


def fit(v: Array, shape: Shape) -> Array:
    """Broadcast the value to the replaced shape; surplus leading axes of size 1 are dropped."""
    extra = v.ndim - len(shape)
    if extra > 0 and set(v.shape[:extra]) == {1}:
        v = reshape(v, v.shape[extra:])
    if v.shape != shape and broadcast_shapes(v.shape, shape, function="assignment") != shape:
        error = ShapeMismatchError.of(
            "assignment",
            "the value does not broadcast to the assigned elements",
            got=f"{v.aval} into {shape}",
            need="a shape that broadcasts to theirs",
            shapes=(v.shape, shape),
        )
        raise at_user_line(error)
    return stretch(v, shape)


# ---- a box ---------------------------------------------------------------------------------------


def write_box(x: Array, plan: IndexPlan, v: Array) -> Array:
    """x with the box of a plan replaced; v has the shape that the plan gives the box."""
    if not v.size:
        return x
    if plan.diagonal is not None:
        return with_diagonal(x, plan.diagonal, v)
    block = reshape(v, plan.sizes)
    block = reverse(block, plan.reversed_axes) if plan.reversed_axes else block
    sizes = reading.window_sizes(x, plan)
    whole = sizes == x.shape
    if max(plan.strides, default=1) > 1:
        window = x if whole else reading.take_window(x, plan)
        block = _among(window, plan, block)
    if whole:
        return block
    starts = reading.start_handles(plan)
    return bind(reading.operation(DynamicUpdateSlice), x, block, *starts)


def write_boxes(x: Array, boxes: Boxes, v: Array, write: _Write) -> Array:
    """Write values at evenly spaced positions, box after box: a repeated place gets each value."""
    if len(boxes.plans) == 1:
        return write(x, boxes.plans[0], v)
    axis, begin = boxes.axis, 0
    size = sum([plan.shape[axis] for plan in boxes.plans])
    v = reshape(v, [*v.shape[:axis], size, *boxes.plans[0].shape[axis + 1 :]])
    for plan in boxes.plans:
        start, limit = [0] * v.ndim, [*v.shape]
        start[axis], limit[axis] = begin, begin + plan.shape[axis]
        x = write(x, plan, take_slice(v, start, limit))
        begin = limit[axis]
    return x


def add_box(x: Array, plan: IndexPlan, v: Array) -> Array:
    """x with values added to the box of a plan; other elements keep every bit."""
    if not v.size or x.dtype.is_bool or any([isinstance(start, Array) for start in plan.starts]):
        return _combined_box(x, plan, v, "add")
    filler = _nothing_to_add(x.dtype)
    if plan.diagonal is not None:
        return x + diagonal_matrices(x, plan.diagonal, v, filler)
    block = reshape(v, plan.sizes)
    block = reverse(block, plan.reversed_axes) if plan.reversed_axes else block
    return x + pad(block, filler, *_around(x.shape, plan, plan.starts))


def _nothing_to_add(dtype: DType) -> Array:
    """Return -0.0, which changes no number when it is added; 0.0 would change -0.0."""
    if dtype.is_complex:
        return Array(constant(complex(-0.0, -0.0), dtype).key)
    return Array(constant(-0.0 if dtype.is_float else 0, dtype).key)


def _combined_box(x: Array, plan: IndexPlan, value: Any, name: str) -> Array:
    part = reading.read_box(x, plan)
    new = FUNCTIONS[name](part, value)
    return write_box(x, plan, fit(value_for(x.dtype, new), part.shape))


def _among(window: Array, plan: IndexPlan, block: Array) -> Array:
    """Replace elements of the window at the plan's strides by those of the block."""
    around = _around(window.shape, plan, reading.offsets(plan))
    mask = pad(constant(True, bool, block.shape), constant(False, bool), *around)
    padded = pad(block, constant(0, block.dtype), *around)
    return select(Array(mask.key), Array(padded.key, padded.flow), window)


def _around(shape: Shape, plan: IndexPlan, low: Any) -> tuple[Any, list[int], list[int]]:
    """Return how to pad the box of a plan to a shape: low, high, interior."""
    gaps = [stride - 1 for stride in plan.strides]
    spread = [n + (n - 1) * gap for n, gap in zip(plan.sizes, gaps, strict=True)]
    each = zip(shape, low, spread, strict=True)
    return low, [n - start - taken for n, start, taken in each], gaps


# ---- positions -----------------------------------------------------------------------------------


def scattered(how: _Scatter, box: Array, at: Gathering, v: Array, mode: str) -> Array:
    """Write (``scatter``) or combine (``scatter_add``, …) values into the box at positions."""
    if not v.size or any([box.shape[axis] == 0 for axis in at.axes]):
        return box
    return how(
        box,
        at.indices,
        v,
        update_window_dims=at.window_axes(box.shape),
        inserted_window_dims=at.axes,
        scatter_dims_to_operand_dims=at.axes,
        mode=mode,
    )


def _is_mask(index: Any, x: Array) -> bool:
    """Return True if the index is one bool array over the first axes."""
    dtype = getattr(index, "dtype", None)
    if dtype is None or not index.ndim or DType.of(dtype) is not bool_:
        return False
    return bool(tuple(index.shape) == x.shape[: index.ndim])


def _choose(x: Array, mask: Any, v: Array) -> Array | None:
    """x where the mask is false, v elsewhere; ``None`` if each true element has its own value."""
    rest = x.ndim - mask.ndim
    if v.ndim > rest:
        if any([n != 1 for n in v.shape[: v.ndim - rest]]):
            return None
        v = reshape(v, v.shape[v.ndim - rest :])
    v = stretch(fit(v, x.shape[mask.ndim :]), x.shape)
    where = reshape(as_array(mask), (*mask.shape, *[1] * rest))
    return select(stretch(where, x.shape), v, x)


# ---- x.at[i] -------------------------------------------------------------------------------------

_SCATTERS: dict[str, _Scatter] = {
    "add": scatter_add,
    "multiply": scatter_mul,
    "minimum": scatter_min,
    "maximum": scatter_max,
}
_MODES = {"clip": "clip", "drop": "drop", "fill": "drop", "promise_in_bounds": "promise_in_bounds"}


@covers("__at_set__")
def at_set(x: Array, index: Any, value: Any, mode: str | None = None) -> Array:
    """Return a new array: x with ``value`` at an index."""
    if mode is None:
        return updated(x, index, value)
    plan = plan_index(x, index, _mode(mode), writing=True)
    return _at(x, plan, value_for(x.dtype, value), scatter, mode)


@covers("__at_combine__")
def at_combine(x: Array, index: Any, value: Any, name: str, mode: str | None = None) -> Array:
    """Return a new array: x with ``value`` combined into it. A repeated position gets each
    value.
    """
    plan = plan_index(x, index, _mode(mode), writing=True)
    if not plan.advanced:
        return _at_box(x, plan, value, name)
    v = value_for(x.dtype, value)
    boxes = None if x.dtype.is_bool else boxes_of(plan, x.shape)
    if boxes is None:
        return _at(x, plan, v, _SCATTERS[name], mode)
    write = add_box if name == "add" else partial(_combined_box, name=name)
    return write_boxes(x, boxes, fit(v, boxes.shape), write)


@covers("__at_factor__")
def at_factor(x: Array, index: Any, value: Any, name: str, mode: str | None = None) -> Array:
    """Return a new array: x divided by the values at an index, or raised to their power."""
    plan = plan_index(x, index, _mode(mode), writing=True)
    if not plan.advanced:
        return _at_box(x, plan, value, name)
    ones = Array(constant(1, x.dtype, x.shape).key)
    factors = _at(ones, plan, value_for(x.dtype, value), scatter_mul, mode)
    return value_for(x.dtype, FUNCTIONS[name](x, factors))


def _at_box(x: Array, plan: IndexPlan, value: Any, name: str) -> Array:
    """Combine a box, which names each position once, with the value and write it back."""
    if name == "add" and _dtype_of(value) is x.dtype:
        return add_box(x, plan, fit(as_array(value), tuple(plan.shape)))
    return _combined_box(x, plan, value, name)


def _dtype_of(value: Any) -> DType | None:
    """Return the dtype of an array, and None for a number, whose dtype is weak."""
    dtype = getattr(value, "dtype", None)
    return None if dtype is None else DType.of(dtype)


def _at(x: Array, plan: IndexPlan, v: Array, how: _Scatter, mode: str | None) -> Array:
    if not plan.advanced:
        return write_box(x, plan, fit(v, tuple(plan.shape)))
    at = gathering(plan)
    box = reading.read_box(x, plan)
    v = fit(v, at.result_shape(box.shape))
    return write_box(x, plan, scattered(how, box, at, v, _mode(mode) or "drop"))


@covers("__at_get__")
def at_get(x: Array, index: Any, mode: str | None = None, fill_value: Any = None) -> Array:
    """x[index]; with the mode ``fill``, positions outside read ``fill_value``."""
    if mode is None:
        return reading.getitem(x, index)
    plan = plan_index(x, index, _mode(mode))
    box = reading.read_box(x, plan)
    if not plan.advanced:
        return box
    at, how = gathering(plan), "fill" if mode in ("fill", "drop") else mode
    found = reading.gathered(box, at, how)
    if how != "fill" or (fill_value is None and not x.dtype.is_inexact):
        return found
    inside = reading.gathered(Array(constant(True, bool, box.shape).key), at, how)
    v = value_for(x.dtype, float("nan") if fill_value is None else fill_value)
    return select(inside, found, fit(v, found.shape))


def _mode(mode: str | None) -> str | None:
    """Return the name of the mode that writing primitives use."""
    if mode is None or mode in _MODES:
        return None if mode is None else _MODES[mode]
    raise at_user_line(ValueError(f"mode={mode!r}: need one of None, {', '.join(_MODES)}"))


# ---- augmented assignment ------------------------------------------------------------------------


@covers("__inplace__")
def inplace(x: Array, name: str, other: Any) -> Array:
    """x with the result of a function in its place, in its shape and dtype.

    Raises ShapeMismatchError: if the result is larger than x.
    Raises DTypeMismatchError: if the dtype of x does not hold the kind of the result.
    """
    memo, function = x.key.memo, FUNCTIONS[name]
    result = (
        function(x, other) if memo is None else again.binary(memo, name, name, function, x, other)
    )
    return write(x, result, name)

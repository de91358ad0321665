"""Reading parts of arrays by NumPy's rules: integers, slices, ellipsis, new axes, integer and bool
arrays. The result is a value and never aliases. Derivatives scatter back to where elements came
from. Positions that are known are checked; others (under ``jit``) are clipped, as documented.
Read next: ``assignment.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.functions._out import into
from tenferro.arrays.handle import again
from tenferro.arrays.handle.array import Array, another_handle
from tenferro.arrays.handle.convert import as_array, asarray, reads_here
from tenferro.arrays.handle.reads import read_once
from tenferro.arrays.handle.views import mark_of
from tenferro.arrays.indexing.errors import IndexKindError, OutOfBoundsError, outside
from tenferro.arrays.indexing.gathering import Gathering, gather_from, gathering
from tenferro.arrays.indexing.plan import (
    IndexPlan,
    as_data,
    fixed_position,
    is_abstract,
    plan_index,
)
from tenferro.arrays.indexing.progressions import Boxes, boxes_of
from tenferro.arrays.indexing.recipes import form_of, keep_recipe, read_again
from tenferro.arrays.promotion.broadcast import cast, normalize_axis
from tenferro.arrays.registry import FUNCTIONS, covers
from tenferro.primitives import (
    DynamicSlice,
    InvalidParameterError,
    Reshape,
    Slice,
    TensorPrimitive,
    bind,
    int64,
)
from tenferro.primitives import structural as p
from tenferro.primitives.constants import constant

__all__ = ["IndexKindError", "OutOfBoundsError", "getitem", "read_box", "start_handles", "take"]

_P = TypeVar("_P", bound=TensorPrimitive)
_operations: dict[Hashable, TensorPrimitive] = {}
_MAX_KEPT_OPERATIONS = 4096


def operation(kind: type[_P], *parameters: Hashable) -> _P:
    """Return the operation of a kind with these parameters, made once."""
    name = (kind, parameters)
    found = _operations.get(name)
    if found is None:
        if len(_operations) >= _MAX_KEPT_OPERATIONS:
            _operations.clear()
        found = _operations[name] = kind(*parameters)
    return found  # type: ignore[return-value]


@covers("getitem")
def getitem(x: Any, index: Any) -> Array:
    """x[index].

    Raises OutOfBoundsError: if an index that is known lies outside its axis.
    Raises IndexKindError: if there are too many indices, or one is of the wrong kind.

    >>> getitem(as_array(1.0), None).shape
    (1,)
    """
    found = as_array(x)
    memo = found.key.memo
    if memo is not None:
        result: Array = again.indexed(memo, _read, found, index)
        return result
    reads = reads_here()
    return _read(found, index) if reads is None else read_once(reads, _read, found, index)


def _read(found: Array, index: Any) -> Array:
    """x[index], recorded."""
    is_fixed = is_abstract(found)
    if type(index) is int and found.key.aval.shape and not is_fixed:
        y = _row(found, index)
        y.is_taken = mark_of(found)
        return y
    given = index if type(index) is tuple else (index,)
    form = None if is_fixed else form_of(given)
    again = None if form is None else read_again(found, given, form)
    if again is not None:
        return again
    plan = plan_index(found, index)
    boxes = boxes_of(plan, found.shape) if plan.advanced else None
    if boxes is not None:
        return read_boxes(found, boxes)
    y = read_box(found, plan)
    at = gathering(plan) if plan.advanced else None
    if form is not None:
        keep_recipe(found.shape, given, form, plan, at)
    if at is not None:
        return gathered(y, at, "clip")
    y.is_taken = mark_of(found)
    return y


def _row(x: Array, i: int) -> Array:
    """x[i] for one integer, the commonest index."""
    shape = x.key.aval.shape
    n = shape[0]
    if not -n <= i < n:
        raise outside(0, i, n)
    rest = shape[1:]
    if n > 1:
        starts = (as_data(i % n), *([fixed_position(0)] * len(rest) if rest else ()))
        x = bind(operation(DynamicSlice, (1, *rest)), x, *starts)
    return bind(operation(Reshape, rest), x)


def read_boxes(x: Array, boxes: Boxes) -> Array:
    """Read the elements at evenly spaced positions."""
    parts = [read_box(x, plan) for plan in boxes.plans]
    if len(parts) == 1:
        return parts[0]
    return p.reshape(p.concatenate(parts, boxes.axis), boxes.shape)


def read_box(x: Array, plan: IndexPlan) -> Array:
    """Read the box of a plan and reverse, drop and add axes as the plan says."""
    if plan.source is not None:
        x = bind(operation(Reshape, plan.source), x)
    y = take_box(x, plan)
    y = p.reverse(y, plan.reversed_axes) if plan.reversed_axes else y
    return bind(operation(Reshape, tuple(plan.shape)), y)


def take_box(x: Array, plan: IndexPlan) -> Array:
    """Read the box of a plan with the axes in the order of x."""
    starts: Sequence[Any] = plan.starts
    if any([isinstance(start, Array) for start in starts]):
        x, starts = take_window(x, plan), offsets(plan)
        if max(plan.strides) == 1:
            return x
    elif tuple(plan.sizes) == x.shape:
        return x
    steps = list(zip(starts, plan.sizes, plan.strides, strict=True))
    limits = [start + (n - 1) * stride + 1 if n else start for start, n, stride in steps]
    return bind(operation(Slice, tuple(starts), tuple(limits), tuple(plan.strides)), x)


def take_window(x: Array, plan: IndexPlan) -> Array:
    """Read the box along axes of stride 1 and take the other axes whole."""
    return bind(operation(DynamicSlice, window_sizes(x, plan)), x, *start_handles(plan))


def window_sizes(x: Array, plan: IndexPlan) -> tuple[int, ...]:
    """Return the sizes of a box; axes with another stride are taken whole."""
    each = zip(plan.sizes, plan.strides, x.shape, strict=True)
    return tuple([size if stride == 1 else n for size, stride, n in each])


def offsets(plan: IndexPlan) -> list[int]:
    """Return the offset of the box inside its window, per axis."""
    each = zip(plan.starts, plan.strides, strict=True)
    return [start if stride > 1 else 0 for start, stride in each]  # type: ignore[misc]


def start_handles(plan: IndexPlan) -> list[Array]:
    """Return the start of the window as one position per axis."""
    each = zip(plan.starts, plan.strides, strict=True)
    return [_start(start if stride == 1 else 0) for start, stride in each]


def _start(start: int | Array) -> Array:
    return start if isinstance(start, Array) else fixed_position(start)


def gathered(box: Array, at: Gathering, mode: str) -> Array:
    """Gather elements of a box; the joint shape of the positions replaces the indexed axes."""
    operation = gather_from(box.shape, at, mode)
    if operation is None:
        return Array(constant(0, box.dtype, at.result_shape(box.shape)).key)
    return bind(operation, box, at.indices)


@covers("take")
def take(
    x: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise"
) -> Array:
    """Return elements at positions along an axis, or of the flattened array.

    ``mode`` is what becomes of positions outside: ``raise``, ``wrap`` around, or ``clip``. Booleans
    are the positions 0 and 1, as in NumPy, and not a mask.

    Raises OutOfBoundsError: for known positions; under ``jit`` they are clipped to the axis.
    """
    found, at = as_array(x), as_positions(indices)
    if axis is None:
        found, axis = p.reshape(found, (found.size,)), 0
    along = normalize_axis(axis, found.ndim, "take")
    index = (slice(None),) * along + (moved_inside(at, found.shape[along], mode),)
    result = another_handle(getitem(found, index))
    return into(out, result, "take")


def as_positions(indices: Any) -> Array:
    """Return positions as an Array; booleans are 0 and 1, where an index would be a mask."""
    at = asarray(indices)
    return cast(at, int64) if at.dtype == "bool" else at


def integer_positions(indices: Any, function: str) -> Array:
    """Return positions as an Array.

    Raises IndexKindError: if they are no integers; an index of booleans would be a mask.
    """
    at = asarray(indices)
    if at.dtype.kind not in "iu":
        error = IndexKindError(
            f"{function}: indices are not integers\n"
            f"  got        {at.aval}\n"
            "  need       an array of integers; to select by a mask, write `x[mask]`",
            index=at.aval,
            shape=at.shape,
        )
        raise at_user_line(error)
    return at


def moved_inside(at: Array, n: int, mode: str) -> Array:
    """Apply NumPy's mode to positions: raise leaves them, wrap and clip move them inside."""
    move = _MODES.get(mode)
    if move is None:
        error = InvalidParameterError.of(
            "take",
            "unknown mode",
            got=f"mode={mode!r}",
            need=f"one of {', '.join(_MODES)}",
            parameter="mode",
            value=mode,
        )
        raise at_user_line(error)
    return move(at, n)


_MODES: dict[str, Callable[[Array, int], Array]] = {
    "raise": lambda at, n: at,
    "wrap": lambda at, n: FUNCTIONS["remainder"](cast(at, int64), n),
    "clip": lambda at, n: FUNCTIONS["clip"](cast(at, int64), 0, n - 1),
}

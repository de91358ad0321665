"""Reading parts of arrays by NumPy's rules: integers, slices, ellipsis, new axes, integer and bool
arrays. The result is a value and never aliases. Derivatives scatter back to where elements came
from. Positions that are known are checked; others (under ``jit``) are clipped, as documented.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tenferro.array._array import Array, evaluable
from tenferro.array._broadcast import broadcast_shapes, cast, normalize_axis, stretch
from tenferro.array._convert import as_array, asarray
from tenferro.array._errors import at_user_line
from tenferro.array._registry import covers
from tenferro.array.functions.structural import concatenate, expand_dims
from tenferro.computegraph import UNKNOWN, TenferroError
from tenferro.primitives import gather, int64, structural
from tenferro.primitives.comparison import lt, select
from tenferro.primitives.constants import constant


class OutOfBoundsError(TenferroError, IndexError):
    """Report an index outside its axis. Fields: ``axis``, ``index``, ``size``."""


class IndexKindError(TenferroError, IndexError):
    """Report something that is no index, or too many of them. Fields: ``index``, ``shape``."""


class _Basic(NamedTuple):
    """What integers, slices, ellipsis and new axes come to, axis by axis."""

    start: list[int]
    limit: list[int]
    strides: list[int]
    reversed_axes: list[int]
    shape: list[int]  # after integers are dropped and new axes put in
    advanced: list[tuple[int, Array]]  # (axis of that shape, positions)


class _Places(NamedTuple):
    """Where a bool array is true, along one of its axes; ``size`` is ``None`` for rank 0."""

    positions: Array
    size: int | None


@covers("getitem")
def getitem(x: Any, index: Any) -> Array:
    """x[index].

    Raises OutOfBoundsError: if an index that is known lies outside its axis.
    Raises IndexKindError: if there are too many indices, or one is of the wrong kind.

    >>> getitem(as_array(1.0), None).shape
    (1,)
    """
    found = as_array(x)
    entries = index if isinstance(index, tuple) else (index,)
    plan = _plan(found, _expand(entries, found))
    y = structural.slice(found, plan.start, plan.limit, plan.strides)
    y = structural.reverse(y, plan.reversed_axes) if plan.reversed_axes else y
    y = structural.reshape(y, plan.shape)
    return _advanced(y, plan.advanced, _apart(entries)) if plan.advanced else y


def _expand(entries: Sequence[Any], x: Array) -> list[Any]:
    """One entry per axis and new axis: ellipsis written out, bool arrays as positions."""
    plain: list[Any] = []
    for entry in entries:
        plain += _positions(entry) if _is_mask(entry) else [entry]
    consumed = sum(1 for entry in plain if _takes_an_axis(entry))
    missing = x.ndim - consumed
    ellipses = sum(1 for entry in plain if entry is Ellipsis)
    if missing < 0 or ellipses > 1:
        error = IndexKindError(
            f"{consumed} indices and {ellipses} ellipses for {x.aval}", index=tuple(plain),
            shape=x.shape,
        )  # fmt: skip
        raise at_user_line(error)
    if not ellipses:
        plain.append(Ellipsis)
    at = next(i for i, entry in enumerate(plain) if entry is Ellipsis)
    return [*plain[:at], *[slice(None)] * missing, *plain[at + 1 :]]


def _is_mask(entry: Any) -> bool:
    if isinstance(entry, (bool, list)):
        return isinstance(entry, bool) or asarray(entry).dtype.is_bool
    return hasattr(entry, "dtype") and as_array(entry).dtype.is_bool


def _takes_an_axis(entry: Any) -> bool:
    if isinstance(entry, _Places):
        return entry.size is not None
    return entry is not None and entry is not Ellipsis


def _positions(mask: Any) -> list[_Places]:
    """The positions of a bool array's true elements, one array per axis; its value is needed."""
    array = asarray(mask)
    known = array._concrete("indexing with a bool array")
    if not array.ndim:  # a new axis, of which all or nothing is taken
        return [_Places(Array(constant(0, int64, (int(known),)).key), None)]
    places = zip(known.nonzero(), array.shape, strict=True)
    return [_Places(as_array(positions), size) for positions, size in places]


def _plan(x: Array, entries: Sequence[Any]) -> _Basic:
    plan = _Basic([], [], [], [], [], [])
    axis = 0
    for entry in entries:
        if not _takes_an_axis(entry):
            if entry is not None:
                plan.advanced.append((len(plan.shape), entry.positions))
            plan.shape.append(1)
            continue
        _take(plan, entry, x.shape[axis], axis)
        axis += 1
    return plan


def _take(plan: _Basic, entry: Any, n: int, axis: int) -> None:
    if isinstance(entry, slice):
        _take_slice(plan, entry, n, axis)
    elif isinstance(entry, _Places):
        _take_places(plan, entry, n, axis)
    elif _is_integer(entry):
        _take_integer(plan, entry.__index__(), n, axis)
    else:
        _take_array(plan, entry, n, axis)


def _is_integer(entry: Any) -> bool:
    if isinstance(entry, Array):
        return False  # its value need not be known
    return hasattr(entry, "__index__") and not getattr(entry, "ndim", 0)


def _take_slice(plan: _Basic, entry: slice, n: int, axis: int) -> None:
    positions = range(*entry.indices(n))
    count = len(positions)
    if count and positions.step < 0:
        plan.reversed_axes.append(axis)
        positions = positions[::-1]
    plan.start.append(positions[0] if count else 0)
    plan.limit.append(positions[-1] + 1 if count else 0)
    plan.strides.append(abs(positions.step))
    plan.shape.append(count)


def _take_integer(plan: _Basic, i: int, n: int, axis: int) -> None:
    if not -n <= i < n:
        raise _outside(axis, i, n)
    plan.start.append(i % n)
    plan.limit.append(i % n + 1)
    plan.strides.append(1)


def _take_places(plan: _Basic, entry: _Places, n: int, axis: int) -> None:
    if entry.size != n:
        error = IndexKindError(
            f"a bool array of size {entry.size} indexes axis {axis} of size {n}",
            index=entry.size,
            shape=n,
        )
        raise at_user_line(error)
    _take_whole(plan, entry.positions, n)


def _take_array(plan: _Basic, entry: Any, n: int, axis: int) -> None:
    try:
        positions = asarray(entry)
    except TypeError:
        raise _no_index(entry, type(entry).__name__) from None
    if not positions.dtype.is_integer and not positions.size:
        positions = cast(positions, int64)
    if not positions.dtype.is_integer:
        raise _no_index(entry, positions.aval)
    _check_bounds(positions, n, axis)
    _take_whole(plan, _wrap(positions, n), n)


def _no_index(entry: Any, what: object) -> IndexKindError:
    error = IndexKindError(
        "an index is an integer, a slice, an ellipsis, None, or an array of integers or\n"
        f"  bools, not {what}",
        index=entry,
        shape=None,
    )
    return at_user_line(error)


def _take_whole(plan: _Basic, positions: Array, n: int) -> None:
    plan.advanced.append((len(plan.shape), positions))
    plan.start.append(0)
    plan.limit.append(n)
    plan.strides.append(1)
    plan.shape.append(n)


def _check_bounds(positions: Array, n: int, axis: int) -> None:
    """Refuse positions outside the axis; those that are only traced are clipped, unseen."""
    if not positions.size:
        return
    if not n:
        raise _outside(axis, 0, n)
    if not _is_knowable(positions):
        return
    known = positions._concrete("indexing")
    low, high = int(known.min()), int(known.max())
    if low < -n or high >= n:
        raise _outside(axis, low if low < -n else high, n)


def _is_knowable(positions: Array) -> bool:
    return positions.key.operand is not UNKNOWN or evaluable(positions.key)


def _outside(axis: int, i: int, n: int) -> OutOfBoundsError:
    error = OutOfBoundsError(
        f"index {i} is out of bounds for axis {axis} of size {n}", axis=axis, index=i, size=n
    )
    return at_user_line(error)


def _wrap(positions: Array, n: int) -> Array:
    """Negative positions counted from the end."""
    wide = cast(positions, int64)
    zero, size = (Array(constant(v, int64, wide.shape).key) for v in (0, n))
    return select(lt(wide, zero), wide + size, wide)


def _apart(entries: Sequence[Any]) -> bool:
    """Whether something stands between the array indices: then their axes come first."""
    kinds = [_is_advanced(entry) for entry in entries]
    inside = kinds[kinds.index(True) : len(kinds) - kinds[::-1].index(True)]
    return not all(inside)


def _is_advanced(entry: Any) -> bool:
    return entry is not None and entry is not Ellipsis and not isinstance(entry, slice)


def _advanced(x: Array, advanced: Sequence[tuple[int, Array]], apart: bool) -> Array:
    """Gather at arrays of positions; their joint shape replaces the indexed axes."""
    axes = tuple(axis for axis, _ in advanced)
    shape = broadcast_shapes(*[places.shape for _, places in advanced], function="indexing")
    parts = [expand_dims(stretch(places, shape), -1) for _, places in advanced]
    indices = parts[0] if len(parts) == 1 else concatenate(parts, -1)
    first = 0 if apart else axes[0]
    rank = len(shape) + x.ndim - len(axes)
    offsets = [d for d in range(rank) if not first <= d < first + len(shape)]
    if any(x.shape[axis] == 0 for axis in axes):  # then there are no positions either
        rest = [n for d, n in enumerate(x.shape) if d not in axes]
        return Array(constant(0, x.dtype, (*rest[:first], *shape, *rest[first:])).key)
    return gather(
        x,
        indices,
        offset_dims=offsets,
        collapsed_slice_dims=axes,
        start_index_map=axes,
        slice_sizes=[1 if d in axes else n for d, n in enumerate(x.shape)],
        mode="clip",
    )


@covers("take")
def take(x: Any, indices: Any, axis: int | None = None) -> Array:
    """Elements of x at positions along an axis, or of the flattened array.

    Raises OutOfBoundsError: for known positions; under ``jit`` they are clipped to the axis.
    """
    found = as_array(x)
    if axis is None:
        found, axis = structural.reshape(found, (found.size,)), 0
    along = normalize_axis(axis, found.ndim, "take")
    return getitem(found, (slice(None),) * along + (asarray(indices),))

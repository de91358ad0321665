"""The plan of an index: a box of the array, and positions along axes of that box.

Integers, slices, ellipsis and new axes choose the box; integer and bool arrays give positions.
Positions whose values are known are checked and counted from the front here; others, which only
``jit`` makes, are followed by the program. So are those that lie in the axis however they turn out
(``bounds.py``), such as ``i % n``: un-jitted, they are not evaluated here. A single integer, and
a window ``x[a:b]`` given by two numbers, are data of the program and no part of it: a loop over i
compiles one program. Under ``jit``, which records once, they are part of it.
Read next: ``progressions.py``, ``gathering.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from tenferro.arrays.errors import at_user_line
from tenferro.arrays.handle.array import Array, evaluate_if_known
from tenferro.arrays.handle.convert import memo_here
from tenferro.arrays.handle.traces import is_recorded
from tenferro.arrays.indexing.bounds import bounds_of
from tenferro.arrays.indexing.entries import Mask, PositionName, entry_of, evaluate_positions
from tenferro.arrays.indexing.errors import IndexKindError, outside
from tenferro.arrays.promotion.broadcast import cast
from tenferro.computegraph import new_leaf
from tenferro.primitives import Aval, Shape, int64
from tenferro.primitives.comparison import lt, select
from tenferro.primitives.constants import constant

_POSITION = Aval((), int64)
NEW_AXIS = -1  # the place of positions along an axis that the array does not have


class IndexPlan:
    """A box of an array, axis by axis, and positions along axes of its shape."""

    __slots__ = (
        "advanced",
        "diagonal",
        "fixed",
        "mode",
        "places",
        "reversed_axes",
        "separated",
        "shape",
        "sizes",
        "source",
        "starts",
        "strides",
        "writing",
    )

    def __init__(self, mode: str | None, writing: bool, fixed: bool) -> None:
        self.fixed = fixed  # integers are part of the program
        self.mode = mode
        self.writing = writing
        self.starts: list[int | Array] = []  # an Array where the start is data of the program
        self.sizes: list[int] = []
        self.strides: list[int] = []
        self.reversed_axes: list[int] = []
        self.shape: list[int] = []  # after integers are dropped and new axes put in
        self.advanced: list[tuple[int, Any]] = []  # (axis of that shape, positions)
        self.places: list[int] = []  # the axis of the box of each; NEW_AXIS for a new axis
        self.source: Shape | None = None  # the shape to give the array before, if not its own
        self.diagonal: int | None = None  # the first of two axes whose main diagonal is the box
        self.separated = (
            False  # a slice or new axis separates the array indices: their axes come first
        )

    def add(self, start: int | Array, size: int, stride: int = 1) -> None:
        """Take so many elements along the next axis."""
        self.starts.append(start)
        self.sizes.append(size)
        self.strides.append(stride)

    def without_positions(self) -> IndexPlan:
        """Return a copy of the box alone."""
        box = IndexPlan(self.mode, self.writing, self.fixed)
        for name in "starts", "sizes", "strides", "reversed_axes", "shape":
            setattr(box, name, [*getattr(self, name)])
        return box


def plan_index(
    x: Array,
    index: Any,
    mode: str | None = None,
    writing: bool = False,
    fixed: bool | None = None,
) -> IndexPlan:
    """Say what an index asks of an array; ``mode`` lets positions lie outside.

    ``fixed`` makes integers part of the program, as they are by default where the array is.

    A position that is only traced moves the box for reading, and is clamped with it. For writing
    it is a position to scatter to, so that nothing is written where it lies outside.

    Raises OutOfBoundsError: if an index that is known lies outside its axis.
    Raises IndexKindError: if there are too many indices, or one is of the wrong kind.
    """
    given = index if type(index) is tuple else (index,)
    is_fixed = is_abstract(x)
    if is_fixed or len(given) > 1:
        evaluate_positions(given, is_fixed)
    entries = [entry_of(e) for e in given]
    plan = IndexPlan(mode, writing, is_fixed if fixed is None else fixed)
    axis = 0
    for entry in _expand(entries, x):
        if entry is None:
            plan.shape.append(1)
        elif type(entry) is Mask and entry.size is None:
            plan.advanced.append((len(plan.shape), entry.positions))
            plan.places.append(NEW_AXIS)
            plan.shape.append(1)
        else:
            _take(plan, entry, x.shape[axis], axis)
            axis += 1
    if plan.advanced:
        plan.separated = _are_separated(entries)
    return plan


def is_abstract(x: Array) -> bool:
    """Return True if the array belongs to a recording without values that serves many calls."""
    return is_recorded(x.key)


def _expand(entries: Sequence[Any], x: Array) -> list[Any]:
    """Return one entry per axis and new axis: expand the ellipsis, convert bool arrays to
    positions.
    """
    plain: list[Any] = []
    for entry in entries:
        plain += entry if type(entry) is list else (entry,)
    used = sum([_takes_an_axis(entry) for entry in plain])
    ellipses = sum([entry is Ellipsis for entry in plain])
    missing = x.ndim - used
    if missing < 0 or ellipses > 1:
        fact = f"too many indices: {used} for {x.aval}"
        fact = "an index has two ellipses" if ellipses > 1 else fact
        raise at_user_line(IndexKindError(fact, index=tuple(plain), shape=x.shape))
    whole = [slice(None)] * missing
    if not ellipses:
        return plain + whole
    at = next(i for i, entry in enumerate(plain) if entry is Ellipsis)
    return [*plain[:at], *whole, *plain[at + 1 :]]


def _takes_an_axis(entry: Any) -> bool:
    if type(entry) is Mask:
        return entry.size is not None
    return entry is not None and entry is not Ellipsis


def _are_separated(entries: Sequence[Any]) -> bool:
    """Return True if a slice, ellipsis or new axis separates the array indices. Integers count
    as such.
    """
    kinds = [not (e is None or e is Ellipsis or type(e) is slice) for e in entries]
    inside = kinds[kinds.index(True) : len(kinds) - kinds[::-1].index(True)]
    return not all(inside)


def _take(plan: IndexPlan, entry: Any, n: int, axis: int) -> None:
    """Take an entry along an axis of size n."""
    if type(entry) is slice:
        _take_slice(plan, entry, n, axis)
    elif type(entry) is int:
        _take_integer(plan, entry, n, axis)
    elif isinstance(entry, Array) and _moves_the_box(plan, entry, n):
        plan.add(_from_front(entry, n), 1)
    else:
        if type(entry) is Mask:
            _check_mask(entry, n, axis)
            entry = entry.positions
            if isinstance(entry, Array):  # they lie in the axis, counted from the front
                return _take_along(plan, entry, n)
        _take_along(plan, positions(entry, n, axis, plan.mode), n)


def _moves_the_box(plan: IndexPlan, at: Array, n: int) -> bool:
    return not at.ndim and n > 0 and plan.mode is None and not plan.writing


def _take_along(plan: IndexPlan, at: Any, n: int) -> None:
    """Take the whole axis into the box, and positions along it."""
    plan.advanced.append((len(plan.shape), at))
    plan.places.append(len(plan.starts))
    plan.add(0, n)
    plan.shape.append(n)


def _take_integer(plan: IndexPlan, i: int, n: int, axis: int) -> None:
    if plan.mode is not None:
        _take_along(plan, as_data(i + n if i < 0 else i), n)
    elif not -n <= i < n:
        raise outside(axis, i, n)
    else:
        plan.add(i % n if plan.fixed or n == 1 else as_data(i % n), 1)


def as_data(i: int) -> Array:
    """Return a position as an input of its own: data of the program, not part of it."""
    memo = memo_here()
    if memo is not None and memo.moves:
        name = _position_name(i)
        return Array(memo.capture(None, None, _POSITION, i, name, newest=False))
    key = new_leaf(_position_name(i), _POSITION)
    key.operand = i
    return Array(key)


@lru_cache(maxsize=1024)
def _position_name(i: int) -> PositionName:
    return PositionName(str(i))


@lru_cache(maxsize=1024)
def fixed_position(start: int) -> Array:
    """Return a position that is part of the program; only operations receive this handle."""
    return Array(constant(start, int64).key)


def _take_slice(plan: IndexPlan, entry: slice, n: int, axis: int) -> None:
    first, last = entry.start, entry.stop
    taken = range(*entry.indices(n))
    count = len(taken)
    if count and taken.step < 0:
        plan.reversed_axes.append(axis)
        taken = taken[::-1]
    start: int | Array = taken[0] if count else 0
    if not plan.fixed and 0 < count < n and taken.step == 1 and _is_window(first, last):
        start = as_data(taken[0])
    plan.add(start, count, abs(taken.step) if count > 1 else 1)
    plan.shape.append(count)


def _is_window(first: Any, last: Any) -> bool:
    """Return True if both ends are numbers from the front: ``x[k : k + size]`` in a loop."""
    return first is not None and last is not None and first >= 0 and last >= 0


def _check_mask(entry: Mask, n: int, axis: int) -> None:
    if entry.size == n:
        return
    error = IndexKindError(
        f"a bool array of size {entry.size} indexes axis {axis} of size {n}",
        index=entry.size,
        shape=n,
    )
    raise at_user_line(error)


def positions(at: Any, n: int, axis: int, mode: str | None) -> Any:
    """Return positions counted from the front; known ones are checked to lie in the axis."""
    if isinstance(at, Array):
        if at.size and not n and mode is None:
            raise outside(axis, 0, n)
        bounds = bounds_of(at.key)
        if bounds is not None and 0 <= bounds[0] and bounds[1] < n:
            return cast(at, int64)
        if bounds is None or not evaluate_if_known(at.key):
            return _from_front(at, n)
        at = at._concrete("indexing")
    if not at.size:
        return at.astype("int64")
    low, high = int(at.min()), int(at.max())
    if mode is None and (low < -n or high >= n):
        raise outside(axis, low if low < -n else high, n)
    found = at.astype("int64")
    if low < 0:
        found[found < 0] += n
    return found


def _from_front(at: Array, n: int) -> Array:
    wide = cast(at, int64)
    zero, size = (Array(constant(v, int64, wide.shape).key) for v in (0, n))
    return select(lt(wide, zero), wide + size, wide)

"""Slices of one array, one behind the other along an axis, that are joined along another axis.

`np.stack([x[:, t] for t in range(n)])` is a transposition of x, and so are rows of a loop that
Python unrolled. Values keep every bit. Read next: ``rewrites/moves.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tenferro._runtime.records import NamedTuple
from tenferro.passes._rewriter import Rewriter
from tenferro.primitives.structural import Reshape, Reverse, Slice, Transpose

_LEAST_PARTS = 4  # parts that become one: a transposed view is read more slowly than a copy


class _Part(NamedTuple):
    """One part: x[start:start + 1 along `axis`], all else as in the slice."""

    source: int
    operation: Slice
    axis: int  # of the source; the only one along which parts differ

    @property
    def place(self) -> int:
        return self.operation.start[self.axis]


def transposed_slices(rw: Rewriter, axis: int, parts: Sequence[int]) -> list[int]:
    """Return the parts of a concatenation, with runs of slices as transpositions."""
    if len(parts) < _LEAST_PARTS or not any([rw.avals[x].shape[axis] == 1 for x in parts]):
        return [*parts]
    found: list[int] = []
    i = 0
    while i < len(parts):
        count, step = _run(rw, axis, parts, i)
        if count < _LEAST_PARTS:
            found += parts[i : i + max(1, count - 1)]
            i += max(1, count - 1)
        else:
            found.append(_transposed(rw, axis, parts[i : i + count], step))
            i += count
    return found


def _run(rw: Rewriter, axis: int, parts: Sequence[int], first: int) -> tuple[int, int]:
    """Return how many parts from here on follow one another along an axis, and their distance."""
    shape = rw.avals[parts[first]].shape
    if shape[axis] != 1 or first + 1 == len(parts):
        return 1, 0
    for one in _parts(rw, parts[first]):
        step = _step(rw, one, parts[first + 1], shape)
        if not step:
            continue
        count = 2
        while first + count < len(parts):
            if _step(rw, one, parts[first + count], shape) != count * step:
                break
            count += 1
        if _kept_order(rw, one, shape, axis):
            return count, step
    return 1, 0


def _parts(rw: Rewriter, x: int) -> Iterator[_Part]:
    """Yield the ways to see a value as one slice of an array, whatever shape it has now."""
    operation = rw.operations[x]
    if type(operation) is Reshape:
        (x,) = rw.operands[x]
        operation = rw.operations[x]
    if type(operation) is Slice:
        (source,) = rw.operands[x]
        sizes = rw.avals[x].shape
        for axis, n in enumerate(rw.avals[source].shape):
            if sizes[axis] == 1 < n:
                yield _Part(source, operation, axis)


def _step(rw: Rewriter, one: _Part, x: int, shape: Sequence[int]) -> int:
    """Return how far a value lies behind a part of the same array; 0 if it is none."""
    if rw.avals[x].shape != shape:
        return 0
    for other in _parts(rw, x):
        same = other.source == one.source and other.axis == one.axis
        if same and _elsewhere(other) == _elsewhere(one):
            return other.place - one.place
    return 0


def _elsewhere(part: _Part) -> list[tuple[int, int, int]]:
    """Return the bounds along all axes but that of the part."""
    operation = part.operation
    bounds = zip(operation.start, operation.limit, operation.strides, strict=True)
    return [bound for i, bound in enumerate(bounds) if i != part.axis]


def _kept_order(rw: Rewriter, one: _Part, shape: Sequence[int], axis: int) -> bool:
    """Return True if the other axes of the array are those of the parts, but for axes of size 1."""
    cut = one.operation.abstract_eval(rw.avals[one.source]).shape
    rest = [n for i, n in enumerate(cut) if i != one.axis and n != 1]
    return rest == [n for i, n in enumerate(shape) if i != axis and n != 1]


def _transposed(rw: Rewriter, axis: int, parts: Sequence[int], step: int) -> int:
    """Cut all parts at once, and put their axis in its place."""
    shape = rw.avals[parts[0]].shape
    one = next(part for part in _parts(rw, parts[0]) if _step(rw, part, parts[1], shape))
    count, size = len(parts), abs(step)
    low = min(one.place, one.place + (count - 1) * step)
    start, limit, strides = map(
        list, (one.operation.start, one.operation.limit, one.operation.strides)
    )
    start[one.axis], limit[one.axis] = low, low + (count - 1) * size + 1
    strides[one.axis] = size
    cut = rw.emit(Slice(tuple(start), tuple(limit), tuple(strides)), one.source)
    if step < 0:
        cut = rw.emit(Reverse((one.axis,)), cut)
    sizes = rw.avals[cut].shape
    others = [i for i, n in enumerate(sizes) if i != one.axis and n != 1]
    units = [i for i, n in enumerate(sizes) if i != one.axis and n == 1]
    before = len([n for n in shape[:axis] if n != 1])
    order = (*units, *others[:before], one.axis, *others[before:])
    moved = rw.emit(Transpose(order), cut)
    wanted = (*shape[:axis], count, *shape[axis + 1 :])
    return rw.emit(Reshape(wanted), moved)

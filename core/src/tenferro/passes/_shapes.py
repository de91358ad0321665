"""Questions about shapes: where axes go when others of size 1 come or go, a slice of a slice,
whether an array is large.

Read next: ``rewrites/moves.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.primitives._aval import Aval, Shape
from tenferro.primitives.structural import Slice

_MIN_ELEMENTS = 1 << 12
_MIN_ELEMENTS_BESIDE_LARGE = 1 << 10


def is_large(aval: Any) -> bool:
    """Return True for arrays whose order of axes matters."""
    return isinstance(aval, Aval) and aval.ndim >= 2 and aval.size >= _MIN_ELEMENTS


def follows_large(aval: Any) -> bool:
    """Return True for arrays whose order of axes matters in a graph with large ones.

    Sums along an axis of a large array are such. If they kept their order, each equation that
    reads them or is read with them would go through memory against the order of one operand.
    """
    return isinstance(aval, Aval) and aval.ndim >= 2 and aval.size >= _MIN_ELEMENTS_BESIDE_LARGE


def unit_axes_alone(before: Shape, after: Shape) -> dict[int, int] | None:
    """Map the axes of a size other than 1 through a reshape; ``None`` if it changes their order."""
    old = [axis for axis, n in enumerate(before) if n != 1]
    new = [axis for axis, n in enumerate(after) if n != 1]
    if [before[axis] for axis in old] != [after[axis] for axis in new]:
        return None
    return dict(zip(old, new, strict=True))


def merged_axes(before: Shape, after: Shape) -> list[tuple[int, ...]] | None:
    """Return, for each axis after a reshape, those that it is made of; ``None`` if one is split.

    >>> merged_axes((2, 3, 1, 4), (6, 4))
    [(0, 1), (2, 3)]
    """
    if 0 in before:
        return None
    groups: list[tuple[int, ...]] = []
    first = 0
    for size in after:
        end, found = first, 1
        while end < len(before) and found * before[end] <= size and (end == first or found < size):
            found *= before[end]
            end += 1
        if found != size:
            return None
        groups.append(tuple(range(first, end)))
        first = end
    if any([n != 1 for n in before[first:]]) or (first < len(before) and not groups):
        return None
    if first < len(before):
        groups[-1] += tuple(range(first, len(before)))
    return groups


def placed(wanted: Sequence[int | None], rank: int) -> tuple[int, ...] | None:
    """Return increasing axes: given ones in their places, the others wherever there is room."""
    limits = [rank] * (len(wanted) + 1)  # what each axis must stay below
    for i in range(len(wanted) - 1, -1, -1):
        axis = wanted[i]
        limits[i] = limits[i + 1] - 1 if axis is None else axis
    found: list[int] = []
    for axis, limit in zip(wanted, limits, strict=False):
        least = found[-1] + 1 if found else 0
        place = least if axis is None else axis
        if place < least or place > limit:
            return None
        found.append(place)
    return tuple(found)


def merged_slice(first: Slice, second: Slice) -> Slice:
    """Merge two slices: the second applied to the result of the first."""
    start, limit = [], []
    strides = [i * j for i, j in zip(first.strides, second.strides, strict=True)]
    for k, step in enumerate(strides):
        count = -(-(second.limit[k] - second.start[k]) // second.strides[k])
        begin = min(first.start[k] + second.start[k] * first.strides[k], first.limit[k])
        start.append(begin)
        limit.append(begin + (count - 1) * step + 1 if count else begin)
    return Slice(tuple(start), tuple(limit), tuple(strides))

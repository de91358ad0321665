"""Choice of how threads go over the elements of a region, from shapes and strides.

Axes that every array walks alike are merged, so that most regions become one axis. A map is a loop
over all elements. A reduction shares the elements that go into one result among the lanes of a
block, and among several blocks where there are few results. All sizes follow from the shape alone:
sums are added in the same order on every device. Read next: ``source.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tenferro.backend.extend import NamedTuple

__all__ = ["BLOCK", "Layout", "Sizes", "layout_of"]

BLOCK = 256  # threads
_MAX_BLOCKS = 1 << 13
_MAX_PARTS = 1024  # blocks that share one reduction
_ELEMENTS_PER_LANE = 16
_VECTOR_BYTES = 16  # the widest access of a thread
#: a loop index of 32 bits may pass the last element by one step of the whole grid
_MAX_INDEX_32 = (1 << 31) - _MAX_BLOCKS * BLOCK * 16


class Layout(NamedTuple):
    """A way over the elements; with the kernel it decides on the text.

    kind      "map", "whole" (one result of all elements), "rows" or "columns" (the last axis is
              reduced, or kept)
    integer   type of indices, "i32" or "i64"
    vector    elements that a thread reads at once; 1 unless all arrays are contiguous
    access    of each operand, then of each output: "linear", "scalar" or "strided"
    kept      number of merged axes that are kept (of a map: all)
    reduced   number of merged axes that are reduced
    places    of each axis of the region: the number of its coordinate; none where axes are merged
    """

    kind: str
    integer: str
    vector: int
    access: tuple[str, ...]
    kept: int = 1
    reduced: int = 0
    places: tuple[int, ...] = ()


class Sizes(NamedTuple):
    """Numbers that a launch needs in addition to the text.

    arguments   integers at the end of the parameters: counts, extents, strides
    grid        numbers of blocks
    lanes       threads that share one result
    parts       blocks that share one result
    """

    arguments: tuple[int, ...]
    grid: tuple[int, int]
    lanes: int = 1
    parts: int = 1


def layout_of(
    shape: Sequence[int],
    axes: Sequence[int] | None,
    strides: Sequence[Sequence[int]],
    widest: int,
    is_aligned: bool,
    outputs: int,
    farthest: int | None = None,
) -> tuple[Layout, Sizes]:
    """Choose how to go over an array of this shape.

    Parameters
    ----------
    shape : sequence of int
        The shape of the region.
    axes : sequence of int or None
        The axes that its reductions run over; None if it has none.
    strides : sequence of sequence of int
        Of each operand, in elements.
    widest : int
        Bytes of the largest element that is read or written.
    is_aligned : bool
        True if all operands begin at multiples of 16 bytes.
    outputs : int
        Arrays of the region's own shape that are written, in row-major order.
    farthest : int or None
        The largest offset in an array that is read at computed positions. Then each axis has a
        coordinate of its own. None: there is no such array.
    """
    own = _row_major(shape)
    every = [*strides, *[own] * outputs]
    is_reduced = [axes is not None and axis in axes for axis in range(len(shape))]
    chosen = _merged if farthest is None else _each
    kept = chosen(shape, every, [not x for x in is_reduced])
    reduced = chosen(shape, every, is_reduced)
    walked = [*kept, *reduced]
    largest = max(_largest_index(walked, prod(shape)), farthest or 0)
    index = "i64" if largest > _MAX_INDEX_32 else "i32"
    if farthest is not None:
        layout, sizes = (
            _strided_map(kept, len(every), index, prod(shape))
            if axes is None
            else _reduction(kept, reduced, len(every), index, shape, is_reduced)
        )
        return layout._replace(places=_coordinates(is_reduced)), sizes
    if axes is None or not kept:
        found = _along_one_axis(walked, len(every), index, widest, is_aligned, axes is not None)
        if found is not None:
            return found
    if axes is None:
        return _strided_map(kept, len(every), index, prod(shape))
    return _reduction(kept, reduced, len(every), index, shape, is_reduced)


class _Axis(NamedTuple):
    extent: int
    strides: tuple[int, ...]  # of each array


def _row_major(shape: Sequence[int]) -> tuple[int, ...]:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def _merged(
    shape: Sequence[int], strides: Sequence[Sequence[int]], chosen: Sequence[bool]
) -> list[_Axis]:
    """Return the chosen axes with more than one element; neighbours walked alike become one."""
    axes: list[_Axis] = []
    for i, extent in enumerate(shape):
        if extent == 1 or not chosen[i]:
            continue
        inner = tuple([s[i] for s in strides])
        last = axes[-1] if axes else None
        if last is not None and all(
            [a == b * extent for a, b in zip(last.strides, inner, strict=True)]
        ):
            axes[-1] = _Axis(last.extent * extent, inner)
        else:
            axes.append(_Axis(extent, inner))
    return axes


def _each(
    shape: Sequence[int], strides: Sequence[Sequence[int]], chosen: Sequence[bool]
) -> list[_Axis]:
    """Return the chosen axes as they are."""
    return [
        _Axis(extent, tuple([s[i] for s in strides])) for i, extent in enumerate(shape) if chosen[i]
    ]


def _coordinates(is_reduced: Sequence[bool]) -> tuple[int, ...]:
    """Return the number of each axis: those that are kept come first."""
    order = sorted(range(len(is_reduced)), key=lambda axis: is_reduced[axis])
    return tuple([order.index(axis) for axis in range(len(order))])


def _largest_index(axes: Sequence[_Axis], count: int) -> int:
    """Return a bound of all offsets, of either sign, and of the number of elements."""
    if not axes:
        return count
    reach = [[abs(s) * (axis.extent - 1) for s in axis.strides] for axis in axes]
    return max([count, *map(sum, zip(*reach, strict=True))])


def _access(axes: Sequence[_Axis], array: int) -> str:
    return "scalar" if all(axis.strides[array] == 0 for axis in axes) else "strided"


def _along_one_axis(
    axes: Sequence[_Axis], arrays: int, index: str, widest: int, is_aligned: bool, reduces: bool
) -> tuple[Layout, Sizes] | None:
    """Return the layout if all arrays are contiguous or one number; else None."""
    if len(axes) > 1 or any(s not in (0, 1) for axis in axes for s in axis.strides):
        return None
    count = axes[0].extent if axes else 1
    kinds = ["linear" if _access(axes, i) == "strided" else "scalar" for i in range(arrays)]
    vector = max(1, _VECTOR_BYTES // widest) if is_aligned and "linear" in kinds else 1
    vector = min(vector, 8)
    if count < vector * BLOCK:
        vector = 1
    each = -(-count // (vector * BLOCK))  # blocks that read each element once
    if not reduces:
        blocks = max(1, min(each, _MAX_BLOCKS))
        return Layout("map", index, vector, tuple(kinds)), Sizes((count,), (blocks, 1))
    parts = max(1, min(-(-each // _ELEMENTS_PER_LANE), _MAX_PARTS))
    layout = Layout("whole", index, vector, tuple(kinds), 0, 1)
    return layout, Sizes((1, count, BLOCK), (1, parts), BLOCK, parts)


def _strided_map(
    axes: Sequence[_Axis], arrays: int, index: str, count: int
) -> tuple[Layout, Sizes]:
    # outputs are row-major over all axes: their index is the loop's own
    kinds = ["linear" if _is_row_major(axes, i) else _access(axes, i) for i in range(arrays)]
    extents = [axis.extent for axis in axes[1:]]
    arguments = [count, *extents, *_strides_of(axes, kinds)]
    blocks = max(1, min(-(-count // BLOCK), _MAX_BLOCKS))
    layout = Layout("map", index, 1, tuple(kinds), len(axes))
    return layout, Sizes(tuple(arguments), (blocks, 1))


def _is_row_major(axes: Sequence[_Axis], array: int) -> bool:
    own = _row_major([axis.extent for axis in axes])
    return all(axis.strides[array] == step for axis, step in zip(axes, own, strict=True))


def _strides_of(axes: Sequence[_Axis], kinds: Sequence[str]) -> list[int]:
    return [axis.strides[i] for i, kind in enumerate(kinds) if kind == "strided" for axis in axes]


def _reduction(
    kept: Sequence[_Axis],
    reduced: Sequence[_Axis],
    arrays: int,
    index: str,
    shape: Sequence[int],
    is_reduced: Sequence[bool],
) -> tuple[Layout, Sizes]:
    results = prod([n for n, r in zip(shape, is_reduced, strict=True) if not r])
    length = prod([n for n, r in zip(shape, is_reduced, strict=True) if r])
    longer = [i for i, n in enumerate(shape) if n != 1]
    in_rows = not longer or is_reduced[longer[-1]]
    if in_rows:
        lanes = min(BLOCK, _power_of_two(length))
    else:
        columns_at_once = min(32, _power_of_two(results))
        lanes = min(BLOCK // columns_at_once, _power_of_two(length))
    at_once = BLOCK // lanes  # results per block
    blocks = max(1, -(-results // at_once))
    parts = -(-length // (lanes * _ELEMENTS_PER_LANE))
    parts = max(1, min(parts, _MAX_PARTS // blocks))
    walked = [*kept, *reduced]
    kinds = tuple([_access(walked, i) for i in range(arrays)])
    extents = [axis.extent for axis in (*kept[1:], *reduced[1:])]
    arguments = (results, length, lanes, *extents, *_strides_of(walked, kinds))
    kind = "rows" if in_rows else "columns"
    layout = Layout(kind, index, 1, kinds, len(kept), len(reduced))
    return layout, Sizes(arguments, (blocks, parts), lanes, parts)


def _power_of_two(count: int) -> int:
    """Return the smallest power of two that is at least ``count``."""
    return 1 << max(0, count - 1).bit_length()

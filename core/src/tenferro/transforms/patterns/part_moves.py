"""Moves of parts of a sparse Jacobian: slices, padding, joins, axes.

Windows keep their form through most moves; of others, and of lists, each coefficient goes where its
element goes. Read next: ``patterns/part_sums.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.primitives import Handle, broadcast_in_dim, reshape, slice, transpose
from tenferro.primitives._aval import Aval
from tenferro.primitives.structural import (
    BroadcastInDim,
    Concatenate,
    Pad,
    Reshape,
    Reverse,
    Slice,
    Transpose,
)
from tenferro.transforms.patterns import pattern_moves as moves
from tenferro.transforms.patterns.parts import Part, Parts, normal, with_sources
from tenferro.transforms.patterns.pattern_moves import along, places, scaled, strides_of


def move_reshape(op: Reshape, part: Part, x: Aval, y: Aval) -> Part:
    """Keep the order of elements."""
    if part.covers(x.shape):
        made = Part(None, part.columns, y.shape, (0,) * y.ndim, part.width)
        if part.coefficients is None:
            return made
        return made._replace(coefficients=reshape(part.coefficients, made.shape))
    return normal(part.listed(x.shape), y.shape)


def move_transpose(op: Transpose, part: Part, x: Aval, y: Aval) -> Part:
    """Permute the axes of a window."""
    assert part.box is not None
    strides = strides_of(part.box)
    box = tuple([part.box[a] for a in op.permutation])
    order = places(along(box, [strides[a] for a in op.permutation]))
    chunks = part.chunks()
    axes = (*op.permutation, *([len(box)] if part.width else []))
    own = part.coefficients
    return part._replace(
        coefficients=None if own is None else transpose(own, axes),
        columns=part.with_chunks([chunks[i] for i in order]),
        box=box,
        low=tuple([part.low[a] for a in op.permutation]),
    )


def move_broadcast(op: BroadcastInDim, part: Part, x: Aval, y: Aval) -> Part:
    """Repeat a window along new axes."""
    assert part.box is not None
    box, low, strides = [*y.shape], [0] * y.ndim, [0] * y.ndim
    for axis, n, m, start, stride in zip(
        op.dimensions, x.shape, part.box, part.low, strides_of(part.box), strict=True
    ):
        if n == y.shape[axis]:
            box[axis], low[axis], strides[axis] = m, start, stride if m != 1 else 0
    chunks = part.chunks()
    made = Part(
        None,
        part.with_chunks([chunks[i] for i in places(along(box, strides))]),
        tuple(box),
        tuple(low),
        part.width,
    )
    if part.coefficients is None:
        return made
    own = (*op.dimensions, *([y.ndim] if part.width else []))
    return made._replace(coefficients=broadcast_in_dim(part.coefficients, made.shape, own))


def move_slice(op: Slice, part: Part, x: Aval, y: Aval) -> Part | None:
    """Take the elements of a window that are in the slice; None if there are none."""
    assert part.box is not None
    first, count, low = [], [], []
    for start, limit, step, begin, n in zip(
        op.start, op.limit, op.strides, part.low, part.box, strict=True
    ):
        skipped = max(start - begin, 0)
        skipped += (start - begin - skipped) % step
        left = min(begin + n, limit) - (begin + skipped)
        first.append(skipped)
        count.append(max(-(-left // step), 0))
        low.append((begin + skipped - start) // step)
    if 0 in count:
        return None
    box = tuple(count)
    chunks, strides = part.chunks(), strides_of(part.box)
    taken = [range(a, a + n * s, s) for a, n, s in zip(first, box, op.strides, strict=True)]
    steps = [moves.times(r, stride) for r, stride in zip(taken, strides, strict=True)]
    made = Part(
        None, part.with_chunks([chunks[i] for i in places(steps)]), box, tuple(low), part.width
    )
    if part.coefficients is None:
        return made
    ends, strided = [r[-1] + 1 for r in taken], [*op.strides]
    if part.width:
        first, ends, strided = [*first, 0], [*ends, part.width], [*strided, 1]
    return made._replace(coefficients=slice(part.coefficients, first, ends, strided))


_WINDOWS: dict[type, Callable[..., Part | None]] = {
    Transpose: move_transpose,
    BroadcastInDim: move_broadcast,
    Slice: move_slice,
}
_MOVES: dict[type, Callable[..., list[int]]] = {
    Transpose: moves.move_transpose,
    BroadcastInDim: moves.move_broadcast,
    Slice: moves.move_slice,
    Reverse: moves.move_reverse,
}


def move(op: Any, given: Sequence[Parts | None], xs: Sequence[Handle], y: Aval) -> Parts:
    """Move the parts of the only operand."""
    (x,), (parts,) = xs, given
    found = []
    for part in parts or ():
        if type(op) is Reshape:
            moved: Part | None = move_reshape(op, part, x.aval, y)
        elif part.box is not None and type(op) in _WINDOWS:
            moved = _WINDOWS[type(op)](op, part, x.aval, y)
        else:
            numbers = [*range(1, x.aval.size + 1)]
            moved = with_sources(part, _MOVES[type(op)](op, [numbers], [x.aval], y), x.aval, y)
        if moved is not None:
            found.append(moved)
    return found


def move_pad(op: Pad, given: Sequence[Parts | None], xs: Sequence[Handle], y: Aval) -> Parts:
    """Move windows; what is around them is not part of them, unless the padding flows."""
    found = [_around(op, part, xs, y) for part in given[1] or ()]
    plain = not any(op.interior) and min((*op.low, *op.high), default=0) >= 0
    for part in given[0] or ():
        if plain and part.box is not None:
            low = tuple([a + b for a, b in zip(part.low, op.low, strict=True)])
            found.append(part._replace(low=low))
            continue
        numbers = [*range(1, xs[0].aval.size + 1)]
        sources = moves.move_pad(op, [numbers, None], [x.aval for x in xs], y)
        moved = with_sources(part, sources, xs[0].aval, y)
        if moved is not None:
            found.append(moved)
    return found


def _around(op: Pad, part: Part, xs: Sequence[Handle], y: Aval) -> Part:
    """Return the part of the padding, which repeats a scalar."""
    inside = moves.move_pad(op, [[1] * xs[0].aval.size, None], [x.aval for x in xs], y)
    places = [i for i, is_inside in enumerate(inside) if not is_inside]
    each = part.listed(())
    width = len(each.columns)
    rows = [place for place in places for _ in range(width)]
    made = Part(None, each.columns * len(places), None, rows=rows)
    if each.coefficients is None:
        return made
    spread = broadcast_in_dim(each.coefficients, (len(places), width), (1,))
    return made._replace(coefficients=reshape(spread, (len(rows),)))


def join(op: Concatenate, given: Sequence[Parts | None], xs: Sequence[Handle], y: Aval) -> Parts:
    """Move the parts of each operand to where it is in the result."""
    found: Parts = []
    start = 0
    for parts, x in zip(given, xs, strict=True):
        size = x.shape[op.dimension]
        for part in parts or ():
            if part.box is not None:
                low = [*part.low]
                low[op.dimension] += start
                found.append(part._replace(low=tuple(low)))
            else:
                positions = [range(n) for n in x.shape]
                positions[op.dimension] = range(start, start + size)
                targets = scaled(positions, y.shape)
                found.append(part._replace(rows=[targets[row] for row in part.rows]))
        start += size
    return found

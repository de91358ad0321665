"""How linear operations act on the parts of a sparse Jacobian.

A rule takes the operation and, for each operand, its parts (``None`` if nothing flows there), and
returns the parts of the result, or ``None`` if it has no such form. Windows keep their form through
slices, padding, joins and sums; every other move of known elements makes lists.
Read next: ``patterns/accumulate.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from tenferro.primitives import (
    Handle,
    bind,
    broadcast_in_dim,
    constant,
    dot_general,
    reduce_sum,
    reshape,
    slice,
    transpose,
)
from tenferro.primitives._aval import Aval, Shape
from tenferro.primitives.arithmetic import Add, Mul, Neg, Sub
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.indexing import (
    DynamicSlice,
    DynamicUpdateSlice,
    Gather,
    Scatter,
    ScatterAdd,
)
from tenferro.primitives.reduction import ReduceSum
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
from tenferro.transforms.patterns import pattern_windows as windows
from tenferro.transforms.patterns.pattern_moves import along, places, scaled, strides_of
from tenferro.transforms.patterns.parts import Part, merged, normal

Parts = list[Part]
Numbers = Callable[[int], Sequence[int] | None]  # of an operand: its integers, where known


def pointwise(op: Any, given: Sequence[Parts | None], xs: Sequence[Handle], y: Aval) -> Parts:
    """Apply an operation to the coefficients; zeros stand for the other operands that flow."""
    found: Parts = []
    for i, parts in enumerate(given):
        for part in parts or ():
            found = merged(found, [_applied(op, i, part, given, xs)], y.dtype)
    return found


def _applied(
    op: Any, place: int, part: Part, given: Sequence[Parts | None], xs: Sequence[Handle]
) -> Part:
    others = [x for i, x in enumerate(xs) if i != place]
    if type(op) is Mul and part.coefficients is None:
        return part._replace(coefficients=part.restricted(others[0]))
    own = part.filled(xs[place].dtype)
    operands = []
    for i, x in enumerate(xs):
        if i == place:
            operands.append(own)
        elif given[i] is None:
            operands.append(part.restricted(x))
        else:
            operands.append(constant(0, x.dtype, part.shape))
    return part._replace(coefficients=bind(op, *operands))


def add(op: Any, given: Sequence[Parts | None], xs: Sequence[Handle], y: Aval) -> Parts:
    """Add up parts; those in the same places become one."""
    left, right = given[0] or [], given[1] or []
    if type(op) is Sub:
        minus = [p._replace(coefficients=bind(Neg(), p.filled(y.dtype))) for p in right]
        return merged(left, minus, y.dtype)
    return merged(left, right, y.dtype)


# ---- moves that keep windows ---------------------------------------------------------------------


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
    limit = [r[-1] + 1 for r in taken]
    strided = [*op.strides]
    if part.width:
        first, limit, strided = [*first, 0], [*limit, part.width], [*strided, 1]
    return made._replace(coefficients=slice(part.coefficients, first, limit, strided))


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
            moved = _with_sources(part, _MOVES[type(op)](op, [numbers], [x.aval], y), x.aval, y)
        if moved is not None:
            found.append(moved)
    return found


def _with_sources(part: Part, sources: Sequence[int], x: Aval, y: Aval) -> Part | None:
    """Return the part of a value whose elements are others': each by its place plus 1, or 0."""
    part = part.listed(x.shape)
    at: dict[int, list[int]] = {}
    for i, row in enumerate(part.rows):
        at.setdefault(row + 1, []).append(i)
    kept, rows = [], []
    for row, source in enumerate(sources):
        own = at.get(source, ())
        kept += own
        rows += [row] * len(own)
    return normal(part.chosen(kept, rows), y.shape) if kept else None


def _with_targets(part: Part, targets: Sequence[int], x: Aval, y: Aval) -> Part | None:
    """Return the part of a value into which elements are written, at these places, -1 for none."""
    part = part.listed(x.shape)
    rows = [targets[row] for row in part.rows]
    kept = [i for i, row in enumerate(rows) if row >= 0]
    if not kept:
        return None
    return normal(part.chosen(kept, [rows[i] for i in kept]), y.shape)


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
        moved = _with_sources(part, sources, xs[0].aval, y)
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


# ---- sums ----------------------------------------------------------------------------------------


def sum_along(op: ReduceSum, given: Sequence[Parts | None], xs: Sequence[Handle], y: Aval) -> Parts:
    """Sum coefficients of the same column; otherwise summed elements become coefficients."""
    (x,), (parts,) = xs, given
    kept = [axis for axis in range(x.ndim) if axis not in op.axes]
    found: Parts = []
    for part in parts or ():
        if part.box is None:
            strides = [0] * x.ndim
            for axis, stride in zip(kept, strides_of(y.shape), strict=True):
                strides[axis] = stride
            targets = places(along(x.shape, strides))
            found.append(part._replace(rows=[targets[row] for row in part.rows]))
        else:
            found.append(_summed(part, op.axes, kept, x.dtype))
    return found


def _lines(part: Part, kept: Sequence[int], others: Sequence[int]) -> list[list[Any]]:
    """Return the chunks along the other axes, per element along the kept ones."""
    assert part.box is not None
    strides, chunks = strides_of(part.box), part.chunks()
    firsts = places(along([part.box[a] for a in kept], [strides[a] for a in kept]))
    inside = places(along([part.box[a] for a in others], [strides[a] for a in others]))
    return [[chunks[first + step] for step in inside] for first in firsts]


def _summed(part: Part, axes: Sequence[int], kept: Sequence[int], dtype: Any) -> Part:
    assert part.box is not None
    axes = sorted(axes)
    lines = _lines(part, kept, axes)
    box = tuple([part.box[a] for a in kept])
    low = tuple([part.low[a] for a in kept])
    count = prod([part.box[a] for a in axes])
    if all([line.count(line[0]) == count for line in lines]):
        columns = part.with_chunks([line[0] for line in lines])
        own = part.coefficients
        if own is None:
            made = Part(None, columns, box, low, part.width)
            total = None if count == 1 else constant(count, dtype, made.shape)
            return made._replace(coefficients=total)
        return Part(reduce_sum(own, axes), columns, box, low, part.width)
    columns = [c for line in lines for c in part.with_chunks(line)]
    width = count * (part.width or 1)
    if part.coefficients is None:
        return Part(None, columns, box, low, width)
    order = (*kept, *axes, *([len(part.box)] if part.width else []))
    moved = transpose(part.coefficients, order)
    return Part(reshape(moved, (*box, width)), columns, box, low, width)


def contract(
    op: DotGeneral, given: Sequence[Parts | None], xs: Sequence[Handle], y: Aval
) -> Parts | None:
    """Multiply coefficients with the other operand, and sum those of the same column."""
    active = 0 if given[0] is not None else 1
    if given[1 - active] is not None or y.dtype is not xs[0].dtype:
        return None
    found: Parts = []
    for part in given[active] or ():
        if part.box is None:
            return None
        found = merged(found, [_contracted(op, part, active, xs, y)], y.dtype)
    return found


def _contracted(op: DotGeneral, part: Part, active: int, xs: Sequence[Handle], y: Aval) -> Part:
    """Return a part of a contraction, by way of own [b, f, s, width] and other [b, s, g]."""
    assert part.box is not None
    sides = [(op.lhs_batch, op.lhs_contract), (op.rhs_batch, op.rhs_contract)]
    (batch, summed), (batch_of, summed_of) = sides[active], sides[1 - active]
    other = _facing(xs[1 - active], part, (*batch, *summed), (*batch_of, *summed_of))
    free = [a for a in range(len(part.box)) if a not in batch and a not in summed]
    free_of = [a for a in range(other.ndim) if a not in batch_of and a not in summed_of]
    sizes = [part.box[a] for a in batch], [part.box[a] for a in free]
    sizes_of = [other.shape[a] for a in free_of]
    other = _grouped(other, batch_of, summed_of, free_of)
    own = part.coefficients
    if own is not None:
        own = _grouped(reshape(own, (*part.box, part.width or 1)),
                       batch, free, summed, [len(part.box)])  # fmt: skip
    lines = _lines(part, (*batch, *free), summed)
    is_same = all([line.count(line[0]) == len(line) for line in lines])
    rows = [part.with_chunks(line[:1] if is_same else line) for line in lines]
    b, s, g = other.shape
    f, width = prod(sizes[1]), len(rows[0])
    product = _summed_product(own, other, f) if is_same else _products(own, other, f)
    product = reshape(product, (b, f, g, width))
    order = [(i, j) for i in range(b) for j in range(f) for _ in range(g)]
    shape = [*sizes[0], *sizes[1], *sizes_of]
    low = [part.low[a] for a in (*batch, *free)] + [0] * len(sizes_of)
    if active == 1:
        product = transpose(product, (0, 2, 1, 3))
        order = [(i, j) for i in range(b) for _ in range(g) for j in range(f)]
        shape = [*sizes[0], *sizes_of, *sizes[1]]
        low = [part.low[a] for a in batch] + [0] * len(sizes_of) + [part.low[a] for a in free]
    columns = [c for i, j in order for c in rows[i * f + j]]
    made = Part(None, columns, tuple(shape), tuple(low), width if width > 1 else 0)
    return made._replace(coefficients=reshape(product, made.shape))


def _facing(x: Handle, part: Part, axes: Sequence[int], axes_of: Sequence[int]) -> Handle:
    """Return what a window meets of the other operand, along axes that both have."""
    assert part.box is not None
    start, limit = [0] * x.ndim, [*x.shape]
    for own, axis in zip(axes, axes_of, strict=True):
        start[axis], limit[axis] = part.low[own], part.low[own] + part.box[own]
    return slice(x, start, limit)


def _grouped(x: Handle, *groups: Sequence[int]) -> Handle:
    """Return an array with one axis for each group of axes."""
    sizes = [prod([x.shape[a] for a in group]) for group in groups]
    return reshape(transpose(x, [a for group in groups for a in group]), sizes)


def _summed_product(own: Handle | None, other: Handle, f: int) -> Handle:
    """Return Σ_s own[b, f, s, k] other[b, s, g] as [b, f, g, k]; own may be ones, k = 1."""
    b, _, g = other.shape
    if own is None:
        return broadcast_in_dim(reduce_sum(other, (1,)), (b, f, g, 1), (0, 2))
    return transpose(dot_general(own, other, (2,), (1,), (0,), (0,)), (0, 1, 3, 2))


def _products(own: Handle | None, other: Handle, f: int) -> Handle:
    """Return own[b, f, s, k] other[b, s, g] as [b, f, g, s, k]; own may be ones, k = 1."""
    b, s, g = other.shape
    if own is None:
        return broadcast_in_dim(transpose(other, (0, 2, 1)), (b, f, g, s, 1), (0, 2, 3))
    whole = (b, f, g, s, own.shape[3])
    by = broadcast_in_dim(transpose(other, (0, 2, 1)), whole, (0, 2, 3))
    return broadcast_in_dim(own, whole, (0, 1, 3, 4)) * by


# ---- moves to and from known positions -----------------------------------------------------------


def from_gather(
    op: Gather, given: Sequence[Parts | None], xs: Sequence[Handle], y: Aval, numbers: Numbers
) -> Parts | None:
    """Take windows at known positions."""
    x, known = xs[0].aval, numbers(1)
    starts = windows.starts_of(known, op.start_index_map, op.slice_sizes, x.shape, op.mode)
    if starts is None:
        return None
    places = [*range(1, x.size + 1)]
    sources = windows.gather(op, [places, None], [each.aval for each in xs], y, [None, known])
    moved = [_with_sources(part, sources, x, y) for part in given[0] or ()]
    return [part for part in moved if part is not None]


def from_slice(
    op: DynamicSlice, given: Sequence[Parts | None], xs: Sequence[Handle], y: Aval, numbers: Numbers
) -> Parts | None:
    """Take the elements of a slice whose start is known."""
    x = xs[0].aval
    start = windows.start_of([numbers(i) for i in range(1, len(xs))], y.shape, x.shape)
    if start is None:
        return None
    sources = [start + step + 1 for step in places(along(y.shape, strides_of(x.shape)))]
    moved = [_with_sources(part, sources, x, y) for part in given[0] or ()]
    return [part for part in moved if part is not None]


def into_slice(
    op: DynamicUpdateSlice,
    given: Sequence[Parts | None],
    xs: Sequence[Handle],
    y: Aval,
    numbers: Numbers,
) -> Parts | None:
    """Replace the elements of a slice whose start is known."""
    x, update = xs[0].aval, xs[1].aval
    start = windows.start_of([numbers(i) for i in range(2, len(xs))], update.shape, x.shape)
    if start is None:
        return None
    targets = [start + step for step in places(along(update.shape, strides_of(x.shape)))]
    return _replaced(given[0], given[1], targets, x, update, y)


def _replaced(
    kept: Parts | None, new: Parts | None, targets: Sequence[int], x: Aval, update: Aval, y: Aval
) -> Parts:
    """Return the parts of a value in which elements were replaced."""
    remain = [*range(1, x.size + 1)]
    for target in targets:
        if target >= 0:
            remain[target] = 0
    found = [_with_sources(part, remain, x, y) for part in kept or ()]
    found += [_with_targets(part, targets, update, y) for part in new or ()]
    return [part for part in found if part is not None]


def into_places(
    op: Any, given: Sequence[Parts | None], xs: Sequence[Handle], y: Aval, numbers: Numbers
) -> Parts | None:
    """Add or write updates at known positions."""
    targets = windows.targets_of(op, [x.aval for x in xs], numbers(1))
    if targets is None:
        return None
    if type(op) is Scatter:
        known = [target for target in targets if target >= 0]
        if len(set(known)) != len(known):
            return None  # which of them is written last, a backend decides
        return _replaced(given[0], given[2], targets, xs[0].aval, xs[2].aval, y)
    found = [_with_targets(part, targets, xs[2].aval, y) for part in given[2] or ()]
    return [*(given[0] or ()), *[part for part in found if part is not None]]


RULES: dict[type, Callable[..., Parts | None]] = {
    Add: add,
    Sub: add,
    Reshape: move,
    Transpose: move,
    BroadcastInDim: move,
    Slice: move,
    Reverse: move,
    Pad: move_pad,
    Concatenate: join,
    ReduceSum: sum_along,
    DotGeneral: contract,
}
AT_POSITIONS: dict[type, Callable[..., Parts | None]] = {
    Gather: from_gather,
    DynamicSlice: from_slice,
    DynamicUpdateSlice: into_slice,
    Scatter: into_places,
    ScatterAdd: into_places,
}

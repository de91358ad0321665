"""Sums and contractions of parts of a sparse Jacobian.

Coefficients of the same column are added up; those of different columns stand side by side, as
several coefficients of one element. Read next: ``patterns/part_positions.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tenferro.primitives import (
    Handle,
    broadcast_in_dim,
    constant,
    dot_general,
    reduce_sum,
    reshape,
    slice,
    transpose,
)
from tenferro.primitives._aval import Aval
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.reduction import ReduceSum
from tenferro.transforms.patterns.parts import Part, Parts, merged
from tenferro.transforms.patterns.pattern_moves import along, places, strides_of


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
    b, _, g = other.shape
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

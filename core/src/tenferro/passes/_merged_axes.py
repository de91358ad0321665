"""Rules for contractions of tensors that are written as matrices.

Users and libraries merge axes by a reshape, multiply matrices, and split the axes of the result
again. Without the reshapes the other rules see which axes are which, and so does the order of axes.
Read next: ``rewrites/contractions.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.passes._contracting import Side, dot, merges
from tenferro.passes._rewriter import Rewriter
from tenferro.passes._shapes import merged_axes
from tenferro.primitives.arithmetic import Add
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.structural import Reshape

_Operands = tuple[int, ...]
_MAX_SPLIT_SUM = 64  # sums of products that a reshape may go through


def split_again(rw: Rewriter, op: Reshape, operands: _Operands) -> int | None:
    """Contract operands whose free axes were merged before, if a reshape of the result splits them.

    So tensors that are written as matrices are contracted as tensors.
    """
    (z,) = operands
    inner: Any = rw.operations[z]
    if type(inner) is not DotGeneral or not rw.is_read_once(z):
        return None
    if not any([type(rw.operations[i]) is Reshape for i in rw.operands[z]]):
        return None
    shape = rw.avals[z].shape
    if merged_axes(shape, op.shape) is not None:
        return None
    wide = _split_shape(rw, inner, rw.operands[z])
    if wide == shape:
        return None
    if merged_axes(wide, op.shape) is None:
        return None
    left, right = Side.both(rw, inner, rw.operands[z])
    product = dot(rw, _with_split_axes(rw, left), _with_split_axes(rw, right), inner.preferred)
    return rw.emit(op, product)


def _with_split_axes(rw: Rewriter, side: Side) -> Side:
    """Return the side with its free axes as they were before a reshape merged them."""
    merged = [axis for axis in side.free if _is_merged(rw, side, axis)]
    return side.split(rw, merged) if merged else side


def _split_shape(rw: Rewriter, op: DotGeneral, operands: _Operands) -> tuple[int, ...]:
    """Return the shape of a product of operands whose free axes were not merged."""
    left, right = Side.both(rw, op, operands)
    sizes = list(left.shape_of(rw, left.batch))
    for side in (left, right):
        groups = merges(rw, side.value)
        if not groups:
            sizes += side.shape_of(rw, side.free)
            continue
        source, shape = rw.avals[rw.operands[side.value][0]].shape, rw.avals[side.value].shape
        for axis in side.free:
            group = groups[axis]
            sizes += [source[i] for i in group] if len(group) > 1 else [shape[axis]]
    return tuple(sizes)


def split_sum(rw: Rewriter, op: Reshape, operands: _Operands) -> int | None:
    """Split the axes of each product in a sum of products."""
    (z,) = operands
    sums: list[int] = []
    found: dict[int, int] = {}
    waiting = [z]
    while waiting:
        value = waiting.pop()
        if not rw.is_read_once(value) or len(sums) > _MAX_SPLIT_SUM:
            return None
        if type(rw.operations[value]) is Add:
            sums.append(value)
            waiting += rw.operands[value]
        elif not _gives(rw, value, op.shape):
            return None
        else:
            found[value] = value
    for value in found:
        found[value] = rw.emit(op, value)
    for value in reversed(sums):
        found[value] = rw.emit(Add(), *[found[i] for i in rw.operands[value]])
    return found[z]


def _gives(rw: Rewriter, value: int, shape: tuple[int, ...]) -> bool:
    """Return True for a product that has this shape if its operands are not merged."""
    inner: Any = rw.operations[value]
    return type(inner) is DotGeneral and _split_shape(rw, inner, rw.operands[value]) == shape


def of_merged(rw: Rewriter, op: DotGeneral, operands: _Operands) -> int | None:
    """Contract several axes where both operands merged them into one."""
    sides = Side.both(rw, op, operands)
    both = [
        pair
        for pair in zip(sides[0].contract, sides[1].contract, strict=True)
        if all([_is_merged(rw, s, axis) for s, axis in zip(sides, pair, strict=True)])
        and _sizes_before(rw, sides[0], pair[0]) == _sizes_before(rw, sides[1], pair[1])
    ]
    if not both or not any(
        [_only_merged(rw, s, [p[k] for p in both]) for k, s in enumerate(sides)]
    ):
        return None
    left, right = [side.split(rw, [pair[k] for pair in both]) for k, side in enumerate(sides)]
    return dot(rw, left, right, op.preferred)


def _is_merged(rw: Rewriter, side: Side, axis: int) -> bool:
    """Return True for an axis that a reshape made of several."""
    groups = merges(rw, side.value)
    return bool(groups) and len(groups[axis]) > 1


def _only_merged(rw: Rewriter, side: Side, axes: Sequence[int]) -> bool:
    """Return True if a reshape merged nothing but these axes."""
    groups = merges(rw, side.value)
    return all([axis in axes or len(group) == 1 for axis, group in enumerate(groups)])


def _sizes_before(rw: Rewriter, side: Side, axis: int) -> tuple[int, ...]:
    """Return the sizes of the axes that a reshape merged into one."""
    shape = rw.avals[rw.operands[side.value][0]].shape
    return tuple([shape[i] for i in merges(rw, side.value)[axis]])

"""Windows at positions that are data: the checks that gather, the scatters and slices share.

An index vector is the last axis of ``indices``; it says where a window starts along the axes that
a parameter maps it to. Nothing here knows a primitive. Read next: ``indexing.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from tenferro.computegraph import Operation
from tenferro.primitives._aval import Aval
from tenferro.primitives._checks import (
    axes,
    integers,
    invalid,
    of_kind,
    one_per_axis,
    rank_zero,
    same_dtype,
)
from tenferro.primitives._errors import ShapeMismatchError


def normalise(op: Operation, *parameters: str) -> None:
    """Make the parameters tuples of non-negative integers."""
    for name in parameters:
        op._set(**{name: integers(op, name, getattr(op, name))})


def check_mode(op: Operation, mode: str, known: Sequence[str]) -> None:
    if mode not in known:
        need = f"one of {', '.join(known)}"
        raise invalid(op, "mode", "unknown mode", got=f"mode={mode!r}", need=need)


def check_indices(
    op: Operation, parameter: str, mapped: Sequence[int], x: Aval, indices: Aval
) -> None:
    """Refuse indices that are no integers or whose last axis is not one index vector."""
    of_kind(op, "integer", indices)
    axes(op, parameter, mapped, x)
    if indices.ndim == 0 or indices.shape[-1] != len(mapped):
        raise ShapeMismatchError.of(
            op.name,
            "the last axis of indices is not an index vector",
            got=f"indices {indices}, {parameter}={tuple(mapped)}",
            need=f"indices of shape [..., {len(mapped)}]",
            shapes=(x.shape, indices.shape),
        )


def check_window(op: Operation, parameter: str, values: Sequence[int], x: Aval) -> None:
    axes(op, parameter, values, x)
    increasing(op, parameter, values)


def increasing(op: Operation, parameter: str, values: Sequence[int]) -> None:
    if any(a >= b for a, b in pairwise(values)):
        raise invalid(
            op, parameter, f"{parameter} do not increase", got=values, need="increasing integers"
        )


def window_rank(op: Operation, parameter: str, values: Sequence[int], rank: int) -> Exception:
    return invalid(
        op,
        parameter,
        "the window's rank does not match",
        got=f"{parameter}={tuple(values)} for a window of rank {rank}",
        need="one entry per axis of the window",
    )


def check_sizes(op: Operation, parameter: str, sizes: Sequence[int], x: Aval) -> None:
    """Refuse a block that is larger than x."""
    one_per_axis(op, parameter, sizes, x)
    if any(n > m for n, m in zip(sizes, x.shape, strict=True)):
        raise invalid(
            op,
            parameter,
            f"{parameter} exceed the operand",
            got=f"{parameter}={tuple(sizes)} for {x}",
            need="sizes no larger than the operand along any axis",
        )


def check_starts(op: Operation, x: Aval, starts: Sequence[Aval]) -> None:
    """Refuse anything but one integer of rank 0 per axis, all of one dtype."""
    if len(starts) != x.ndim:
        raise ShapeMismatchError.of(
            op.name,
            f"{len(starts)} starts for rank {x.ndim}",
            got=f"{x} and {len(starts)} starts",
            need="one start per axis",
            shapes=(x.shape, (len(starts),)),
        )
    for start in starts:
        of_kind(op, "integer", rank_zero(op, start, "a start"))
    if starts:
        same_dtype(op, *starts)

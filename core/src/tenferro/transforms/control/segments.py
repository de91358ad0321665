"""Loops that store less for reverse mode: a checkpoint around each step, or around segments.

"sqrt" makes a loop of k segments of m steps each, with k·m ≤ n and m ≈ √n; the remaining steps
follow as one more segment. The outer loop stores a carry per segment. The reverse sweep computes a
segment again, and stores what its derivative reads while it goes through it (Chen et al. 2016).
Read next: ``checkpoint.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt
from typing import Any

from tenferro.computegraph import Fragment, new_leaf
from tenferro.primitives import Handle, concatenate, reshape
from tenferro.primitives import slice as slice_of
from tenferro.primitives._primitive import bind_all
from tenferro.primitives.control import Checkpoint, Scan

STORES = ("auto", "none", "sqrt")


def segmented(
    loop: Scan,
    store: str,
    consts: Sequence[Handle],
    carry: Sequence[Handle],
    rows: Sequence[Handle],
) -> list[Handle]:
    """Run a loop that gives all its outputs, and stores for reverse mode what ``store`` says."""
    if store == "auto":
        return list(bind_all(loop, *consts, *carry, *rows))
    if store == "none" or loop.length <= 3:
        return list(bind_all(loop.replaced(body=again(loop.body)), *consts, *carry, *rows))
    return _by_segments(loop, consts, carry, rows)


def again(body: Fragment) -> Fragment:
    """Return a closed graph whose derivative computes its values again."""
    inputs = [Handle(new_leaf(f"x{i}", aval)) for i, aval in enumerate(body.input_avals)]
    outputs = bind_all(Checkpoint(body), *inputs)
    return Fragment.of([x.key for x in inputs], [y.key for y in outputs])


def _by_segments(
    loop: Scan, consts: Sequence[Handle], carry: Sequence[Handle], rows: Sequence[Handle]
) -> list[Handle]:
    """Run a loop as a loop over segments, and the remaining steps as a segment of their own."""
    size = isqrt(loop.length - 1) + 1
    count = loop.length // size
    whole = count * size
    left = loop.length - whole
    first = left if loop.reverse else 0  # of the rows that belong to whole segments
    outer = loop.replaced(body=again(_segment(loop, size)), length=count)
    split = [reshape(_rows(x, first, first + whole), (count, size, *x.shape[1:])) for x in rows]
    found = bind_all(outer, *consts, *carry, *split)
    last = list(found[: loop.carried])
    stacks = [reshape(y, (whole, *y.shape[2:])) for y in found[loop.carried :]]
    if not left:
        return [*last, *stacks]
    start = 0 if loop.reverse else whole
    rest = [_rows(x, start, start + left) for x in rows]
    ends = bind_all(Checkpoint(_segment(loop, left)), *consts, *last, *rest)
    pairs = zip(stacks, ends[loop.carried :], strict=True)
    joined = [concatenate((b, a) if loop.reverse else (a, b), 0) for a, b in pairs]
    return [*ends[: loop.carried], *joined]


def _segment(loop: Scan, size: int) -> Fragment:
    """Return some steps of a loop as a closed graph."""
    part = loop.replaced(length=size)
    inputs = [
        Handle(new_leaf(f"x{i}", part.input_aval(i))) for i in range(len(loop.body.input_avals))
    ]
    outputs = bind_all(part, *inputs)
    return Fragment.of([x.key for x in inputs], [y.key for y in outputs])


def _rows(x: Handle, start: int, stop: int) -> Handle:
    """Return some rows of an array."""
    if (start, stop) == (0, x.shape[0]):
        return x
    others: Any = [0] * (x.ndim - 1)
    return slice_of(x, (start, *others), (stop, *x.shape[1:]))

"""Parts of a sparse Jacobian that are read or written at known positions.

Where a position is known only when the program runs, there is no rule. Read next:
``patterns/accumulate.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.primitives import Handle
from tenferro.primitives._aval import Aval
from tenferro.primitives.indexing import DynamicSlice, DynamicUpdateSlice, Gather, Scatter
from tenferro.transforms.patterns import pattern_windows as windows
from tenferro.transforms.patterns.parts import Parts, with_sources, with_targets
from tenferro.transforms.patterns.pattern_moves import along, places, strides_of

Numbers = Callable[[int], Sequence[int] | None]  # of an operand: its integers, where known


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
    moved = [with_sources(part, sources, x, y) for part in given[0] or ()]
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
    moved = [with_sources(part, sources, x, y) for part in given[0] or ()]
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
    found = [with_sources(part, remain, x, y) for part in kept or ()]
    found += [with_targets(part, targets, update, y) for part in new or ()]
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
    found = [with_targets(part, targets, xs[2].aval, y) for part in given[2] or ()]
    return [*(given[0] or ()), *[part for part in found if part is not None]]

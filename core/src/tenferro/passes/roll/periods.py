"""Repetitions in a sequence: stretches in which each item equals the one a period before.

Read next: ``steps.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from tenferro._runtime.records import NamedTuple

_MAX_ITEMS_TRIED = 12  # items whose places are looked at
_MOST_REPEATS = 16  # of an item within a period


class Run(NamedTuple):
    """Items ``start`` … ``start + steps * period``; from one period to the next they are equal."""

    start: int
    period: int
    steps: int
    rest: int  # how many items behind the last period repeat still

    @property
    def end(self) -> int:
        """The place behind the last whole period."""
        return self.start + self.period * self.steps


def runs(items: Sequence[int], least_steps: int, least_items: int) -> list[Run]:
    """Return stretches of at least so many periods and items, in order; none overlap.

    The period is looked for where a rare item comes again, so the cost is linear.

    >>> [run[:3] for run in runs([9, 1, 2, 1, 2, 1, 2, 7], 3, 6)]
    [(1, 2, 3)]
    """
    found: list[Run] = []
    stack = [(0, len(items))]
    while stack:
        low, high = stack.pop()
        if high - low < least_items:
            continue
        run = _run(items, low, high, least_steps, least_items)
        if run is not None:
            found.append(run)
            stack += [(low, run.start), (run.end + run.rest, high)]
    return sorted(found)


def may_repeat(items: Iterable[object], least_steps: int, least_items: int) -> bool:
    """Return False if too few items occur often enough for runs of so many items together."""
    counts = Counter(items).values()
    return sum([count for count in counts if count >= least_steps]) >= least_items


def _run(
    items: Sequence[int], low: int, high: int, least_steps: int, least_items: int
) -> Run | None:
    places: dict[int, list[int]] = {}
    for i in range(low, high):
        places.setdefault(items[i], []).append(i)
    by_count: dict[int, list[int]] = {}  # items that are equally frequent mostly are of one loop
    for some in places.values():
        if len(some) >= least_steps:
            by_count.setdefault(len(some), some)
    for count in sorted(by_count)[:_MAX_ITEMS_TRIED]:
        for period, at in _periods(by_count[count], least_steps):
            run = _extended(items, at, period, low, high)
            if run.steps >= least_steps and run.steps * period >= least_items:
                return run
    return None


def _periods(places: Sequence[int], least_steps: int) -> Iterator[tuple[int, int]]:
    """Give distances that come again and again, each with a place where it does."""
    for repeats in range(1, min(_MOST_REPEATS, len(places) // least_steps) + 1):
        found = _longest_run(places, repeats, (least_steps - 1) * repeats)
        if found is not None:
            yield places[found + repeats] - places[found], places[found]


def _longest_run(places: Sequence[int], repeats: int, least: int) -> int | None:
    """Return where the longest run of at least so many equal gaps begins; a gap is the distance
    of a place from the one that is ``repeats`` places behind it.

    Such a run holds an index that is a multiple of ``least``, so no others are looked at.
    """
    count = len(places) - repeats
    best, longest = None, least - 1
    end = 0
    for probe in range(least - 1, count, least):
        if probe < end:
            continue
        gap = places[probe + repeats] - places[probe]
        first, end = probe, probe + 1
        while first and places[first - 1 + repeats] - places[first - 1] == gap:
            first -= 1
        while end < count and places[end + repeats] - places[end] == gap:
            end += 1
        if end - first > longest:
            best, longest = first, end - first
    return best


def _extended(items: Sequence[int], at: int, period: int, low: int, high: int) -> Run:
    """Return the longest stretch of this period around a place."""
    start = at
    while start > low and items[start - 1] == items[start - 1 + period]:
        start -= 1
    end = at  # the items before it equal those a period later
    while end + period < high and items[end] == items[end + period]:
        end += 1
    steps, rest = divmod(end + period - start, period)
    return Run(start, period, steps, rest)

"""A step of a backend's plan, as far as the choice of regions looks at it.

Read next: ``grouping.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from operator import itemgetter
from typing import Any, Protocol, TypeVar

from tenferro._runtime.records import NamedTuple

__all__ = ["RegionPolicy", "RegionStep", "S", "in_order"]


class RegionStep(Protocol):
    """An operation with the slots that it reads and writes; a slot is a value of the program."""

    @property
    def operands(self) -> tuple[int, ...]:
        """Slots that the step reads."""

    @property
    def targets(self) -> tuple[int, ...]:
        """Slots that the step writes."""

    @property
    def is_elementwise(self) -> bool:
        """True if an element of the result needs only the same element of each operand."""

    @property
    def is_assembled(self) -> bool:
        """True if the step pads or concatenates its operands, and may do so tile by tile."""

    @property
    def reduced_axes(self) -> tuple[int, ...] | None:
        """Axes of a reduction that may run on the tiles of its operand; else None."""

    @property
    def shares(self) -> bool:
        """True if a result may use the memory of an operand."""


S = TypeVar("S", bound=RegionStep)


class RegionPolicy(NamedTuple):
    """Decisions of a backend about its regions.

    smallest     elements from which an array is worth a region
    alone        elements above which one operation is worth a region of its own
    can_reduce   (axes, shape) → whether a reduction may run on the tiles of a region
    is_cheap     step → whether computing it twice costs less than keeping its result
    numbers      whether arrays of rank 0 join regions: a kernel computes them like any other
    """

    smallest: int
    alone: int
    can_reduce: Callable[[Sequence[int], Sequence[int]], bool]
    is_cheap: Callable[[Any], bool]
    numbers: bool = False


def in_order(placed: Iterable[tuple[int, S]]) -> list[S]:
    """Sort the steps so that each follows its operands; ties keep their order."""
    nodes = list(placed)
    plain = [step for _, step in sorted(nodes, key=itemgetter(0))]
    return plain if _follow_operands(plain) else _sorted(nodes)


def _sorted(nodes: Sequence[tuple[int, S]]) -> list[S]:
    """Sort the steps so that each follows its operands; of those that may be next, the first."""
    maker = {slot: i for i, (_, step) in enumerate(nodes) for slot in step.targets}
    waits = [0] * len(nodes)
    wakes: list[list[int]] = [[] for _ in nodes]
    for i, (_, step) in enumerate(nodes):
        for slot in set(step.operands):
            if slot in maker:
                wakes[maker[slot]].append(i)
                waits[i] += 1
    ready = [(nodes[i][0], i) for i, count in enumerate(waits) if not count]
    heap = import_module("heapq")
    heap.heapify(ready)
    ordered = []
    while ready:
        _, i = heap.heappop(ready)
        ordered.append(nodes[i][1])
        for j in wakes[i]:
            waits[j] -= 1
            if not waits[j]:
                heap.heappush(ready, (nodes[j][0], j))
    if len(ordered) != len(nodes):
        raise AssertionError("steps wait for each other")
    return ordered


def _follow_operands(steps: Sequence[S]) -> bool:
    """Return True if each step follows those that make its operands."""
    targets = [slot for step in steps for slot in step.targets]
    waiting = set(targets)
    if len(waiting) < len(targets):
        return False
    for step in steps:
        if not waiting.isdisjoint(step.operands):
            return False
        waiting.difference_update(step.targets)
    return True

"""A line while the plan is made: operands and targets are slots of the program.

Read next: `plan_passes/fusion/build.py`, `plan_passes/unboxing.py`, `planner.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush

from tenferro_numpy.ir.expression import Expression

__all__ = ["Step", "in_order"]


class Step:
    """A line while the plan is made.

    positions    of its instructions in the program; none for a conversion
    on_numbers   it reads and gives Python's own numbers
    """

    __slots__ = ("expression", "on_numbers", "operands", "positions", "targets")

    def __init__(
        self,
        expression: Expression,
        operands: tuple[int, ...],
        targets: tuple[int, ...],
        positions: tuple[int, ...],
        *,
        on_numbers: bool = False,
    ) -> None:
        self.expression = expression
        self.operands = operands
        self.targets = targets
        self.positions = positions
        self.on_numbers = on_numbers


def in_order(placed: Iterable[tuple[int, Step]]) -> list[Step]:
    """Sort the steps so that each follows its operands; ties keep their order."""
    nodes = list(placed)
    maker = {slot: i for i, (_, step) in enumerate(nodes) for slot in step.targets}
    waits = [0] * len(nodes)
    wakes: list[list[int]] = [[] for _ in nodes]
    for i, (_, step) in enumerate(nodes):
        for slot in set(step.operands):
            if slot in maker:
                wakes[maker[slot]].append(i)
                waits[i] += 1
    ready = [(nodes[i][0], i) for i, count in enumerate(waits) if not count]
    heapify(ready)
    ordered = []
    while ready:
        _, i = heappop(ready)
        ordered.append(nodes[i][1])
        for j in wakes[i]:
            waits[j] -= 1
            if not waits[j]:
                heappush(ready, (nodes[j][0], j))
    if len(ordered) != len(nodes):
        raise AssertionError("steps wait for each other")
    return ordered

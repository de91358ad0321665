"""Narrow separators of a flow: few values, with few elements, through which all of it passes.

The narrowest one is a minimum vertex cut, found by augmenting paths (Ford and Fulkerson 1956) on
the network where each value is an arc whose capacity is its number of elements. Flow from an
argument to a result that meets elementwise operations and reductions alone may bypass the cut, such
as the identity of a residual connection: it is cheap on its own. Read next: ``bottleneck/plan.py``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from tenferro.transforms.derivatives.bottleneck.flow import Equation, Flow

MAX_VALUES = 8
"""Values in a cut."""

_MAX_PATHS = 64  # augmenting paths; a cut of few values needs few
_MAX_EQUATIONS = 20_000
_ELEMENT = 1 << 10  # capacity of an element; a value adds 1, so that few values win ties


def narrow_cuts(flow: Flow, limit: int) -> Iterator[list[int]]:
    """Yield separators of fewer elements than the limit: of all flow, then without cheap bypasses.

    None has values of size 0, and none is larger than ``MAX_VALUES``.
    """
    if len(flow.equations) > _MAX_EQUATIONS:
        return
    whole = min_cut(flow.sizes, flow.equations, flow.starts, flow.ends, limit)
    if whole:
        yield whole
    equations, ends = without_bypasses(flow)
    if len(ends) == len(flow.ends) and equations == flow.equations:
        return
    inside = min_cut(flow.sizes, equations, flow.starts, ends, limit)
    if inside and inside != whole:
        yield inside


def without_bypasses(flow: Flow) -> tuple[list[Equation], list[int]]:
    """Return equations and ends without flow that is local from the start to the end."""
    reached = {*flow.starts}  # by local equations alone
    for inputs, outputs, _, local in flow.equations:
        if local and reached.issuperset(inputs):
            reached.update(outputs)
    lost: set[int] = set()  # to something else than local equations
    for inputs, outputs, _, local in reversed(flow.equations):
        if not local or not lost.isdisjoint(outputs):
            lost.update(inputs)
    equations = []
    for one in flow.equations:
        if one.local and lost.isdisjoint(one.outputs):
            one = one._replace(inputs=tuple([i for i in one.inputs if i not in reached]))
        equations.append(one)
    return equations, [i for i in flow.ends if i not in reached]


def min_cut(
    sizes: Sequence[int],
    equations: Sequence[Equation],
    starts: Sequence[int],
    ends: Sequence[int],
    limit: int,
) -> list[int] | None:
    """Return the values of a cut of the fewest elements, the first such one of the flow.

    Return ``None`` if it has ``limit`` elements or more, too many values, or a value of size 0, and
    if nothing flows.
    """
    network = _Network(sizes, equations, starts, ends)
    total = 0
    for _ in range(_MAX_PATHS):
        path = network.free_path()
        if path is None:
            cut = network.cut()
            fits = 0 < len(cut) <= MAX_VALUES and all([sizes[i] for i in cut])
            return cut if fits else None
        total += network.fill(path)
        if total >= limit * _ELEMENT:
            return None
    return None


class _Network:
    """Arcs with capacities: value i is the arc from 2i to 2i + 1, and others have no limit."""

    def __init__(
        self,
        sizes: Sequence[int],
        equations: Sequence[Equation],
        starts: Sequence[int],
        ends: Sequence[int],
    ) -> None:
        count = 2 * len(sizes)
        self._source, self._sink = count, count + 1
        self._arcs: list[list[int]] = [[] for _ in range(count + 2 + len(equations))]
        self._heads: list[int] = []
        self._free: list[float] = []
        self._values = range(len(sizes))
        for i, size in enumerate(sizes):
            self._add(2 * i, 2 * i + 1, size * _ELEMENT + 1)
        for place, (inputs, outputs, _, _) in enumerate(equations):
            for i in inputs:
                self._add(2 * i + 1, count + 2 + place)
            for i in outputs:
                self._add(count + 2 + place, 2 * i)
        for i in starts:
            self._add(self._source, 2 * i)
        for i in ends:
            self._add(2 * i + 1, self._sink)

    def _add(self, tail: int, head: int, capacity: float = float("inf")) -> None:
        """Add an arc, and the one against it, which gives back what was sent."""
        for at, to, free in ((tail, head, capacity), (head, tail, 0)):
            self._arcs[at].append(len(self._heads))
            self._heads.append(to)
            self._free.append(free)

    def free_path(self) -> list[int] | None:
        """Return the arcs of a shortest path that is not full; ``None`` if there is none."""
        came = self._reach()
        if self._sink not in came:
            return None
        path, at = [], self._sink
        while at != self._source:
            arc = came[at]
            path.append(arc)
            at = self._heads[arc ^ 1]
        return path

    def _reach(self) -> dict[int, int]:
        """Return the vertices that the source reaches, with the arc that leads there."""
        came, queue = {self._source: -1}, deque([self._source])
        while queue and self._sink not in came:
            for arc in self._arcs[queue.popleft()]:
                head = self._heads[arc]
                if self._free[arc] and head not in came:
                    came[head] = arc
                    queue.append(head)
        return came

    def fill(self, path: Sequence[int]) -> int:
        """Send as much along a path as it takes, and return it in units of capacity."""
        amount = min([self._free[arc] for arc in path])
        for arc in path:
            self._free[arc] -= amount
            self._free[arc ^ 1] += amount
        return int(amount)

    def cut(self) -> list[int]:
        """Return the values that the source reaches only where they enter."""
        reached = self._reach()
        return [i for i in self._values if 2 * i in reached and 2 * i + 1 not in reached]

"""Values that are dropped and computed again before they are read next.

Of each large value the longest gap between two readers is looked at. Dropping it there costs the
equations that compute it again from values that are there at its next reader; where several are
dropped that are computed from each other, they are computed together. The value with the largest
bytes × length of the gap ÷ cost is dropped first; its cost includes that of neighbours dropped
before (Kirisame et al. 2021, Dynamic Tensor Rematerialization, arXiv:2006.09616, there at run
time). How many are dropped is decided by the profile of the graph that results. What is computed
again stands behind a barrier together with what its reader waits for, so that no compiler merges it
with the first. Read next: ``schedule.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from heapq import heapify, heappop, heappush
from itertools import accumulate, pairwise
from operator import add
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import PRIMARY, MaterializedGraph, MaterializedNode
from tenferro.computegraph._materialize import new_row
from tenferro.passes._costs import flops_of
from tenferro.passes._disjoint_sets import DisjointSets
from tenferro.passes._rewriter import needed
from tenferro.passes.budget.profile import VIEWS, Profile, profile_of
from tenferro.primitives.callback import DebugCallback, HostCallback
from tenferro.primitives.structural import OptimizationBarrier

_LEAST_SHARE = 4  # of the peak per equation: a value that is smaller stays
_LEAST_GAP = 8  # equations between two readers
_MOST_EQUATIONS = 64  # to compute a value again
_NEVER_AGAIN = frozenset({HostCallback, DebugCallback, OptimizationBarrier})
_PROBES = 8  # numbers of dropped values that are tried, before halving between two of them


class _Gap(NamedTuple):
    """A value, the position of its last reader before it is dropped, and of the next one."""

    value: int
    start: int
    end: int


class _Chain(NamedTuple):
    """The cost of computing a value again, in elementwise operations, and the values it reads."""

    value: int
    cost: float
    roots: list[int]


class _Costs:
    """Costs of computing values again, each with those of its dropped neighbours."""

    def __init__(self, chains: Iterable[_Chain | None]) -> None:
        known = [chain for chain in chains if chain is not None]
        self.own = {chain.value: chain.cost for chain in known}
        self._near: dict[int, set[int]] = {value: set() for value in self.own}
        for chain in known:
            for root in self.own.keys() & {*chain.roots}:
                self._near[chain.value].add(root)
                self._near[root].add(chain.value)
        self._dropped = DisjointSets()
        self._total: dict[int, float] = {}  # of the dropped values that are neighbours

    def of(self, value: int) -> float:
        """Return the cost of dropping a value now."""
        around = {self._dropped.root(i) for i in self._near[value] if i in self._dropped}
        return self.own[value] + sum([self._total[root] for root in around])

    def drop(self, value: int) -> None:
        """Count a value among the dropped."""
        cost = self.of(value)
        root = self._dropped.root(value)
        for i in self._near[value]:
            if i in self._dropped:
                root = self._dropped.join(root, i)
        self._total[root] = cost


def with_values_again(graph: MaterializedGraph, limit: int) -> tuple[MaterializedGraph, list[int]]:
    """Return a graph in which values are computed again; also the values of ``graph`` that are.

    It fits into ``limit`` bytes if enough can be dropped; else it needs the least that was found.
    """
    profile = profile_of(graph)
    search = _Search(graph, profile)
    order = search.order()
    best, least, chosen = graph, profile.peak, 0
    low, high = 0, len(order) + 1  # too few, and enough
    aim = limit
    while high - low > 1 + high // 16:
        if least <= limit:
            count = (low + high) // 2
        else:
            count = search.enough(order, aim)
            if count <= low:
                count = _next(low, len(order))
        found = search.rewritten(order[:count])
        peak = profile_of(found).peak
        if peak <= limit or peak < least:
            best, least, chosen = found, peak, count
        if peak <= limit:
            high = count
            low = max(low, count - 1) if aim == limit else low  # an estimate is never too high
        elif count == len(order):
            break
        else:
            low = count
            aim -= peak - limit
    return best, [gap.value for gap in order[:chosen]]


def _next(count: int, most: int) -> int:
    """Return the next number to try while none was enough; it does not depend on the limit."""
    return min(most, count + max(1, most // _PROBES))


class _Search:
    """The gaps of a graph, the order in which they are taken, and the graph without them."""

    def __init__(self, graph: MaterializedGraph, profile: Profile) -> None:
        self.graph = graph
        self.profile = profile
        self.made_by = {i: node for node in graph.nodes for i in node.outputs}
        self.count = len(graph.inputs)

    # ---- which -----------------------------------------------------------------------------------

    def order(self) -> list[_Gap]:
        """Return gaps in the order in which dropping them pays."""
        at = {gap.value: gap for gap in self._gaps()}
        costs = _Costs(self._chain(gap) for gap in at.values())
        sizes = self.profile.sizes

        def key(value: int) -> float:
            gap = at[value]
            return -sizes[value] * (gap.end - gap.start) / max(1.0, costs.of(value))

        heap = [(key(value), value) for value in costs.own]
        heapify(heap)
        order = []
        while heap:
            _, value = heappop(heap)
            now = key(value)
            if heap and now > heap[0][0]:  # it has become more expensive
                heappush(heap, (now, value))
                continue
            order.append(at[value])
            costs.drop(value)
        return order

    def enough(self, order: Sequence[_Gap], limit: int) -> int:
        """Return how many gaps to take at least, if computing again took no memory."""
        low, high = 0, len(order)
        while low < high:
            count = (low + high) // 2
            if self._estimate(order[:count]) <= limit:
                high = count
            else:
                low = count + 1
        return low

    def _estimate(self, gaps: Sequence[_Gap]) -> int:
        """Return the peak without the values of these gaps, where nothing is computed again."""
        sizes = self.profile.sizes
        change = [0] * (len(self.profile.kept) + 1)
        for value, start, end in gaps:
            change[start + 1] -= sizes[value]
            change[end] += sizes[value]
        return max(map(add, self.profile.kept, accumulate(change)), default=0)

    def _gaps(self) -> list[_Gap]:
        """Return the longest gap of each large value."""
        profile = self.profile
        results = {profile.owner[i] for i in self.graph.outputs}
        least = max(1, profile.peak // (_LEAST_SHARE * len(self.graph.nodes)))
        found = []
        for value, positions in self._reads().items():
            if profile.sizes[value] < least or value in results:
                continue
            pairs = pairwise([profile.made[value], *positions])
            start, end = max(pairs, key=lambda pair: pair[1] - pair[0])
            if end - start >= _LEAST_GAP and _is_computable_again(self.made_by[value]):
                found.append(_Gap(value, start, end))
        return found

    def _reads(self) -> dict[int, list[int]]:
        """Return the positions of the equations that read the memory of each value."""
        reads: dict[int, list[int]] = {}
        for position, node in enumerate(self.graph.nodes):
            if type(node.operation) not in VIEWS:
                for owner in [self.profile.owner[i] for i in node.inputs]:
                    if owner >= self.count:
                        reads.setdefault(owner, []).append(position)
        return reads

    def _chain(self, gap: _Gap) -> _Chain | None:
        """Return what it takes to compute a value again; ``None`` if that cannot be done."""
        profile, graph = self.profile, self.graph
        seen: set[int] = set()
        roots: list[int] = []
        waiting = [gap.value]
        spent = 0.0
        while waiting:
            i = waiting.pop()
            if i in seen:
                continue
            seen.add(i)
            owner = profile.owner[i]
            if (
                i != gap.value
                and (owner < self.count or profile.last[owner] >= gap.end)
                and owner != gap.value
            ):
                roots.append(owner)
                continue
            if i < self.count:
                continue
            node = self.made_by[i]
            if len(seen) > _MOST_EQUATIONS or not _is_computable_again(node):
                return None
            given = [graph.avals[k] for k in node.inputs]
            spent += flops_of(node.operation, given, [graph.avals[k] for k in node.outputs])
            waiting += node.inputs
        return _Chain(gap.value, spent, roots)

    # ---- the graph -------------------------------------------------------------------------------

    def rewritten(self, gaps: Sequence[_Gap]) -> MaterializedGraph:
        """Return the graph in which the values of these gaps are computed again."""
        graph, profile = self.graph, self.profile
        start = {gap.value: gap.start for gap in gaps}
        writer = _Writer(graph)

        def is_there(i: int, position: int) -> bool:
            owner = profile.owner[i]
            if owner < self.count:
                return True
            dropped = owner in start and start[owner] < position and i not in writer.again
            return not dropped and profile.last[owner] >= position

        for position, node in enumerate(graph.nodes):
            missing = [i for i in node.inputs if not is_there(i, position)]
            if missing:
                chain, roots = self._to_compute(missing, position, is_there)
                after = [i for i in node.inputs if i not in missing and i >= self.count]
                alive = {
                    i
                    for again in chain
                    for i in again.outputs
                    if profile.last[profile.owner[i]] >= position
                }
                writer.compute_again(chain, roots, after[-1:], alive)
            writer.copy(node)
        return writer.graph()

    def _to_compute(
        self, wanted: Sequence[int], position: int, is_there: Callable[[int, int], bool]
    ) -> tuple[list[MaterializedNode], list[int]]:
        """Return the equations that compute values again, in order, and what they read."""
        chain: list[MaterializedNode] = []
        roots: dict[int, None] = {}
        done: set[int] = set()
        stack = list(reversed(wanted))
        while stack:
            i = stack[-1]
            if i in done:
                stack.pop()
                continue
            node = self.made_by[i]
            before = []
            for k in node.inputs:
                if k in done:
                    continue
                if k < self.count or is_there(k, position):
                    roots[k] = None
                    done.add(k)
                else:
                    before.append(k)
            if before:
                stack += before
                continue
            stack.pop()
            done.update(node.outputs)
            chain.append(node)
        return chain, list(roots)


class _Writer:
    """The new graph: its equations so far, and the number that each value has now."""

    def __init__(self, graph: MaterializedGraph) -> None:
        self._old = graph
        self._avals: list[Any] = list(graph.avals)
        self._number = list(range(len(graph.avals)))
        self._nodes: list[MaterializedNode] = []
        self.again: set[int] = set()  # values whose number is that of their second evaluation

    def copy(self, node: MaterializedNode) -> None:
        """Write an equation as it is."""
        operation, inputs, outputs, role, source = node
        given = tuple([self._number[i] for i in inputs])
        self._nodes.append(new_row((operation, given, outputs, role, source)))

    def compute_again(
        self,
        chain: Sequence[MaterializedNode],
        roots: Sequence[int],
        after: Sequence[int],
        alive: set[int],
    ) -> None:
        """Write equations once more, behind a barrier, for all later readers of what is alive."""
        behind = [*roots, *after]
        passed = self._new(behind)
        if behind:
            given = tuple([self._number[i] for i in behind])
            barrier = OptimizationBarrier(len(behind))
            self._nodes.append(MaterializedNode(barrier, given, passed, PRIMARY, chain[0].source))
        local = dict(zip(roots, passed, strict=False))
        for node in chain:
            made = self._new(node.outputs)
            given = tuple([local.get(i, self._number[i]) for i in node.inputs])
            self._nodes.append(new_row((node.operation, given, made, PRIMARY, node.source)))
            local.update(zip(node.outputs, made, strict=True))
        for i in alive:
            self._number[i] = local[i]
        self.again |= alive

    def _new(self, values: Sequence[int]) -> tuple[int, ...]:
        """Return numbers for new values like these."""
        first = len(self._avals)
        self._avals += [self._old.avals[i] for i in values]
        return tuple(range(first, len(self._avals)))

    def graph(self) -> MaterializedGraph:
        """Return the graph."""
        outputs = [self._number[i] for i in self._old.outputs]
        return needed(self._old, self._nodes, outputs, self._avals)


def _is_computable_again(node: MaterializedNode) -> bool:
    operation: Any = node.operation
    return type(operation) not in _NEVER_AGAIN and not hasattr(operation, "bodies")

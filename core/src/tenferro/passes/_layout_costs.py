"""Costs of the orders of axes in which connected elementwise equations may run.

Counted are nanoseconds: to start inner loops where the last axis is short and cannot be joined with
the one before it, and to read an array against the order in which it lies in memory. The candidates
are the order as it is, the last axis first, the axes of a batch first, and the orders of what
enters or leaves through a transposition. Read next: ``rewrites/layout.py``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from tenferro.computegraph import MaterializedGraph
from tenferro.computegraph._materialize import MaterializedNode
from tenferro.passes._disjoint_sets import DisjointSets
from tenferro.passes._layout_sets import connected
from tenferro.primitives._aval import Aval
from tenferro.primitives.constants import Constant
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.reduction import (
    ReduceAnd,
    ReduceMax,
    ReduceMin,
    ReduceOr,
    ReduceProd,
    ReduceSum,
)
from tenferro.primitives.structural import BroadcastInDim, Transpose, inverse

Order = tuple[int, ...]
REDUCTIONS = (ReduceAnd, ReduceMax, ReduceMin, ReduceOr, ReduceProd, ReduceSum)
_LOOP = 3.0  # ns to start an inner loop over a broadcast
_FOLD = 28.0  # ns to start a maximum, a minimum or a product along an axis; a sum is a product
_AGAINST_ORDER = 0.5  # ns for an element whose neighbour in memory is not the next one
_SPREAD = 0.1  # ns for an element of a broadcast whose axes cannot be joined any more
_MIN_SAVED = 0.2  # ns per element, from which on the order is changed


def orders_of(graph: MaterializedGraph) -> dict[int, Order]:
    """Return values that are made faster in another order of their axes, and the order."""
    members, sets = connected(graph)
    if not members:
        return {}
    costs: defaultdict[int, _Costs] = defaultdict(_Costs)
    _gather(graph, members, sets, costs)
    reading = defaultdict[int, list[int]](list)  # the sets that a value enters
    for root, of in costs.items():
        for i in of.entering:
            reading[i].append(root)
    for of in costs.values():
        of.sets_reading = {i: len(reading[i]) for i in of.entering}
    chosen = _chosen(graph, members, sets, costs, reading)
    found = _by_value(members, sets, chosen)
    for root, order in chosen.items():
        for turned, product, its_order in costs[root].products.values():
            if turned == order:
                found[product] = its_order
    return found


def _by_value(members: set[int], sets: DisjointSets, chosen: dict[int, Order]) -> dict[int, Order]:
    """Return the orders of sets for their members."""
    if not chosen:
        return {}
    roots = {value: sets.root(value) for value in members}
    return {value: chosen[root] for value, root in roots.items() if root in chosen}


def _chosen(
    graph: MaterializedGraph,
    members: set[int],
    sets: DisjointSets,
    costs: dict[int, _Costs],
    reading: dict[int, list[int]],
) -> dict[int, Order]:
    """Return the sets whose order changes, those that save most first.

    Of two sets with a transposition between them one changes: both would meet nowhere.
    """
    avals = graph.avals
    saving = {root: of.best(avals[root].shape) for root, of in costs.items()}
    beside = defaultdict[int, set[int]](set)
    for node in graph.nodes:
        value = node[2][0]
        if type(node[0]) is Transpose and node[1][0] in members:
            source = sets.root(node[1][0])
            for root in reading.get(value, ()):
                beside[root].add(source)
                beside[source].add(root)
    found: dict[int, Order] = {}
    for root in sorted(saving, key=lambda root: saving[root][0] * avals[root].size, reverse=True):
        saved, order = saving[root]
        if saved >= _MIN_SAVED and beside[root].isdisjoint(found):
            found[root] = order
    return found


def _gather(
    graph: MaterializedGraph,
    members: set[int],
    sets: DisjointSets,
    costs: defaultdict[int, _Costs],
) -> None:
    """Note, for each set, what its order of axes decides."""
    makers = {node[2][0]: node for node in graph.nodes}
    wanting = [node for node in graph.nodes if type(node[0]) is not DotGeneral]
    readers = Counter([*graph.outputs, *[i for node in wanting for i in {*node[1]}]])
    is_outside = members.isdisjoint
    for node in graph.nodes:
        value = node[2][0]
        if is_outside(node[2]) and is_outside(node[1]):
            continue
        if value in members and type(node[0]) not in (BroadcastInDim, Constant):
            of = costs[sets.root(value)]
            for i in dict.fromkeys(node[1]):
                of.reads(i, value, graph.avals, makers, members, readers)
            continue
        for place, i in enumerate(node[1]):
            if i in members:
                ratio = graph.avals[value].size / graph.avals[i].size
                costs[sets.root(i)].leaves(node[0], place, i, ratio)
    for i in members.intersection(graph.outputs):
        costs[sets.root(i)].leaving[i] = None


def _swapped(operation: DotGeneral, lhs: Aval, rhs: Aval) -> Order:
    """Return the order of the axes of a product whose operands change places."""
    batch = len(operation.lhs_batch)
    left = lhs.ndim - batch - len(operation.lhs_contract)
    right = rhs.ndim - batch - len(operation.rhs_contract)
    end = batch + left
    return (*range(batch), *range(end, end + right), *range(batch, end))


def _varying(maker: MaterializedNode, avals: Any) -> frozenset[int]:
    """Return the axes along which a broadcast varies."""
    operation: Any = maker[0]
    given = avals[maker[1][0]].shape
    return frozenset([d for d, n in zip(operation.dimensions, given, strict=True) if n > 1])


class _Costs:
    """Costs that decide on the order of the axes of one set.

    loops      axes along which broadcasts vary, one entry for each that is read
    entering   other values that are read, with the order of the transposition that made them
    sets_reading   by entering value: it is transposed once for all of them
    products   of them, those that may be made in another order, at no cost: that order, the
               product, and the order of its axes; a transposition may stand between
    leaving    values that others read, with the order of the transposition that reads them
    spread     ns more where broadcasts of other arrays read another order
    reduced    axes of reductions, and what it costs to start one
    batches    axes of products that are those of a batch
    """

    def __init__(self) -> None:
        self.loops: list[frozenset[int]] = []
        self.entering: dict[int, Order | None] = {}
        self.products: dict[int, tuple[Order, int, Order]] = {}
        self.sets_reading: dict[int, int] = {}
        self._read: Counter[int] = Counter()
        self.leaving: dict[int, Order | None] = {}
        self.spread = 0.0
        self.reduced: list[tuple[frozenset[int], float]] = []
        self.batches: list[frozenset[int]] = []

    def reads(
        self,
        value: int,
        reader: int,
        avals: Sequence[Any],
        makers: dict[int, MaterializedNode],
        members: set[int],
        readers: Counter[int],
    ) -> None:
        """Note a value that an equation of the set reads.

        ``readers`` counts those of each value, without contractions, which read any order.
        """
        maker = makers.get(value)
        operation: Any = None if maker is None else maker[0]
        if value in members:
            if maker is not None and type(operation) is BroadcastInDim:
                self.loops.append(_varying(maker, avals))
            return
        if avals[value].shape != avals[reader].shape:
            return
        made, moved = value, tuple(range(avals[value].ndim))
        self.entering[value] = None
        if maker is not None and type(operation) is Transpose:
            made, moved = maker[1][0], inverse(operation.permutation)
            self.entering[value] = operation.permutation
        self._read[value] += 1
        product = makers.get(made)
        if (
            product is None
            or type(product[0]) is not DotGeneral
            or self._read[value] < readers[value]
        ):
            return
        if made == value or readers[made] == 1:
            order = _swapped(product[0], *[avals[i] for i in product[1]])
            self.products[value] = tuple([moved[axis] for axis in order]), made, order

    def leaves(self, operation: Any, place: int, value: int, ratio: float) -> None:
        """Note a reader outside of the set, whose result is so many times larger."""
        if type(operation) in REDUCTIONS:
            start = 0.0 if type(operation) is ReduceSum else _FOLD
            self.reduced.append((frozenset(operation.axes), start))
        elif type(operation) is DotGeneral:
            self.batches.append(frozenset((operation.lhs_batch, operation.rhs_batch)[place]))
        else:
            permuted = operation.permutation if type(operation) is Transpose else None
            self.leaving[value] = permuted
            if type(operation) is BroadcastInDim:
                self.spread += _SPREAD * ratio

    def best(self, shape: tuple[int, ...]) -> tuple[float, Order]:
        """Return the nanoseconds that the best order saves per element, and that order.

        Of orders that cost the same, that with the longest last axis is the best.
        """
        plain: Order = tuple(range(len(shape)))
        orders = dict.fromkeys([plain, *self._candidates(plain)])
        if len(orders) == 1:
            return 0.0, plain
        found = [(self._cost(order, shape), -shape[order[-1]], order) for order in orders]
        cost, _, order = min(found)
        return found[0][0] - cost, order

    def _candidates(self, plain: Order) -> Iterable[Order]:
        if self.loops or self.reduced:
            yield (plain[-1], *plain[:-1])
        yield from [inverse(order) for order in self.entering.values() if order is not None]
        yield from [order for order in self.leaving.values() if order is not None]
        yield from [order for order, *_ in self.products.values()]
        for batch in [batch for batch in dict.fromkeys(self.batches) if batch and self.loops]:
            first, rest = sorted(batch), [axis for axis in plain if axis not in batch]
            yield (*first, *rest)
            yield (*first, *rest[-1:], *rest[:-1])

    def _cost(self, order: Order, shape: tuple[int, ...]) -> float:
        """Return the nanoseconds for each element."""
        longer = _longer(order, shape)
        if len(longer) < 2:
            return 0.0
        last = longer[-1]
        cost = 0.0 if list(order) == sorted(order) else self.spread
        cost += self._cost_of_loops(longer[-2], last, shape[last])
        cost += _AGAINST_ORDER * sum([last in batch for batch in self.batches])
        for value, made_by in self.entering.items():
            lies = range(len(shape)) if made_by is None else inverse(made_by)
            if self._swapped_order(value) != order and _longer(lies, shape)[-1] != last:
                cost += _AGAINST_ORDER / self.sets_reading[value]
        for read_by in self.leaving.values():
            wanted = range(len(shape)) if read_by is None else read_by
            cost += _AGAINST_ORDER * (_longer(wanted, shape)[-1] != last)
        return cost

    def _swapped_order(self, value: int) -> Order | None:
        """Return the order in which a product comes whose operands change places."""
        product = self.products.get(value)
        return product[0] if product else None

    def _cost_of_loops(self, before: int, last: int, length: int) -> float:
        """Return the cost of inner loops that cannot run along the last two axes as one."""
        starts = [_LOOP for varying in self.loops if (last in varying) != (before in varying)]
        starts += [first for axes, first in self.reduced if last in axes and before not in axes]
        return sum(starts) / length


def _longer(order: Sequence[int], shape: tuple[int, ...]) -> list[int]:
    """Return the axes of more than one element, in this order."""
    return [axis for axis in order if shape[axis] > 1]

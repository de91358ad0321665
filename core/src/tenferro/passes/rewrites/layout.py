"""``layout``: the order of axes in which arrays are combined follows what is fast.

A backend that runs an operation over strided arrays has an inner loop along the last axis. Of
differences of points, shape [n, m, 3], that loop has three elements, and n·m of them are started;
as [3, n, m] it is as long as the arrays. And where a product comes as [k, i, n] and is read as its
transpose [n, k, i], each reader goes through memory against its order. So connected equations that
act element by element on one shape get the order of axes in which they, the transpositions where
values enter and leave, and the reductions cost least. Broadcasts, reductions and products then name
other axes. Numbers change at most by the order of sums.
Read next: ``../_layout_costs.py``, ``../_driver.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.computegraph import MaterializedGraph, infer
from tenferro.computegraph._materialize import MaterializedNode, new_row
from tenferro.computegraph._roles import PRIMARY
from tenferro.passes._layout_costs import REDUCTIONS, Order, orders_of
from tenferro.passes._rewriter import needed
from tenferro.primitives.constants import Constant
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.structural import BroadcastInDim, Transpose, inverse

_MAX_ROUNDS = 3  # a reduction hands its order on to what is smaller


def with_fast_layouts(graph: MaterializedGraph) -> tuple[MaterializedGraph, int]:
    """Reorder the axes of large arrays where that pays; also count the equations that changed."""
    count = 0
    for _ in range(_MAX_ROUNDS):
        orders = orders_of(graph)
        if not orders:
            break
        graph, count = _Reordered(graph, orders).graph(), count + len(orders)
    return graph, count


class _Reordered:
    """The graph anew, where some values have their axes in another order.

    Axis j of a value in an order is axis order[j] of the value as it was.
    """

    def __init__(self, graph: MaterializedGraph, orders: dict[int, Order]) -> None:
        self._graph = graph
        self._orders = orders  # of the values that are made in another order
        self._avals: list[Any] = list(graph.avals)
        self._nodes: list[MaterializedNode] = []
        self._turned: dict[int, tuple[int, Order]] = {}  # values that exist in that order only
        self._copies: dict[tuple[int, Order], int] = {}
        self._transposed: dict[int, tuple[int, Order]] = {}  # of transpositions: what they read
        self._like: MaterializedNode = graph.nodes[0]  # whose role and source new equations have

    def graph(self) -> MaterializedGraph:
        """Return the new graph."""
        for node in self._graph.nodes:
            self._like = node
            self._rewrite(node)
        outputs = [self._as_it_was(i) for i in self._graph.outputs]
        return needed(self._graph, self._nodes, outputs, self._avals)

    def _rewrite(self, node: MaterializedNode) -> None:
        operation, inputs, outputs = node[:3]
        order = self._orders.get(outputs[0])
        if order is not None and type(operation) is DotGeneral:
            self._contract(operation, inputs, outputs[0], swapped=True)
        elif order is not None:
            self._turned[outputs[0]] = self._made_in(node, order), order
        elif type(operation) in REDUCTIONS and inputs[0] in self._turned:
            self._reduce(operation, inputs[0], outputs[0])
        elif type(operation) is DotGeneral and not self._turned.keys().isdisjoint(inputs):
            self._contract(operation, inputs, outputs[0])
        else:
            given = tuple([self._as_it_was(i) for i in inputs])
            self._nodes.append(new_row((operation, given, outputs, node[3], node[4])))
            if type(operation) is Transpose:
                self._transposed[outputs[0]] = given[0], operation.permutation

    # ---- equations in another order --------------------------------------------------------------

    def _made_in(self, node: MaterializedNode, order: Order) -> int:
        """Write an equation so that its result has its axes in this order."""
        operation: Any = node[0]
        shape = self._graph.avals[node[2][0]].shape
        wide = tuple([shape[axis] for axis in order])
        if type(operation) is Constant:
            return self._emit(Constant(operation.value, operation.dtype, wide))
        if type(operation) is BroadcastInDim:
            place = inverse(order)
            dimensions = [place[d] for d in operation.dimensions]
            new = tuple(sorted(dimensions))
            source = self._in_order(node[1][0], tuple([dimensions.index(d) for d in new]))
            return self._emit(BroadcastInDim(wide, new), source)
        return self._emit(
            operation,
            *[
                self._in_order(i, order)
                if self._graph.avals[i].shape == shape
                else self._as_it_was(i)
                for i in node[1]
            ],
        )

    def _reduce(self, operation: Any, x: int, value: int) -> None:
        """Reduce a reordered value; what is left keeps its order."""
        found, order = self._turned[x]
        place = inverse(order)
        axes = tuple(sorted([place[axis] for axis in operation.axes]))
        left = [axis for axis in order if axis not in operation.axes]
        self._set(value, self._emit(type(operation)(axes), found), left)

    def _contract(
        self, operation: DotGeneral, inputs: Sequence[int], value: int, *, swapped: bool = False
    ) -> None:
        """Contract reordered operands, swapped ones too; free axes of the result keep their
        order.
        """
        operands, names, rest = [], [], []
        start = len(operation.lhs_batch)
        given = zip(
            inputs,
            (operation.lhs_contract, operation.rhs_contract),
            (operation.lhs_batch, operation.rhs_batch),
            strict=True,
        )
        for x, contract, batch in given:
            ndim = self._graph.avals[x].ndim
            found, order = self._turned.get(x, (x, tuple(range(ndim))))
            place = inverse(order)
            operands.append(found)
            names.append([tuple([place[axis] for axis in axes]) for axes in (contract, batch)])
            free = [axis for axis in range(ndim) if axis not in (*contract, *batch)]
            rest.append([start + free.index(axis) for axis in order if axis in free])
            start += len(free)
        if swapped:
            operands, names, rest = operands[::-1], names[::-1], rest[::-1]
        (left, left_batch), (right, right_batch) = names
        new = DotGeneral(left, right, left_batch, right_batch, operation.preferred)
        order_now = [*range(len(operation.lhs_batch)), *rest[0], *rest[1]]
        self._set(value, self._emit(new, *operands), order_now)

    def _set(self, value: int, found: int, order: list[int]) -> None:
        """Note what stands for a value; ``order`` has its axes, perhaps with gaps."""
        remaining = sorted(order)
        self._turned[value] = found, tuple([remaining.index(axis) for axis in order])

    # ---- transpositions --------------------------------------------------------------------------

    def _in_order(self, value: int, order: Order) -> int:
        """Return a value with its axes in this order."""
        found, has = self._turned.get(value, (value, tuple(range(len(order)))))
        place = inverse(has)
        return self._transpose(found, tuple([place[axis] for axis in order]))

    def _as_it_was(self, value: int) -> int:
        if value not in self._turned and value not in self._transposed:
            return value
        return self._in_order(value, tuple(range(self._graph.avals[value].ndim)))

    def _transpose(self, x: int, order: Order) -> int:
        while x in self._transposed:  # axis j of x is axis earlier[j] of its operand
            x, earlier = self._transposed[x]
            order = tuple([earlier[axis] for axis in order])
        if order == tuple(range(len(order))):
            return x
        found = self._copies.get((x, order))
        if found is None:
            found = self._copies[x, order] = self._emit(Transpose(order), x)
            self._transposed[found] = x, order
        return found

    def _emit(self, operation: Any, *operands: int) -> int:
        value = len(self._avals)
        self._avals += infer(operation, tuple([self._avals[i] for i in operands]))
        like = self._like
        role = like.role if len(like.inputs) == len(operands) else PRIMARY
        self._nodes.append(new_row((operation, operands, (value,), role, like.source)))
        return value

"""Chains of products in a loop over cotangents: one product by what does not vary with the carry.

The reverse loop of a recurrence multiplies its cotangent by one local derivative after the other,
and adds what flows along different ways: ct·a·b/c + ct·d. What reads no carry is computed for all
steps at once, and each step does one product, ct·(a·b/c + d). This is the order of forward mode;
factors keep their order, so that a·b does not overflow where a/c·b does not, and results agree to
rounding. Only what is linear in a cotangent is reordered,
never a value, and only in double precision. Read next: ``split.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import (
    PRIMARY,
    MaterializedGraph,
    MaterializedNode,
    Operation,
    fragment_of_graph,
)
from tenferro.passes._rewriter import needed
from tenferro.passes.fission.parts import Parts
from tenferro.primitives import Aval
from tenferro.primitives.arithmetic import Add, Div, Mul, Neg, Sub
from tenferro.primitives.constants import Constant
from tenferro.primitives.control import Scan

_DOUBLE = frozenset(("float64", "complex128"))


class Chain(NamedTuple):
    """A value of a step: base · factor, or base / divisor, with a sign. All are slots; None is 1.

    Not both: after a first factor each division is done in its place.
    """

    base: int
    factor: int | None = None
    divisor: int | None = None
    is_negative: bool = False


def with_short_chains(parts: Parts) -> Scan | None:
    """Return the loop with one product for each chain; ``None`` if it has no chain."""
    if not any(parts.loop.is_linear):
        return None
    links = _Links(parts)
    if not links.inner:
        return None
    body = fragment_of_graph(_Shorter(links).graph())
    return parts.loop.replaced(body=body)


class _Links:
    """The values of a step that are a cotangent times what no carry varies.

    moving  by the slot of such a value: the operands that vary with the carry, once or twice
    inner   those that the loop needs for other links only
    """

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.moving: dict[int, tuple[int, ...]] = {}
        self._bases: dict[int, int] = {}
        active = _linear_slots(parts.loop, parts.graph)
        for place in sorted(parts.core):
            self._enter(parts.graph.nodes[place], active)
        self.inner = self._inner()

    def _enter(self, node: MaterializedNode, active: set[int]) -> None:
        """Enter an equation that is a link."""
        slot = node.outputs[0]
        is_double = self.parts.graph.avals[slot].dtype.name in _DOUBLE
        if slot not in active or not is_double or not self.parts.is_small(slot):
            return
        moving = tuple([i for i in node.inputs if self.parts.varies(i)])
        bases = {self._bases.get(i, i) for i in moving}
        if len(bases) == 1 and active.issuperset(moving) and _is_link(node, moving):
            self.moving[slot] = moving
            self._bases[slot] = bases.pop()

    def _inner(self) -> set[int]:
        continued: set[int] = set()
        kept = {self.parts.graph.outputs[i] for i in self.parts.carries}
        for place in self.parts.core:
            node = self.parts.graph.nodes[place]
            is_link = node.outputs[0] in self.moving
            (continued if is_link else kept).update(node.inputs)
        return {slot for slot in self.moving if slot in continued and slot not in kept}


def _is_link(node: MaterializedNode, moving: tuple[int, ...]) -> bool:
    """Return True for a linear equation of one operand that moves, or a sum of two."""
    kind = type(node.operation)
    if kind in (Add, Sub):
        return len(moving) == 2
    return kind in (Mul, Neg) or (kind is Div and node.inputs[0] == moving[0])


def _linear_slots(loop: Scan, graph: MaterializedGraph) -> set[int]:
    """Return the values of a step that vary with an input in which the loop is linear."""
    found = {i for i, is_linear in enumerate(loop.is_linear) if is_linear}
    for node in graph.nodes:
        if not found.isdisjoint(node.inputs):
            found.update(node.outputs)
    return found


class _Shorter:
    """The body while it is written; what computes factors leaves the loop later."""

    def __init__(self, links: _Links) -> None:
        self._links = links
        self._graph: MaterializedGraph = links.parts.graph
        self._avals = list(self._graph.avals)
        self._nodes: list[MaterializedNode] = []
        self._made: dict[tuple[Operation, tuple[int, ...]], int] = {}

    def graph(self) -> MaterializedGraph:
        """Return the body with one product for each chain, without what nothing reads."""
        whole: dict[int, Chain] = {}  # from the first base
        near: dict[int, Chain] = {}  # from the last base that the loop needs anyway
        inner = self._links.inner
        for node in self._graph.nodes:
            slot = node.outputs[0]
            moving = self._links.moving.get(slot)
            if moving is None:
                self._nodes.append(node)
                continue
            starts = [near[i] if i in inner else Chain(i) for i in moving]
            whole[slot] = self._extended(node, [whole.get(i, Chain(i)) for i in moving])
            is_one = len({chain.base for chain in starts}) == 1
            near[slot] = self._extended(node, starts) if is_one else whole[slot]
            is_shorter = not inner.isdisjoint(moving)
            self._nodes.append(self._product(near[slot], node) if is_shorter else node)
        return needed(self._graph, self._nodes, self._graph.outputs, self._avals)

    def _extended(self, node: MaterializedNode, starts: Sequence[Chain]) -> Chain:
        """Return the chain of an equation on chains of one base."""
        first, aval = starts[0], self._avals[node.outputs[0]]
        if len(starts) == 2:
            factors = tuple([self._factor(chain, aval) for chain in starts])
            return Chain(first.base, self._emit(node.operation, factors, aval))
        if type(node.operation) is Neg:
            return first._replace(is_negative=not first.is_negative)
        (slot,) = [i for i in node.inputs if not self._links.parts.varies(i)]
        _, factor, divisor, _ = first
        if type(node.operation) is Div:
            if factor is None:
                known = slot if divisor is None else self._emit(Mul(), (divisor, slot), aval)
                return first._replace(divisor=known)
            return first._replace(factor=self._emit(Div(), (factor, slot), aval))
        if divisor is not None:
            return first._replace(factor=self._emit(Div(), (slot, divisor), aval), divisor=None)
        known = slot if factor is None else self._emit(Mul(), (factor, slot), aval)
        return first._replace(factor=known)

    def _factor(self, chain: Chain, aval: Aval) -> int:
        """Return the slot of what multiplies the base of a chain."""
        _, factor, divisor, is_negative = chain
        if factor is None:
            factor = self._emit(Constant(1.0, aval.dtype, aval.shape), (), aval)
        if divisor is not None:
            factor = self._emit(Div(), (factor, divisor), aval)
        return self._emit(Neg(), (factor,), aval) if is_negative else factor

    def _product(self, chain: Chain, node: MaterializedNode) -> MaterializedNode:
        """Return the equation of a chain, which replaces its last one."""
        base, _, divisor, is_negative = chain
        aval = self._avals[node.outputs[0]]
        if divisor is None:
            return node._replace(operation=Mul(), inputs=(base, self._factor(chain, aval)))
        if is_negative:
            divisor = self._emit(Neg(), (divisor,), aval)
        return node._replace(operation=Div(), inputs=(base, divisor))

    def _emit(self, operation: Operation, inputs: tuple[int, ...], aval: Aval) -> int:
        """Return the slot of an equation, written once."""
        found = self._made.get((operation, inputs))
        if found is None:
            found = self._made[operation, inputs] = len(self._avals)
            self._avals.append(aval)
            self._nodes.append(MaterializedNode(operation, inputs, (found,), PRIMARY, None))
        return found

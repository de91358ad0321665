"""Chains of products in a loop over derivatives: one product by what does not vary with the carry.

The reverse loop of a recurrence multiplies its cotangent by one local derivative after the other,
and adds what flows along different ways: ct·a·b/c + ct·d. What reads no carry is computed for all
steps at once, and each step does one product, ct·(a·b/c + d). This is the order of forward mode;
results agree to rounding. Only tangents and cotangents are reordered, never a value, and only in
double precision.

A product of factors may overflow where each of them, times the cotangent, does not; and 0·∞ is nan.
So a product has at most one factor that nothing bounds, and the bounds of the others make it at
most 2¹⁶ times larger: a·cos(x) is joined. a·b is where the loop over the primals computes it.
Elsewhere a step selects: ct·(a·b) where a·b is finite, ct·a·b where it is not; ``unswitch.py``
removes that select if all products are finite. The choice depends on one step alone and on the
number of steps, so that loops that a memory budget leaves whole give the same bits.
Read next: ``bounds.py``, ``unswitch.py``, ``split.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import (
    PRIMARY,
    MaterializedGraph,
    MaterializedNode,
    Operation,
    fragment_of_graph,
)
from tenferro.passes._rewriter import needed
from tenferro.passes.fission.bounds import ANY, Interval, intervals, inverted, largest
from tenferro.passes.fission.parts import Parts
from tenferro.primitives import Aval
from tenferro.primitives._dtype import bool_
from tenferro.primitives.arithmetic import Add, Div, Mul, Neg, Sub
from tenferro.primitives.comparison import Select
from tenferro.primitives.constants import Constant
from tenferro.primitives.control import Scan
from tenferro.primitives.rounding import IsFinite

_DOUBLE = frozenset(("float64", "complex128"))
_MAX_GROWTH = 2.0**16  # by which a product may be larger than its factor that nothing bounds
# Where a choice among two loops costs less than the products that it saves:
_LEAST_STEPS = 16
_LEAST_STEPS_OF_NUMBERS = 256  # arrays of rank 0, with which Python's floats compute
_MOST_ELEMENTS = 1 << 8  # of a factor in one step: rows of larger ones cost memory, and save less
_MOST_ELEMENTS_OF_ALL = 1 << 19


class Chain(NamedTuple):
    """A value of a step: base · factor, or base / divisor, with a sign. All are slots; None is 1.

    Not both. With all that is known, the factor or the inverse of the divisor is at most ``most``
    times what one unbounded number may be, or at most ``most`` if it is bounded.
    """

    base: int
    factor: int | None = None
    divisor: int | None = None
    is_negative: bool = False
    is_bounded: bool = True
    most: float = 1.0


class Known(NamedTuple):
    """Facts about the inputs of a body."""

    intervals: Sequence[Interval]
    products: Set[frozenset[int | None]]  # pairs whose product is a value of the program, too


def with_short_chains(parts: Parts, known: Callable[[], Known], *, chooses: bool) -> Scan | None:
    """Return the loop with one product for each chain; ``None`` if it has no chain.

    With ``chooses`` also for chains whose product may overflow, where it does not.
    """
    loop = parts.loop
    if not loop.derivatives:
        return None
    links = _Links(parts)
    if not links.inner:
        return None
    given, products = known()
    given = [*given[: loop.consts], *[ANY] * loop.carried, *given[loop.rows :]]
    found = _Shorter(links, intervals(parts.graph, given), products, chooses=chooses)
    graph = found.graph()
    return loop.replaced(body=fragment_of_graph(graph)) if found.is_shorter else None


class _Links:
    """The values of a step that are a cotangent times what no carry varies.

    moving  by the slot of such a value: the operands that vary with the carry, once or twice
    inner   those that the loop needs for other links only
    """

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.moving: dict[int, tuple[int, ...]] = {}
        self._bases: dict[int, int] = {}
        active = _derivative_slots(parts.loop, parts.graph)
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
    if len(moving) != 1:
        return False
    return kind in (Mul, Neg) or (kind is Div and node.inputs[0] == moving[0])


def _derivative_slots(loop: Scan, graph: MaterializedGraph) -> set[int]:
    """Return the values of a step that vary with a carry that is a tangent or cotangent."""
    found = {loop.consts + i for i in loop.derivatives}
    for node in graph.nodes:
        if not found.isdisjoint(node.inputs):
            found.update(node.outputs)
    return found


class _Shorter:
    """The body while it is written; what computes factors leaves the loop later."""

    def __init__(
        self,
        links: _Links,
        known: list[Interval],
        products: Set[frozenset[int | None]],
        *,
        chooses: bool,
    ) -> None:
        self.is_shorter = False
        self._chooses = chooses
        nodes = links.parts.graph.nodes
        self._chosen = {node.inputs[2] for node in nodes if type(node.operation) is Select}
        self._links = links
        self._products = products
        self._known = known
        self._graph: MaterializedGraph = links.parts.graph
        self._avals = list(self._graph.avals)
        self._nodes: list[MaterializedNode] = []
        self._made: dict[tuple[Operation, tuple[int, ...]], int] = {}

    def graph(self) -> MaterializedGraph:
        """Return the body with one product for each chain, without what nothing reads."""
        whole: dict[int, Chain] = {}  # from the first base
        near: dict[int, Chain] = {}  # from the last base that the loop needs anyway
        free: dict[int, Chain] = {}  # the same, though its factor may overflow
        inner = self._links.inner
        for node in self._graph.nodes:
            slot = node.outputs[0]
            moving = self._links.moving.get(slot)
            if moving is None:
                self._nodes.append(node)
                continue
            from_near = self._extended(node, [near[i] if i in inner else Chain(i) for i in moving])
            from_first = self._extended(node, [whole.get(i, Chain(i)) for i in moving])
            alone = self._extended(node, [Chain(i) for i in moving]) or Chain(slot)
            near[slot] = from_near or from_first or alone
            whole[slot] = from_first or near[slot]
            is_same = near[slot].base == slot or near[slot] == alone or inner.isdisjoint(moving)
            free[slot] = near[slot]
            if near[slot].base in inner or near[slot].base == slot:
                starts = [free[i] if i in inner else Chain(i) for i in moving]
                free[slot] = self._extended(node, starts, may_overflow=True) or near[slot]
            made = node if is_same else self._product(near[slot], node)
            if free[slot].base != near[slot].base and self._may_choose(slot):
                self._append_choice(free[slot], made)
            else:
                self._nodes.append(made)
        return needed(self._graph, self._nodes, self._graph.outputs, self._avals)

    def _may_choose(self, slot: int) -> bool:
        """Return True for what a loop needs, if choosing among loops costs less than a product."""
        aval, steps = self._avals[slot], self._links.parts.loop.length
        least = _LEAST_STEPS if aval.shape else _LEAST_STEPS_OF_NUMBERS
        fits = least <= steps <= _MOST_ELEMENTS_OF_ALL // max(1, aval.size)
        return (
            self._chooses
            and fits
            and 0 < aval.size <= _MOST_ELEMENTS
            and slot not in self._links.inner
            and slot not in self._chosen
        )

    def _append_choice(self, chain: Chain, other: MaterializedNode) -> None:
        """Write the equation of a chain, and another one for where its factor overflows."""
        (slot,) = other.outputs
        aval = self._avals[slot]
        self.is_shorter = True
        factor = self._factor(chain, aval)
        is_finite = self._emit(IsFinite(), (factor,), aval.with_dtype(bool_))
        product = self._emit(Mul(), (chain.base, factor), aval)
        self._avals.append(aval)
        self._nodes.append(other._replace(outputs=(len(self._avals) - 1,)))
        inputs = (is_finite, product, len(self._avals) - 1)
        self._nodes.append(other._replace(operation=Select(), inputs=inputs))

    def _extended(
        self, node: MaterializedNode, starts: Sequence[Chain], *, may_overflow: bool = False
    ) -> Chain | None:
        """Return the chain of an equation on chains of one base.

        ``None`` if its factor may overflow, unless that is looked for later.
        """
        first = starts[0]
        if len({chain.base for chain in starts}) > 1:
            return None
        if type(node.operation) is Neg:
            return first._replace(is_negative=not first.is_negative)
        if len(starts) == 2:
            return self._added(node, starts, may_overflow=may_overflow)
        (slot,) = [i for i in node.inputs if not self._links.parts.varies(i)]
        is_divisor = type(node.operation) is Div
        size = largest(inverted(self._known[slot]) if is_divisor else self._known[slot])
        is_bounded = size <= _MAX_GROWTH
        most = first.most * (size if is_bounded else 1.0)
        if first.factor is None and first.divisor is None:
            factor, divisor = (None, slot) if is_divisor else (slot, None)
            return Chain(first.base, factor, divisor, first.is_negative, is_bounded, most)
        may_grow = is_bounded or (not is_divisor and self._may_grow(first, slot))
        is_safe = may_grow and _may_be_factor(first) and most <= _MAX_GROWTH
        if not (is_safe or may_overflow):
            return None
        aval = self._avals[node.outputs[0]]
        is_bounded = is_bounded and first.is_bounded
        if is_divisor:
            factor = self._emit(Div(), (self._factor(first, aval), slot), aval)
            return Chain(first.base, factor, is_bounded=is_bounded, most=most)
        kind, other = (Mul, first.factor) if first.divisor is None else (Div, first.divisor)
        assert other is not None  # a chain has a factor or a divisor here
        inputs = (other, slot) if kind is Mul else (slot, other)
        factor = self._emit(kind(), inputs, aval)
        return Chain(first.base, factor, None, first.is_negative, is_bounded, most)

    def _may_grow(self, chain: Chain, slot: int) -> bool:
        """Return True if a chain may be multiplied by a factor that nothing bounds."""
        return chain.is_bounded or frozenset((chain.factor, slot)) in self._products

    def _added(
        self, node: MaterializedNode, starts: Sequence[Chain], *, may_overflow: bool
    ) -> Chain | None:
        """Return the chain of a sum or difference of two chains of one base."""
        one, two = starts
        most = one.most + two.most
        is_safe = most <= _MAX_GROWTH and _may_be_factor(one) and _may_be_factor(two)
        if not (is_safe or may_overflow):
            return None
        aval = self._avals[node.outputs[0]]
        factors = self._factor(one, aval), self._factor(two, aval)
        is_bounded = one.is_bounded and two.is_bounded
        factor = self._emit(node.operation, factors, aval)
        return Chain(one.base, factor, is_bounded=is_bounded, most=most)

    def _factor(self, chain: Chain, aval: Aval) -> int:
        """Return the slot of what multiplies the base of a chain."""
        factor = chain.factor
        if factor is None:
            factor = self._emit(Constant(1.0, aval.dtype, aval.shape), (), aval)
        if chain.divisor is not None:
            factor = self._emit(Div(), (factor, chain.divisor), aval)
        return self._emit(Neg(), (factor,), aval) if chain.is_negative else factor

    def _product(self, chain: Chain, node: MaterializedNode) -> MaterializedNode:
        """Return the equation of a chain, which replaces its last one."""
        base, _, divisor, is_negative, *_ = chain
        self.is_shorter = True
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


def _may_be_factor(chain: Chain) -> bool:
    """Return False for a divisor whose inverse may overflow."""
    return chain.divisor is None or chain.is_bounded

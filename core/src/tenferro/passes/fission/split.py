"""The equations before a loop and behind it.

Every equation that leaves the loop becomes one over all steps, by its batching rule: what stood in
the steps stands in rows. A sum over all steps replaces a carry to which each step adds something;
sums are so taken in another order, and all else is computed as before. What is left of the loop is
written in ``smaller.py``. Read next: ``../_driver.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tenferro._runtime import CollectorPaused
from tenferro.computegraph import (
    Fragment,
    MaterializedGraph,
    MaterializedNode,
    ValueKey,
    derive,
    flatten,
)
from tenferro.passes.fission.bounds import Bounds, products_of_primals
from tenferro.passes.fission.chains import Known, with_short_chains
from tenferro.passes.fission.parts import EACH, MAX_BYTES_WITHOUT_A_LOOP, STEP, Parts, parts_of
from tenferro.passes.fission.smaller import SmallerLoop
from tenferro.primitives import Handle, reduce_sum
from tenferro.primitives._primitive import TensorPrimitive, in_front
from tenferro.primitives.control import Scan
from tenferro.primitives.control.effects import has_effects
from tenferro.primitives.structural import BroadcastInDim

ALL, BY_PRODUCTS, CHAINS = "all", "by products", "chains"


def with_split_loops(
    graph: MaterializedGraph,
    can: Callable[[type], bool],
    optimize: Callable[[Fragment], Fragment],
    how: str = ALL,
    *,
    unswitches: bool = False,
) -> tuple[MaterializedGraph, int]:
    """Take out of the loops what can run for all steps at once; also count the loops.

    ``can`` says whether an operation of a class may be introduced; ``optimize`` rewrites the body
    of a loop whose chains are joined, with ``unswitches`` also those that may overflow. With
    ``BY_PRODUCTS`` loops that no product leaves stay as
    they are, with ``CHAINS`` all stay whole and their chains are joined.
    """
    with CollectorPaused():
        bounds = Bounds(graph)
        values = list(graph.inputs)
        count = 0
        for place, node in enumerate(graph.nodes):
            given = [values[i] for i in node.inputs]
            made = None
            loop = node.operation
            parts = parts_of(loop) if isinstance(loop, Scan) else None
            if parts is not None and how != BY_PRODUCTS:
                known = partial(_known, graph, place, bounds)
                parts = _joined(parts, known, optimize, can, unswitches=unswitches)
                loop = parts.loop
            if parts is not None and how != CHAINS:
                made = _split(parts, given, can, by_products=how == BY_PRODUCTS)
            if made is None and loop is not node.operation:
                made = derive(loop, given)
            count += made is not None
            if made is None:
                made = derive(node.operation, given, node.role)
            for key in made:
                key.source = key.source or node.source
            values += made
        if not count:
            return graph, 0
        first = set(graph.inputs)
        outputs = [values[i] for i in graph.outputs]
        found = flatten(graph.inputs, outputs, lambda k: None if k in first else k.definition)
    return found, count


def _known(graph: MaterializedGraph, place: int, bounds: Bounds) -> Known:
    """Return the bounds of the operands of a loop, and the products that its primals compute."""
    given, node = bounds.before(place), graph.nodes[place]
    products = products_of_primals(graph, node.operation, node.inputs)
    return Known([given[i] for i in node.inputs], products)


def _joined(
    parts: Parts,
    known: Callable[[], Known],
    optimize: Callable[[Fragment], Fragment],
    can: Callable[[type], bool],
    *,
    unswitches: bool,
) -> Parts:
    """Return the parts of the loop with one product for each chain; if it has none, as given."""
    found = with_short_chains(parts, known, chooses=unswitches)
    if found is None or not all([can(type(node[0])) for node in found.body.flat.nodes]):
        return parts
    return parts_of(found.replaced(body=optimize(found.body)))


def at_once(loop: Scan, operands: Sequence[ValueKey]) -> Sequence[ValueKey] | None:
    """Return the results of a loop in which no step reads another one, computed without a loop.

    ``None`` if a step does, or if the values of all steps would take too much memory together. A
    value of one step may be as large as an array that all steps read: then they act on its rows,
    and backends run blocks of these.
    """
    shared = _largest_shared(operands[: loop.consts])
    parts = Parts(loop, max(shared, MAX_BYTES_WITHOUT_A_LOOP))
    return _Split(parts, operands).results() if parts.fits_at_once(shared) else None


def _largest_shared(keys: Sequence[ValueKey]) -> int:
    """Return the bytes of the largest array among some values; a broadcast is none."""
    sizes = [
        key.aval.size * key.aval.dtype.itemsize
        for key in keys
        if key.definition is None or type(key.definition[0]) is not BroadcastInDim
    ]
    return max(sizes, default=0)


def _split(
    parts: Parts,
    operands: Sequence[ValueKey],
    can: Callable[[type], bool],
    *,
    by_products: bool,
) -> Sequence[ValueKey] | None:
    """Return the results of a loop, or ``None`` if it stays as it is."""
    loop = parts.loop
    if loop.length < 2 or loop.offload is not None or has_effects(loop):
        return None
    if not parts.is_worthwhile(by_products=by_products):
        return None
    found = _Split(parts, operands).results()
    before = set(operands)
    made = flatten([*before], found, lambda k: None if k in before else k.definition)
    if not all([can(type(node[0])) for node in made.nodes]):
        return None
    return found


class _Split:
    """The values of a loop that are outside of it: one for all steps, or one for each."""

    def __init__(self, parts: Parts, operands: Sequence[ValueKey]) -> None:
        self.parts = parts
        self.loop = parts.loop
        self.graph = parts.graph
        self._starts = operands[self.loop.consts : self.loop.rows]
        self._outside: dict[int, Handle] = {}
        for slot, key in enumerate(operands):
            if parts.kind[slot] != STEP:
                self._outside[slot] = Handle(key)
        self._has_rows = {slot for slot, kind in enumerate(parts.kind) if kind == EACH}

    def results(self) -> list[ValueKey]:
        """Write all parts, and return the results of the loop."""
        kind = self.parts.kind
        for node in self.graph.nodes:
            if all([kind[slot] != STEP for slot in node.outputs]):
                self._write(node)
        last, stacks = SmallerLoop(
            self.parts, self._starts, self._outside, self._has_rows
        ).results()
        self._outside.update(stacks)
        self._has_rows.update(stacks)
        skipped = self.parts.core.difference(self.parts.again) | self.parts.sums
        for place, node in enumerate(self.graph.nodes):
            if place not in skipped and node.outputs[0] not in self._outside:
                self._write(node)
        carries = {**dict(enumerate(self._starts)), **last, **self._sums()}
        return [
            carries[i] if i < self.loop.carried else self._rows(self.graph.outputs[i])
            for i in self.loop.outputs
        ]

    def _write(self, node: MaterializedNode) -> None:
        """Compute an equation outside of the loop, for all steps if they differ in it."""
        operation: Any = node.operation
        given = [self._outside[slot] for slot in node.inputs]
        on = tuple([slot in self._has_rows for slot in node.inputs])
        if any(on):
            found = operation.batch(self.loop.length, on, *given)
            results = found if isinstance(found, (tuple, list)) else (found,)
            self._has_rows.update(node.outputs)
        else:
            results = [Handle(key) for key in derive(operation, [x.key for x in given])]
        for slot, y in zip(node.outputs, results, strict=True):
            y.key.source = y.key.source or node.source
            self._outside[slot] = y

    def _rows(self, slot: int) -> ValueKey:
        return in_front(self._outside[slot], slot in self._has_rows, self.loop.length).key

    def _sums(self) -> dict[int, ValueKey]:
        """Return the carries to which each step adds something, behind the last step."""
        found = {}
        for carry, terms in self.parts.accumulators:
            total = Handle(self._starts[carry])
            is_zero = TensorPrimitive.space.is_zero(total.key)
            for is_subtracted, slot in terms:
                term = self._sum(slot)
                if is_zero:
                    total, is_zero = -term if is_subtracted else term, False
                else:
                    total = total - term if is_subtracted else total + term
            found[carry] = total.key
        return found

    def _sum(self, slot: int) -> Handle:
        """Return the sum of a value over all steps."""
        value = self._outside[slot]
        return reduce_sum(value, (0,)) if slot in self._has_rows else value * self.loop.length

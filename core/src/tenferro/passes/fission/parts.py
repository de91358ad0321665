"""The equations of a step that must stay in their loop; the others are computed for all steps.

An equation that reads no carry can run before the loop, one that no carry follows from behind it
(loop fission, Kennedy and Allen 2001, section 5.2). A carry to which each step adds something is a
sum over all steps. What is large in one step, has a graph among its parameters or calls back stays,
as do all equations that it needs.
Read next: ``split.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import MaterializedGraph, MaterializedNode
from tenferro.primitives.arithmetic import Add, Mul, Sub
from tenferro.primitives.comparison import Select
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.control import Scan
from tenferro.primitives.rounding import IsFinite
from tenferro.primitives.structural import BroadcastInDim, Reshape, Slice, Transpose

#: what a value in a body depends on: consts alone, rows as well, or something that stays
ONCE, EACH, STEP = range(3)
_MAX_BYTES_IN_A_STEP = 1 << 15  # of a value, up to which calls cost more than memory
MAX_BYTES_WITHOUT_A_LOOP = 1 << 17  # of a value, where nothing stays in the loop: no rows are moved
# Of all values that leave the loop, in all steps. Without a product, memory costs what calls did.
_MAX_BYTES_WITH_A_PRODUCT = 1 << 25
_MAX_BYTES_WITHOUT_A_PRODUCT = 1 << 24
# Of all values of an unrolled loop without carries; more where the steps read rows of one array.
_MAX_BYTES_AT_ONCE = 1 << 26
_MAX_BYTES_BY_ROWS = 1 << 28
_CALLS = frozenset({"std::host_callback", "std::debug_callback"})
_AGAIN = frozenset({BroadcastInDim, Reshape, Transpose})  # that cost nothing behind the loop


class Accumulator(NamedTuple):
    """A carry to which each step adds terms, or subtracts them."""

    carry: int
    terms: tuple[tuple[bool, int], ...]  # whether it is subtracted, and the value


class Parts:
    """The parts of a loop: ``core`` holds the places of equations that stay.

    What takes more than ``max_bytes`` in one step is large.
    """

    def __init__(self, loop: Scan, max_bytes: int = _MAX_BYTES_IN_A_STEP) -> None:
        self.loop = loop
        self._max_bytes = max_bytes
        self.graph: MaterializedGraph = loop.body.flat
        self.maker: dict[int, int] = {
            slot: place for place, node in enumerate(self.graph.nodes) for slot in node.outputs
        }
        self._readers = _readers(self.graph)
        updates = self.graph.outputs[: loop.carried]
        self.unchanged = [i for i, slot in enumerate(updates) if slot == loop.consts + i]
        self.accumulators = [*self._accumulators()]
        left = {*self.unchanged, *[found.carry for found in self.accumulators]}
        self.carries = [i for i in range(loop.carried) if i not in left]
        self.sums = {*self._sums()}  # places of what adds to accumulators, which disappear
        self.kind = self._kinds()
        self.core = self._core(Parts._varying)
        tests = any([type(node.operation) is IsFinite for node in self.graph.nodes])
        self._spare = self.core - self._core(Parts._varying_if_finite) if tests else set[int]()
        self.again: set[int] = set()  # places in the core that are computed behind it as well
        self.stacked: list[int] = []
        for slot in self._read_behind():
            self._stack(slot)
        self._cut_behind()

    @property
    def has_size_between(self) -> bool:
        """Return True if a value is large for a loop in which something stays, but not for all."""
        sizes = [self._bytes(slot) for slot in range(len(self.graph.avals))]
        return any([_MAX_BYTES_IN_A_STEP < size <= MAX_BYTES_WITHOUT_A_LOOP for size in sizes])

    @property
    def is_whole(self) -> bool:
        """Return True if nothing stays in the loop."""
        return not self.core and not self.carries

    def is_worthwhile(self, *, by_products: bool) -> bool:
        """Return True if more leaves the loop than moves, and all of it is small enough.

        ``by_products`` asks that a product or a factorization leaves it.
        """
        gone = [
            node
            for place, node in enumerate(self.graph.nodes)
            if place not in self.core and node.inputs
        ]
        has_product = any([_is_product(node) for node in gone])
        if not has_product and (by_products or all([_is_move(node) for node in gone])):
            return False
        return self._size(gone) <= (
            _MAX_BYTES_WITH_A_PRODUCT if has_product else _MAX_BYTES_WITHOUT_A_PRODUCT
        )

    def fits_at_once(self, shared: int) -> bool:
        """Return True if no step reads another one, and the values of all steps fit into memory.

        ``shared`` is the bytes of the largest array that all steps read.
        """
        if not self.is_whole or self.accumulators:
            return False
        made = [slot for node in self.graph.nodes for slot in node.outputs]
        is_by_rows = max(map(self._bytes, made), default=0) <= shared
        return self._size(self.graph.nodes) <= (
            _MAX_BYTES_BY_ROWS if is_by_rows else _MAX_BYTES_AT_ONCE
        )

    def _size(self, gone: Sequence[MaterializedNode]) -> int:
        """Return the bytes of what leaves with these equations, in all steps."""
        kept = self._summed_products()
        slots = [
            slot
            for node in gone
            for slot in node.outputs
            if self.kind[slot] != ONCE and slot not in kept and type(node[0]) is not BroadcastInDim
        ]
        return self.loop.length * sum([self._bytes(slot) for slot in (*slots, *self.stacked)])

    def varies(self, slot: int) -> bool:
        """Return True for a value of a step that cannot be computed before the loop."""
        return self.kind[slot] == STEP

    def is_inside(self, slot: int) -> bool:
        """Return True for a value that is made inside the loop though nothing varies there."""
        place = self.maker.get(slot, -1)
        if place < 0:
            return False
        node = self.graph.nodes[place]
        return place in self.core or not node.inputs or type(node[0]) is BroadcastInDim

    # ---- carries ---------------------------------------------------------------------------------

    def _accumulators(self) -> Iterator[Accumulator]:
        """Yield the carries that nothing reads but the sums that they become."""
        found = []
        for i in range(self.loop.carried):
            terms = self._terms(i)
            if terms:
                found.append(Accumulator(i, tuple(terms)))
        products = self._products(found)
        for one in found:
            if all([slot in products or self.is_small(slot) for _, slot in one.terms]):
                yield one

    def _terms(self, i: int) -> list[tuple[bool, int]]:
        """Return what is added to a carry; nothing if anything else happens to it."""
        slot = self.loop.consts + i
        terms: list[tuple[bool, int]] = []
        while True:
            readers = self._readers[slot]
            if readers == [-1 - i]:
                return terms
            if len(readers) != 1 or readers[0] < 0:
                return []
            node = self.graph.nodes[readers[0]]
            if type(node[0]) is Add:
                terms.append((False, node.inputs[node.inputs[0] == slot]))
            elif type(node[0]) is Sub and node.inputs[0] == slot:
                terms.append((True, node.inputs[1]))
            else:
                return []
            slot = node.outputs[0]

    def _products(self, accumulators: Sequence[Accumulator]) -> set[int]:
        """Return the terms that are products and nothing else: one product sums them all."""
        slots = [slot for found in accumulators for _, slot in found.terms]
        return {
            slot
            for slot in slots
            if slot in self.maker
            and len(self._readers[slot]) == 1
            and self._is_contracted(self.graph.nodes[self.maker[slot]])
        }

    def _is_contracted(self, node: MaterializedNode) -> bool:
        """Return True for a product whose sum over steps is one product: also for u vᵀ."""
        if type(node.operation) is not Mul:
            return type(node.operation) is DotGeneral
        places = [self.maker.get(slot, -1) for slot in node.inputs]
        return all([p >= 0 and type(self.graph.nodes[p][0]) is BroadcastInDim for p in places])

    def _sums(self) -> Iterator[int]:
        """Yield the places of what adds to accumulators."""
        for found in self.accumulators:
            slot = self.loop.consts + found.carry
            for _ in found.terms:
                (place,) = self._readers[slot]
                (slot,) = self.graph.nodes[place].outputs
                yield place

    def _summed_products(self) -> set[int]:
        return self._products(self.accumulators)

    # ---- equations -------------------------------------------------------------------------------

    def _kinds(self) -> list[int]:
        """Return of each value what it depends on; what stays in the loop is ``STEP``."""
        loop, graph = self.loop, self.graph
        kind = [STEP] * len(graph.avals)
        kind[: loop.consts] = [ONCE] * loop.consts
        for i in self.unchanged:
            kind[loop.consts + i] = ONCE
        kind[loop.rows : len(graph.inputs)] = [EACH] * (len(graph.inputs) - loop.rows)
        self._stays = set()
        products = self._summed_products()
        for place, node in enumerate(graph.nodes):
            found = max([kind[slot] for slot in node.inputs], default=ONCE)
            is_small = place in self.sums or self._are_small(node, products)
            if not _can_leave(node) or (found and not is_small):
                found = STEP
                self._stays.add(place)
            for slot in node.outputs:
                kind[slot] = found
        return kind

    def _core(self, read: Callable[[Parts, MaterializedNode], Sequence[int]]) -> set[int]:
        """Return the places of equations that stay: what carries follow from, and its like.

        ``read`` returns what an equation reads of what varies.
        """
        updates = [self.graph.outputs[i] for i in self.carries]
        needed = {slot for slot in updates if self.kind[slot] == STEP}
        core = set()
        for place in range(len(self.graph.nodes) - 1, -1, -1):
            node = self.graph.nodes[place]
            if place in self._stays or not needed.isdisjoint(node.outputs):
                core.add(place)
                needed.update(read(self, node))
        return core

    def _varying(self, node: MaterializedNode) -> Sequence[int]:
        return [slot for slot in node.inputs if self.kind[slot] == STEP]

    def _varying_if_finite(self, node: MaterializedNode) -> Sequence[int]:
        """Return what an equation reads in a loop whose factors are finite (``unswitch.py``)."""
        found = self._varying(node)
        if type(node.operation) is not Select:
            return found
        place = self.maker.get(node.inputs[0], -1)
        while place >= 0 and type(self.graph.nodes[place].operation) is BroadcastInDim:
            place = self.maker.get(self.graph.nodes[place].inputs[0], -1)
        is_test = place >= 0 and type(self.graph.nodes[place].operation) is IsFinite
        return [node.inputs[1]] if is_test and node.inputs[0] not in found else found

    def _read_behind(self) -> Iterator[int]:
        """Yield what equations behind the loop read of it, and its rows that are results."""
        for place, node in enumerate(self.graph.nodes):
            if place not in self.core and place not in self.sums:
                yield from [slot for slot in node.inputs if self.kind[slot] == STEP]
        for one in self.accumulators:
            yield from [slot for _, slot in one.terms if self.kind[slot] == STEP]
        rows = [i for i in self.loop.outputs if i >= self.loop.carried]
        yield from [slot for i in rows if self.kind[slot := self.graph.outputs[i]] == STEP]

    def _stack(self, slot: int) -> None:
        """Note that the loop gives all rows of a value.

        What only moves is moved behind it, and what it needs only where factors overflow is
        computed behind it.
        """
        while True:
            place = self.maker.get(slot, -1)
            if place >= 0 and place not in self.core:
                return
            if place in self._spare:
                self.again.add(place)
                for source in self._varying(self.graph.nodes[place]):
                    self._stack(source)
                return
            node = None if place < 0 else self.graph.nodes[place]
            if node is None or type(node[0]) not in _AGAIN:
                break
            (source,) = node.inputs
            if self.kind[source] != STEP or self._bytes(source) > self._bytes(slot):
                break
            self.again.add(place)
            slot = source
        if slot not in self.stacked:
            self.stacked.append(slot)

    def _cut_behind(self) -> None:
        """Leave rows that are parts of other rows to slices behind the loop."""
        for slot in [*self.stacked]:
            place = self.maker.get(slot, -1)
            node = None if place < 0 else self.graph.nodes[place]
            if node is not None and type(node[0]) is Slice and node.inputs[0] in self.stacked:
                self.again.add(place)
                self.stacked.remove(slot)

    # ---- sizes -----------------------------------------------------------------------------------

    def _are_small(self, node: MaterializedNode, products: set[int]) -> bool:
        return type(node.operation) is BroadcastInDim or all(
            [slot in products or self.is_small(slot) for slot in node.outputs]
        )

    def is_small(self, slot: int) -> bool:
        """Return True if a value may leave the loop, where it has a row for each step."""
        return self._bytes(slot) <= self._max_bytes

    def _bytes(self, slot: int) -> int:
        aval: Any = self.graph.avals[slot]
        found: int = aval.size * aval.dtype.itemsize
        return found


def parts_of(loop: Scan) -> Parts:
    """Return the parts of a loop; larger values leave it if nothing stays."""
    found = Parts(loop, MAX_BYTES_WITHOUT_A_LOOP)
    return Parts(loop) if found.has_size_between and not found.is_whole else found


def _readers(graph: MaterializedGraph) -> list[list[int]]:
    """Return the places of the equations that read each value; -1 - i stands for output i."""
    found: list[list[int]] = [[] for _ in graph.avals]
    for place, node in enumerate(graph.nodes):
        for slot in node.inputs:
            found[slot].append(place)
    for i, slot in enumerate(graph.outputs):
        found[slot].append(-1 - i)
    return found


def _can_leave(node: MaterializedNode) -> bool:
    """Return True for equations that may be computed for all steps at once, in any order."""
    operation: Any = node.operation
    if operation.key in _CALLS or operation.volatile or hasattr(operation, "bodies"):
        return False
    return not node.inputs or operation.batch is not None


def _is_move(node: MaterializedNode) -> bool:
    """Return True for equations that compute nothing."""
    return type(node.operation).__module__.rpartition(".")[2] in ("structural", "constants")


def _is_product(node: MaterializedNode) -> bool:
    """Return True for contractions, and for all of linear algebra."""
    return type(node.operation) is DotGeneral or ".linalg." in type(node.operation).__module__

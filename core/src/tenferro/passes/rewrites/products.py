"""Part of ``contract``: products of matrices that differ in their order or in scaled rows are one.

Derivatives of c = u diag(t) vᵀ and the like read uᵀ (c v) and (uᵀ c) v, or vᵀ (c v) and vᵀ (cᵀ v):
one product of three matrices, or its transpose, with rows or columns multiplied by vectors. So is
the sum of all c∘(x y) that of x∘(c yᵀ), if c yᵀ is there. A product is written as a sum of words of
matrices; the products with a word in common are written anew, and kept so if the whole graph then
multiplies less. Results agree to rounding.
Read next: ``../_words.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import MaterializedGraph, Operation, infer
from tenferro.computegraph._materialize import MaterializedNode, new_row
from tenferro.computegraph._roles import PRIMARY
from tenferro.passes._rewriter import needed
from tenferro.passes._words import Core, Factor, Term, Words, axes_of_product
from tenferro.primitives.arithmetic import Add, Mul, Neg
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.reduction import ReduceSum
from tenferro.primitives.structural import BroadcastInDim, Transpose

_SHARED = frozenset((Add, BroadcastInDim, DotGeneral, Mul, Neg, Transpose))
_MIN_WORK = 1 << 18  # multiplications of a product that is worth a look
_MIN_SAVED_PER_ELEMENT = 16  # multiplications; what else is done with each element of a result
_MAX_EQUATIONS = 5_000
_MAX_CORES = 16  # that are tried


def with_shared_products(
    graph: MaterializedGraph, can: Callable[[type], bool]
) -> tuple[MaterializedGraph, int]:
    """Multiply large matrices once for all products that differ in order and scaling; count."""
    large = [node for node in graph.nodes if _work(graph, node) >= _MIN_WORK]
    if len(large) < 2 or len(graph) > _MAX_EQUATIONS or not can(Transpose):
        return graph, 0
    count = 0
    requests = _Requests.of(graph)
    cores = iter(requests.shared())
    for _ in range(_MAX_CORES):
        core = next(cores, None)
        if core is None:
            break
        found = min(
            [_rewritten(graph, requests, core, split) for split in range(1, len(core))], key=_total
        )
        saved = _total(graph) - _total(found)
        if saved > _MIN_SAVED_PER_ELEMENT * max([graph.avals[f.value].size for f in core]):
            graph, count = found, count + 1
            requests = _Requests.of(graph)  # values have other numbers
            cores = iter(requests.shared())
    return graph, count


def _work(graph: MaterializedGraph, node: MaterializedNode) -> int:
    """Return the multiplications of a product; 0 of another operation."""
    op: Any = node[0]
    if type(op) is not DotGeneral:
        return 0
    shape = graph.avals[node[1][0]].shape
    return int(graph.avals[node[2][0]].size * prod([shape[axis] for axis in op.lhs_contract]))


def _total(graph: MaterializedGraph) -> int:
    return sum([_work(graph, node) for node in graph.nodes if type(node[0]) is DotGeneral])


# ---- what can be shared --------------------------------------------------------------------------


class _Sum(NamedTuple):
    """Σ c∘(x y) = Σ z∘g: a word g that is a product of c, and the other factor z, of its shape."""

    word: Term
    other: Factor


class _Requests(NamedTuple):
    """The products of a graph as words, and the sums of products, by their values."""

    products: dict[int, tuple[Term, ...]]
    sums: dict[int, list[_Sum]]

    @staticmethod
    def of(graph: MaterializedGraph) -> _Requests:
        """Write the large products of a graph as words."""
        words = Words(graph)
        products: dict[int, tuple[Term, ...]] = {}
        sums: dict[int, list[_Sum]] = {}
        for node in graph.nodes:
            value = node[2][0]
            if _work(graph, node) >= _MIN_WORK:
                found = words.of(value)
                if all([len(term.factors) > 1 for term in found]):
                    products[value] = found
            elif type(node[0]) is ReduceSum:
                found_sums = list(_sums(graph, words, node))
                if found_sums:
                    sums[value] = found_sums
        return _Requests(products, sums)

    def shared(self) -> Iterable[Core]:
        """Return the words that several products have, up to transposition; longer ones first."""
        counts: dict[Core, int] = {}
        for terms in self.products.values():
            for term in terms:
                counts[term.core] = counts.get(term.core, 0) + 1
        for found in self.sums.values():
            for each in found:
                if each.word.core in counts:
                    counts[each.word.core] += 1
        several = [core for core, count in counts.items() if count > 1]
        return sorted(several, key=len, reverse=True)


def _sums(graph: MaterializedGraph, words: Words, node: MaterializedNode) -> Iterable[_Sum]:
    """Yield the products that a sum of all elements of c∘(x y) could be written with."""
    op: Any = node[0]
    maker = words.makers.get(node[1][0])
    if maker is None or type(maker[0]) is not Mul or len(op.axes) != 2:
        return
    for c, p in (maker[1], maker[1][::-1]):
        product = words.makers.get(p)
        if product is None or _work(graph, product) < _MIN_WORK:
            continue
        axes = axes_of_product(product[0], graph.avals[product[1][0]], graph.avals[product[1][1]])
        if axes is None:
            continue
        x, y = (
            Factor(i, axis == k) for k, (i, axis) in enumerate(zip(product[1], axes, strict=True))
        )
        for cs in (words.of(c), (words.atom(Factor(c, False)),)):
            given = (
                (cs, words.transposed(words.of_factor(y)), x),
                (words.transposed(cs), words.of_factor(x), Factor(y.value, not y.turned)),
            )
            for left, right, other in given:
                found = words.joined(left, right)
                if found is not None and len(found) == 1:
                    yield _Sum(found[0], other)


# ---- writing -------------------------------------------------------------------------------------


def _rewritten(
    graph: MaterializedGraph, requests: _Requests, core: Core, split: int
) -> MaterializedGraph:
    """Write a graph in which all products of a core come from one, multiplied in this order."""
    writer = _Writer(graph, core, split)
    for node in graph.nodes:
        value = node[2][0]
        terms = requests.products.get(value, ())
        sums = [each for each in requests.sums.get(value, ()) if each.word.core == core]
        if terms and all([term.core == core for term in terms]):
            writer.number[value] = writer.sum_of(terms, node)
        elif sums:
            writer.number[value] = writer.total_of(sums[0], node)
        else:
            writer.copy(node)
    outputs = [writer.number[i] for i in graph.outputs]
    return needed(graph, writer.nodes, outputs, writer.avals)


class _Writer:
    """The graph while it is written anew; equations that evaluate alike are one."""

    def __init__(self, graph: MaterializedGraph, core: Core, split: int) -> None:
        self.graph, self.core, self.split = graph, core, split
        self.nodes: list[MaterializedNode] = []
        self.avals: list[Any] = list(graph.avals[: len(graph.inputs)])
        self.number = [*range(len(graph.avals))]
        self.there: dict[tuple[Any, ...], int] = {}
        self.orders = {node[:2] for node in graph.nodes if type(node[0]) is DotGeneral}
        self.source: Any = None

    def copy(self, node: MaterializedNode) -> None:
        """Write a node as it is."""
        operands = tuple([self.number[i] for i in node[1]])
        avals = [self.graph.avals[i] for i in node[2]]
        base = self.append(node[0], operands, avals, node[3], node[4])
        for k, i in enumerate(node[2]):
            self.number[i] = base + k

    def append(
        self,
        op: Operation,
        operands: tuple[int, ...],
        avals: Sequence[Any] | None,
        role: Any,
        source: Any,
    ) -> int:
        """Return the first output of an equation; one of those that are emitted here is shared.

        ``avals`` are those of its results, where they are known.
        """
        is_shared = type(op) in _SHARED
        there = self.there.get((op, operands)) if is_shared else None
        if there is not None:
            return there
        base = len(self.avals)
        self.avals += avals or infer(op, tuple([self.avals[i] for i in operands]))
        outputs = tuple(range(base, len(self.avals)))
        self.nodes.append(new_row((op, operands, outputs, role, source)))
        if is_shared:
            self.there[op, operands] = base
        return base

    def emit(self, op: Operation, *operands: int) -> int:
        return self.append(op, operands, None, PRIMARY, self.source)

    def sum_of(self, terms: tuple[Term, ...], node: MaterializedNode) -> int:
        """Write a product as the sum of its terms."""
        self.source = node[4]
        total = self.scaled(terms[0])
        for term in terms[1:]:
            total = self.emit(Add(), total, self.scaled(term))
        return total

    def total_of(self, found: _Sum, node: MaterializedNode) -> int:
        """Write Σ z∘g."""
        self.source = node[4]
        product = self.emit(Mul(), self.factor(found.other), self.scaled(found.word))
        return self.emit(ReduceSum((0, 1)), product)

    def factor(self, factor: Factor) -> int:
        value = self.number[factor.value]
        return self.emit(Transpose((1, 0)), value) if factor.turned else value

    def scaled(self, term: Term) -> int:
        """Write one term: the core or its transpose, with its rows and columns multiplied."""
        value, turned = self.product()
        if turned != (term.factors != self.core):
            value = self.emit(Transpose((1, 0)), value)
        shape = self.avals[value].shape
        for axes, vectors in (((), term.numbers), ((0,), term.left), ((1,), term.right)):
            for vector in vectors:
                repeated = self.emit(BroadcastInDim(shape, axes), self.number[vector])
                value = self.emit(Mul(), value, repeated)
        return self.emit(Neg(), value) if term.negative else value

    def product(self) -> tuple[int, bool]:
        """Write the core; also return whether the value is its transpose."""
        factors = [_Part(self.number[f.value], f.turned, f.value) for f in self.core]
        left = self.chain(factors[: self.split])
        value, turned, _ = self.times(left, self.chain(factors[self.split :]))
        return value, turned

    def chain(self, factors: list[_Part]) -> _Part:
        found = factors[0]
        for factor in factors[1:]:
            found = self.times(found, factor)
        return found

    def times(self, x: _Part, y: _Part) -> _Part:
        """Write a product in the order that the graph has, which may give its transpose."""
        a, b = (0 if x.turned else 1,), (1 if y.turned else 0,)
        if (DotGeneral(b, a, (), ()), (y.old, x.old)) in self.orders:
            return _Part(self.emit(DotGeneral(b, a, (), ()), y.value, x.value), True, -1)
        return _Part(self.emit(DotGeneral(a, b, (), ()), x.value, y.value), False, -1)


class _Part(NamedTuple):
    """A factor of a product: its value in the new graph, and in the old one if it is there."""

    value: int
    turned: bool
    old: int

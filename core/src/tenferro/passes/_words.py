"""Words: matrices of a graph as sums of products of other matrices, with rows or columns scaled.

A word is what a product is when brackets do not matter: factors in their order, each perhaps
transposed, numbers, and vectors that multiply the rows and the columns of the product. Transposes,
sums, signs and products are split; all else is a factor. Vectors between two factors are not
moved: there a scaled matrix is a factor.
Read next: ``rewrites/products.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import MaterializedGraph
from tenferro.computegraph._materialize import MaterializedNode
from tenferro.primitives.arithmetic import Add, Mul, Neg, Sub
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.structural import BroadcastInDim, Transpose

_MAX_TERMS, _MAX_FACTORS = 4, 3
_MAX_STEPS = 16  # from a matrix to what it is a multiple of


class Factor(NamedTuple):
    """A matrix, or its transpose."""

    value: int
    turned: bool


Core = tuple[Factor, ...]


class Term(NamedTuple):
    """± numbers… diag(left…) factors… diag(right…)."""

    negative: bool
    numbers: tuple[int, ...]
    left: tuple[int, ...]
    factors: Core
    right: tuple[int, ...]

    @property
    def core(self) -> Core:
        """The factors, or those of the transpose: the same for both."""
        return min(self.factors, _transposed(self.factors))

    def transposed(self) -> Term:
        """Return the transpose."""
        turned = _transposed(self.factors)
        return Term(self.negative, self.numbers, self.right, turned, self.left)


def _transposed(factors: Core) -> Core:
    return tuple([Factor(f.value, not f.turned) for f in reversed(factors)])


def axes_of_product(op: Any, lhs: Any, rhs: Any) -> tuple[int, int] | None:
    """Return the contracted axes of a product of two matrices; None for another contraction."""
    if lhs.ndim != 2 or rhs.ndim != 2 or op.lhs_batch or len(op.lhs_contract) != 1:
        return None
    if op.preferred not in (None, lhs.dtype) or not lhs.dtype.is_inexact or lhs.dtype.bits < 32:
        return None
    return op.lhs_contract[0], op.rhs_contract[0]


class Words:
    """The words of the matrices of a graph."""

    def __init__(self, graph: MaterializedGraph) -> None:
        self.avals = graph.avals
        self.makers = {node[2][0]: node for node in graph.nodes}
        self._found: dict[int, tuple[Term, ...]] = {}
        self._nodes = graph.nodes
        for node in graph.nodes:  # in order, so that nothing recurses
            if self.avals[node[2][0]].ndim == 2:
                terms = self._split(node)
                if terms:
                    self._found[node[2][0]] = terms

    def of(self, value: int) -> tuple[Term, ...]:
        """Return the terms whose sum a matrix is."""
        return self._found.get(value) or (_word(value),)

    def of_factor(self, factor: Factor) -> tuple[Term, ...]:
        """Return the terms of a factor."""
        found = self.of(factor.value)
        return self.transposed(found) if factor.turned else found

    def transposed(self, terms: tuple[Term, ...]) -> tuple[Term, ...]:
        """Return the terms of the transpose."""
        return tuple([term.transposed() for term in terms])

    def _split(self, node: MaterializedNode) -> tuple[Term, ...]:
        """Return the terms that an equation adds, scales or multiplies; () of another equation."""
        op: Any = node[0]
        if type(op) is Transpose:
            return self.transposed(self.of(node[1][0]))
        if type(op) is Neg:
            return _negated(self.of(node[1][0]))
        if type(op) is Mul:
            return self._scaled(node)
        if type(op) is DotGeneral:
            return self._product(node)
        if type(op) is Add or type(op) is Sub:
            x, y = (self.of(i) for i in node[1])
            found = (*x, *(y if type(op) is Add else _negated(y)))
            if len(found) <= _MAX_TERMS and any([len(term.factors) > 1 for term in found]):
                return found
        return ()

    def _scaled(self, node: MaterializedNode) -> tuple[Term, ...]:
        """Return a matrix times a vector that is repeated in rows or columns; () if it is none."""
        for matrix, repeated in (node[1], node[1][::-1]):
            maker = self.makers.get(repeated)
            if maker is None or type(maker[0]) is not BroadcastInDim or not maker[1]:
                continue
            op: Any = maker[0]
            small = self.avals[maker[1][0]]
            if small.ndim > 1 or 1 in small.shape:
                continue
            place = ("left", "right")[op.dimensions[0]] if small.ndim else "numbers"
            return tuple([_by(term, maker[1][0], place) for term in self.of(matrix)])
        return ()

    def _product(self, node: MaterializedNode) -> tuple[Term, ...]:
        axes = axes_of_product(node[0], *[self.avals[i] for i in node[1]])
        if axes is None:
            return ()
        left = Factor(node[1][0], axes[0] == 0)
        right = Factor(node[1][1], axes[1] == 1)
        x, y = self.of_factor(left), self.of_factor(right)
        whole = (self.atom(left),), (self.atom(right),)
        if any([term.right for term in x]):
            x = whole[0]
        if any([term.left for term in y]):
            y = whole[1]
        for pair in ((x, y), (whole[0], y), (x, whole[1])):
            found = self.joined(*pair)
            if found is not None:
                return found
        return self.joined(*whole) or ()

    def atom(self, factor: Factor) -> Term:
        """Return a matrix as one factor, without a sign and numbers before it."""
        term = Term(False, (), (), (factor,), ())
        for _ in range(_MAX_STEPS):
            inner = self._inner(term)
            if inner is None:
                break
            term = inner
        return term

    def _inner(self, term: Term) -> Term | None:
        """Take a sign, a number or a transpose off the only factor of a term."""
        ((value, turned),) = term.factors
        maker = self.makers.get(value)
        if maker is None:
            return None
        op, operands = maker[:2]
        if type(op) is Neg:
            return term._replace(negative=not term.negative, factors=(Factor(operands[0], turned),))
        if type(op) is Transpose:
            return term._replace(factors=(Factor(operands[0], not turned),))
        found = self._by_number(operands) if type(op) is Mul else None
        if found is None:
            return None
        numbers = (*term.numbers, found[1])
        return term._replace(numbers=numbers, factors=(Factor(found[0], turned),))

    def _by_number(self, pair: tuple[int, ...]) -> tuple[int, int] | None:
        """Return the matrix and the number that a product of elements is made of."""
        for matrix, repeated in (pair, pair[::-1]):
            maker = self.makers.get(repeated)
            if maker and type(maker[0]) is BroadcastInDim and not self.avals[maker[1][0]].ndim:
                return matrix, maker[1][0]
        return None

    def joined(self, x: tuple[Term, ...], y: tuple[Term, ...]) -> tuple[Term, ...] | None:
        """Return the product of two sums; None if it has vectors within or is too long."""
        if len(x) * len(y) > _MAX_TERMS:
            return None
        found = []
        for a in x:
            for b in y:
                factors = (*a.factors, *b.factors)
                if a.right or b.left or len(factors) > _MAX_FACTORS:
                    return None
                numbers = (*a.numbers, *b.numbers)
                found.append(Term(a.negative != b.negative, numbers, a.left, factors, b.right))
        return tuple(found)


def _word(value: int) -> Term:
    return Term(False, (), (), (Factor(value, False),), ())


def _negated(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    return tuple([term._replace(negative=not term.negative) for term in terms])


def _by(term: Term, vector: int, place: str) -> Term:
    if place == "numbers":
        return term._replace(numbers=(*term.numbers, vector))
    if place == "left":
        return term._replace(left=(*term.left, vector))
    return term._replace(right=(*term.right, vector))

"""An einsum as a straight line of primitives: a binary tree of contractions.

Before anything is contracted, each operand loses what it alone has: a repeated label becomes a
diagonal, an axis that only broadcasts is dropped, a label that occurs nowhere else is summed out.
So every pair is one ``dot_general``, or one product of elements where nothing is contracted and one
side has all labels. Which operand is the left one, and the order of batch axes, are chosen so that
no transpose is left to record where that can be. Read next: ``_cost.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.functions.einsum._order import Tree, order
from tenferro.arrays.functions.einsum._subscripts import Label, Labels, Subscripts
from tenferro.primitives import DType, bool_, int64
from tenferro.primitives._primitive import TensorPrimitive
from tenferro.primitives.arithmetic import Mul
from tenferro.primitives.comparison import LogicalAnd
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.reduction import ReduceOr, ReduceSum
from tenferro.primitives.structural import (
    BroadcastInDim,
    Convert,
    Reshape,
    Slice,
    Transpose,
)


class EinsumOperation(NamedTuple):
    """One primitive applied to values, which are numbered: operands first, then results."""

    operation: TensorPrimitive
    inputs: tuple[int, ...]


class Pair(NamedTuple):
    """Two terms that were contracted: the labels of both and of the result, for who prints them."""

    lhs: Labels
    rhs: Labels
    result: Labels


class EinsumProgram(NamedTuple):
    """Program of an einsum: the operations that compute it."""

    lines: tuple[EinsumOperation, ...]
    result: int
    tree: tuple[tuple[int, int], ...]
    pairs: tuple[Pair, ...]


class Term(NamedTuple):
    """A value and the labels of its axes."""

    value: int
    labels: Labels


def program_of(expression: Subscripts, dtype: DType, chosen: Any) -> EinsumProgram:
    """Write the steps for operands of one dtype, contracted in the order that ``chosen`` gives."""
    writer = _Writer(expression, dtype)
    terms = writer.prepared()
    wanted = expression.output
    sets = [frozenset(term.labels) for term in terms]
    tree = order(sets, frozenset(wanted), expression.sizes, chosen)
    pairs: list[Pair] = []
    for (i, j), use in zip(tree.pairs, _uses(tree, len(sets)), strict=True):
        is_last = len(pairs) == len(tree.pairs) - 1
        terms.append(writer.contracted(terms[i], terms[j], use, wanted if is_last else None))
        pairs.append(Pair(terms[i].labels, terms[j].labels, terms[-1].labels))
    result = writer.arranged(terms[-1], expression.output)
    return EinsumProgram(tuple(writer.lines), result, tree.pairs, tuple(pairs))


class Prepared(NamedTuple):
    """Operands that lost what they alone have: the operations, and the terms that are left."""

    lines: tuple[EinsumOperation, ...]
    terms: tuple[Term, ...]


def prepared_of(expression: Subscripts, dtype: DType) -> Prepared:
    """Write only the steps that concern one operand each; what is left has no label twice."""
    writer = _Writer(expression, dtype)
    terms = writer.prepared()
    return Prepared(tuple(writer.lines), tuple(terms))


class _Use(NamedTuple):
    """Use of the labels of a pair's result where that result is contracted."""

    kept: frozenset[Label]  # all labels that the result has
    batch: frozenset[Label]
    contracted: frozenset[Label]


def _uses(tree: Tree, operands: int) -> list[_Use]:
    """Return, for each pair, how its result is used."""
    labels = tree.labels
    partner = {}
    for number, (i, j) in enumerate(tree.pairs):
        partner[i], partner[j] = (j, operands + number), (i, operands + number)
    uses = []
    for made in range(operands, len(labels)):
        other, result = partner.get(made, (made, made))  # the last result has no partner
        shared = labels[made] & labels[other]
        uses.append(_Use(labels[made], shared & labels[result], shared - labels[result]))
    return uses


class _Writer:
    """Writes lines; ``size`` knows each label's size."""

    def __init__(self, expression: Subscripts, dtype: DType) -> None:
        self.expression = expression
        self.size = expression.sizes
        self.dtype = dtype
        self.lines: list[EinsumOperation] = []
        self.count = len(expression.inputs)

    def write(self, operation: TensorPrimitive, *inputs: int) -> int:
        self.lines.append(EinsumOperation(operation, inputs))
        self.count += 1
        return self.count - 1

    def shape(self, labels: Labels) -> tuple[int, ...]:
        return tuple(self.size[label] for label in labels)

    # ---- one operand ---------------------------------------------------------------------------

    def prepared(self) -> list[Term]:
        """Prepare the operands: take diagonals and sum the labels that only one operand has."""
        inputs, output = self.expression.inputs, self.expression.output
        terms = [self.diagonals(self.squeezed(Term(i, x))) for i, x in enumerate(inputs)]
        owners = Counter(chain.from_iterable([*[term.labels for term in terms], set(output)]))
        return [self.summed(term, owners) for term in terms]

    def squeezed(self, term: Term) -> Term:
        """Drop axes of size 1 whose label has another size elsewhere, since these only
        broadcast.
        """
        shape = self.expression.shapes[term.value]
        kept = [i for i, x in enumerate(term.labels) if shape[i] == self.size[x]]
        if len(kept) == len(shape):
            return term
        value = self.write(Reshape(tuple(shape[i] for i in kept)), term.value)
        return Term(value, tuple(term.labels[i] for i in kept))

    def diagonals(self, term: Term) -> Term:
        if len(set(term.labels)) == len(term.labels):
            return term
        for label, count in Counter(term.labels).items():
            if count > 1:
                term = self.diagonal(term, label, count)
        return term

    def diagonal(self, term: Term, label: Label, count: int) -> Term:
        """Take the diagonal of all axes of a label: every stride-th element of the merged axes."""
        others = tuple(x for x in term.labels if x != label)
        places = [i for i, x in enumerate(term.labels) if x != label]
        places += [i for i, x in enumerate(term.labels) if x == label]
        merged, zeros = (*self.shape(others), self.size[label] ** count), (0,) * len(others)
        stride = self.stride(label, count)
        value = self.transposed(term.value, places)
        value = self.write(Reshape(merged), value)
        steps = (*[1] * len(others), stride)
        value = self.write(Slice((*zeros, 0), merged, steps), value)
        return Term(value, (*others, label))

    def stride(self, label: Label, count: int) -> int:
        return sum(self.size[label] ** power for power in range(count))

    def transposed(self, value: int, places: Sequence[int]) -> int:
        if list(places) == list(range(len(places))):
            return value
        return self.write(Transpose(tuple(places)), value)

    def summed(self, term: Term, owners: Counter[Label]) -> Term:
        """Sum over the labels that no other term has."""
        own = {x for x in term.labels if owners[x] == 1}
        if not own:
            return term
        axes = tuple(i for i, x in enumerate(term.labels) if x in own)
        reduce = ReduceOr if self.dtype.is_bool else ReduceSum
        kept = tuple(x for x in term.labels if x not in own)
        return Term(self.write(reduce(axes), term.value), kept)

    # ---- two terms -----------------------------------------------------------------------------

    def contracted(self, a: Term, b: Term, use: _Use, wanted: Labels | None) -> Term:
        """Contract a pair; ``wanted`` is the final order of the axes, if this is the last pair."""
        left, right = set(a.labels), set(b.labels)
        if (left <= right or right <= left) and left & right <= use.kept:
            return self.multiplied(a, b, wanted)
        labels = self.product_labels(a, b, use, wanted)
        if not self.fits(labels, use, wanted):
            others = self.product_labels(b, a, use, wanted)
            if self.fits(others, use, wanted):
                a, b, labels = b, a, others
        return Term(self.dot(a, b, labels, use), labels)

    def fits(self, labels: Labels, use: _Use, wanted: Labels | None) -> bool:
        """Return True if no transpose is needed of a product with its axes in this order."""
        return _stands_in_blocks(labels, use) if wanted is None else labels == wanted

    def product_labels(self, a: Term, b: Term, use: _Use, wanted: Labels | None) -> Labels:
        """Return the labels of a product: batch labels, free ones of a, free ones of b."""
        shared = [
            x for x in wanted or a.labels if x in a.labels and x in b.labels and x in use.kept
        ]
        free = [x for term in (a, b) for x in term.labels if x in use.kept and x not in shared]
        return (*shared, *free)

    def dot(self, a: Term, b: Term, labels: Labels, use: _Use) -> int:
        batch = [x for x in labels if x in a.labels and x in b.labels]
        contracted = [x for x in a.labels if x in b.labels and x not in use.kept]
        left, right, left_batch, right_batch = [
            tuple(term.labels.index(x) for x in group)
            for group in (contracted, batch)
            for term in (a, b)
        ]
        operation = DotGeneral(left, right, left_batch, right_batch)
        if not self.dtype.is_bool:
            return self.write(operation, a.value, b.value)
        counts = [self.write(Convert(int64), term.value) for term in (a, b)]
        return self.write(Convert(bool_), self.write(operation, *counts))

    def multiplied(self, a: Term, b: Term, wanted: Labels | None) -> Term:
        """Multiply elementwise; one of the two terms has all labels."""
        larger = a.labels if len(a.labels) >= len(b.labels) else b.labels
        labels = larger if wanted is None else wanted
        values = [self.expanded(term, labels) for term in (a, b)]
        operation = LogicalAnd() if self.dtype.is_bool else Mul()
        return Term(self.write(operation, *values), labels)

    def expanded(self, term: Term, labels: Labels) -> int:
        """Broadcast the term to more axes, in this order."""
        if term.labels == labels:
            return term.value
        mine = [x for x in labels if x in term.labels]
        value = self.transposed(term.value, [term.labels.index(x) for x in mine])
        if len(mine) == len(labels):
            return value
        places = tuple(labels.index(x) for x in mine)
        return self.write(BroadcastInDim(self.shape(labels), places), value)

    # ---- the result ----------------------------------------------------------------------------

    def arranged(self, term: Term, output: Labels) -> int:
        """Transpose the axes to the order of the output."""
        return self.transposed(term.value, [term.labels.index(x) for x in output])


def _stands_in_blocks(labels: Labels, use: _Use) -> bool:
    """Return True if batch axes come first and the other groups of axes are contiguous."""
    batch, contracted = use.batch, use.contracted
    blocks: list[str] = []
    for x in labels:
        kind = "b" if x in batch else "k" if x in contracted else "f"
        if not blocks or blocks[-1] != kind:
            blocks.append(kind)
    return len(set(blocks)) == len(blocks) and "b" not in blocks[1:]

"""Operands of products that are copied to matrices: once for all products that read them so.

A product of tensors reads each operand as a matrix, which is a copy if the axes of its rows, or of
its columns, do not lie side by side. A loop that contracts many tensors with the same one makes
that copy in each step. Here it is made before the first product. Products also look through
transpositions: their copies are then made of the array itself.
Read next: `lowerings/contraction.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import chain
from typing import Any

from tenferro.backend.extend import NamedTuple
from tenferro.primitives import Aval
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.structural import Transpose
from tenferro_numpy.ir.expression import COPY_TO_MATRIX, Expression
from tenferro_numpy.ir.peak import size_of
from tenferro_numpy.ir.step import Step
from tenferro_numpy.lowerings.contraction import Matrix, matrices_of, product_of
from tenferro_numpy.machine.allocator import PAGES

__all__ = ["share_operands"]


class _Product(NamedTuple):
    """A product, the arrays that its operands are transpositions of, and the matrices it reads."""

    step: Step
    sources: tuple[int, ...]
    matrices: tuple[Matrix, ...]


class _Copy(NamedTuple):
    """A copy of an array, with its axes in this order, merged into this shape."""

    slot: int
    axes: tuple[int, ...]
    shape: tuple[int, ...]

    def step(self, target: int) -> Step:
        """Return the step that makes it."""
        line = Expression(COPY_TO_MATRIX, (self.axes, self.shape), shares=True)
        return Step(line, (self.slot,), (target,), ())  # no instruction has this result


def share_operands(
    steps: Sequence[Step],
    avals: list[Aval],
    operations: Sequence[Any],
    outputs: Collection[int],
    staying: Collection[int],
) -> Sequence[Step]:
    """Return the steps with such copies made once; expressions are replaced in place.

    `operations` are those of the program by position. Copies of `staying` slots are made before
    a loop, and read in each of its steps.
    """
    products = _products(steps, avals, operations)
    copies = {key: _copies(product, avals) for key, product in products.items()}
    read = Counter(chain.from_iterable(copies.values()))
    lines: dict[Any, Expression] = {}
    made: dict[_Copy, int] = {}
    found: list[Step] = []
    for step in steps:
        product = products.get(id(step))
        if product is not None:
            for copy in copies[id(step)]:
                if copy not in made and (copy.slot in staying or read[copy] > 1):
                    made[copy] = len(avals)
                    avals.append(avals[copy.slot].with_shape(copy.shape))
                    found.append(copy.step(made[copy]))
            _read_matrices(product, avals, made, lines)
        found.append(step)
    return _without_unread(found, operations, outputs)


def _without_unread(
    steps: Sequence[Step], operations: Sequence[Any], outputs: Collection[int]
) -> Sequence[Step]:
    """Drop transpositions that nothing reads any more."""
    read, kept = {*outputs}, []
    for step in reversed(steps):
        if step.targets[0] not in read and _is_transposition(step, operations):
            continue
        read.update(step.operands)
        kept.append(step)
    return kept[::-1]


def _is_transposition(step: Step, operations: Sequence[Any]) -> bool:
    """Return True for a view of an array with its axes in another order."""
    return step.expression.shares and type(step.operation_of(operations)) is Transpose


def _products(
    steps: Sequence[Step], avals: Sequence[Aval], operations: Sequence[Any]
) -> dict[int, _Product]:
    """Return the products of small matrices by the identity of their steps."""
    views: dict[int, tuple[int, Sequence[int]]] = {}  # slot → what it is a transposition of
    found = {}
    known: dict[Any, tuple[Matrix, Matrix] | None] = {}  # a loop repeats few products
    for step in steps:
        op = step.operation_of(operations)
        if type(op) is Transpose and step.expression.shares:
            views[step.targets[0]] = step.operands[0], op.permutation
        elif type(op) is DotGeneral:
            behind = [views.get(i) or (i, range(avals[i].ndim)) for i in step.operands]
            sources, orders = zip(*behind, strict=True)
            given = op, tuple([avals[slot] for slot in sources]), orders
            if given not in known:
                known[given] = matrices_of(*given)
            matrices = known[given]
            if matrices is not None:
                found[id(step)] = _Product(step, sources, matrices)
    return found


def _copies(product: _Product, avals: Sequence[Aval]) -> list[_Copy]:
    """Return the small copies that a product makes of its operands."""
    pairs = zip(product.sources, product.matrices, strict=True)
    return [
        _Copy(slot, matrix.axes, matrix.shape)
        for slot, matrix in pairs
        if matrix.is_copy and size_of(avals[slot]) <= PAGES
    ]


def _read_matrices(
    product: _Product,
    avals: Sequence[Aval],
    made: dict[_Copy, int],
    lines: dict[Any, Expression],
) -> None:
    """Let a product read copies that were made, and arrays instead of their transpositions."""
    step, sources, matrices = product
    pairs = zip(sources, matrices, strict=True)
    copies = [_Copy(slot, matrix.axes, matrix.shape) for slot, matrix in pairs]
    operands = tuple([made.get(copy, copy.slot) for copy in copies])
    if operands == step.operands:
        return
    of_arrays = tuple([avals[slot] for slot in sources])
    given = of_arrays, matrices, tuple([copy in made for copy in copies]), avals[step.targets[0]]
    line = lines.get(given)
    if line is None:
        line = lines[given] = product_of(*given)
    step.expression, step.operands = line, operands

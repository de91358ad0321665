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
    read = Counter([copy for product in products.values() for copy in _copies(product, avals)])
    made: dict[tuple[int, Matrix], int] = {}
    found: list[Step] = []
    for step in steps:
        product = products.get(id(step))
        if product is not None:
            for slot, matrix in _copies(product, avals):
                is_shared = slot in staying or read[slot, matrix] > 1
                if is_shared and (slot, matrix) not in made:
                    made[slot, matrix] = len(avals)
                    avals.append(avals[slot].with_shape(matrix.shape))
                    found.append(_copy(slot, matrix, made[slot, matrix]))
            _read_matrices(product, avals, made)
        found.append(step)
    return _without_unread(found, operations, outputs)


def _without_unread(
    steps: Sequence[Step], operations: Sequence[Any], outputs: Collection[int]
) -> Sequence[Step]:
    """Drop transpositions that nothing reads any more."""
    read, kept = {*outputs}, []
    for step in reversed(steps):
        if _is_transposition(step, operations) and step.targets[0] not in read:
            continue
        read.update(step.operands)
        kept.append(step)
    return kept[::-1]


def _is_transposition(step: Step, operations: Sequence[Any]) -> bool:
    """Return True for a view of an array with its axes in another order."""
    is_view = step.expression.shares and len(step.positions) == 1 and not step.expression.foreign
    return is_view and type(operations[step.positions[0]]) is Transpose


def _products(
    steps: Sequence[Step], avals: Sequence[Aval], operations: Sequence[Any]
) -> dict[int, _Product]:
    """Return the products of small matrices by the identity of their steps."""
    views: dict[int, tuple[int, Sequence[int]]] = {}  # slot → what it is a transposition of
    found = {}
    for step in steps:
        if len(step.positions) != 1 or step.expression.foreign:
            continue
        op = operations[step.positions[0]]
        if _is_transposition(step, operations):
            views[step.targets[0]] = step.operands[0], op.permutation
        elif type(op) is DotGeneral:
            behind = [views.get(i) or (i, range(avals[i].ndim)) for i in step.operands]
            sources, orders = zip(*behind, strict=True)
            matrices = matrices_of(op, [avals[slot] for slot in sources], orders)
            if matrices is not None:
                found[id(step)] = _Product(step, sources, matrices)
    return found


def _copies(product: _Product, avals: Sequence[Aval]) -> list[tuple[int, Matrix]]:
    """Return what a product copies: arrays, and the matrices that it makes of them."""
    pairs = zip(product.sources, product.matrices, strict=True)
    return [
        (slot, matrix._replace(is_transposed=False))
        for slot, matrix in pairs
        if matrix.is_copy and size_of(avals[slot]) <= PAGES
    ]


def _copy(slot: int, matrix: Matrix, target: int) -> Step:
    line = Expression(COPY_TO_MATRIX, (matrix.axes, matrix.shape), shares=True)
    return Step(line, (slot,), (target,), ())  # no instruction has this result


def _read_matrices(
    product: _Product, avals: Sequence[Aval], made: dict[tuple[int, Matrix], int]
) -> None:
    """Let a product read copies that were made, and arrays instead of their transpositions."""
    step, sources, matrices = product
    keys = [
        (slot, matrix._replace(is_transposed=False))
        for slot, matrix in zip(sources, matrices, strict=True)
    ]
    operands = tuple([made.get(key, key[0]) for key in keys])
    if operands == step.operands:
        return
    given, result = [avals[slot] for slot in sources], avals[step.targets[0]]
    step.expression = product_of(given, matrices, [key in made for key in keys], result)
    step.operands = operands

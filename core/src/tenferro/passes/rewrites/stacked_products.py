"""Part of ``contract``: a sum of products of matrices is one product of their stacks.

The derivative by a matrix that several steps multiply by is a sum of outer products, Σₜ δₜ xₜᵀ: the
product of the stacked δ and the stacked x. So is Σₜ Xₜᵀ Yₜ of few rows each. Terms are joined where
the stacks are smaller than the products that they replace. The order of additions changes, so
results agree to rounding; nothing is done to float16 and bfloat16. Read next: ``../_sums.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import MaterializedGraph
from tenferro.computegraph._materialize import MaterializedNode
from tenferro.computegraph._roles import PRIMARY
from tenferro.passes._facts import is_narrow
from tenferro.passes._rewriter import needed
from tenferro.passes._sums import NOTHING, Rewritten, terms_of_sums
from tenferro.primitives.arithmetic import Mul
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.structural import BroadcastInDim, Concatenate, Reshape

_MIN_TERMS = 4  # products from which two stacks and one product take less time
_MAX_BYTES = 1 << 20  # of both stacks
_OUTER = DotGeneral((0,), (0,), (), ())


class _Product(NamedTuple):
    """A product: the operation, and the factors; of an outer product, two vectors."""

    operation: DotGeneral
    factors: tuple[int, int]
    is_outer: bool


class _Joined(NamedTuple):
    """The products of a sum that become one."""

    products: Sequence[_Product]
    positions: Sequence[int]


def with_stacked_products(
    graph: MaterializedGraph, can: Callable[[type], bool]
) -> tuple[MaterializedGraph, int]:
    """Join products that one sum adds; also return how many were joined."""
    makers = {node[2][0]: node for node in graph.nodes}
    found = _found(graph, makers) if all(map(can, (Concatenate, DotGeneral, Reshape))) else []
    if not found:
        return graph, 0
    last = {joined.positions[-1]: joined for joined in found}
    gone = {i for joined in found for i in joined.positions}
    new = Rewritten(graph, min(gone))
    for position, node in enumerate(graph.nodes[min(gone) :], min(gone)):
        if position in last:
            new.number[node[2][0]] = _written(new, last[position].products, node)
        elif position in gone:
            new.number[node[2][0]] = NOTHING
        else:
            new.copy(node)
    written = new.finished(())
    return needed(graph, written.nodes, written.outputs, written.avals), len(gone)


def _found(graph: MaterializedGraph, makers: dict[int, MaterializedNode]) -> list[_Joined]:
    """Return the products to join: those of a sum that are alike and have one sign."""
    found = []
    for terms in terms_of_sums(graph, lambda node: _product(graph, makers, node) is not None):
        if len(terms) < _MIN_TERMS:
            continue
        alike: dict[Any, tuple[list[_Product], list[int]]] = {}
        for term in terms:
            product = _product(graph, makers, graph.nodes[term.position])
            if product is not None:
                key = product.operation, product.is_outer, term.negative
                products, positions = alike.setdefault(key, ([], []))
                products.append(product)
                positions.append(term.position)
        found += [_Joined(*group) for group in alike.values() if _is_worthwhile(graph, group[0])]
    return found


def _product(
    graph: MaterializedGraph, makers: dict[int, MaterializedNode], node: MaterializedNode
) -> _Product | None:
    """Return an equation as a product of two matrices, or of two vectors; None for others."""
    op: Any = node[0]
    aval = graph.avals[node[2][0]]
    if aval.ndim != 2 or not aval.dtype.is_inexact or is_narrow(aval):
        return None
    if type(op) is DotGeneral:
        is_plain = not op.lhs_batch and len(op.lhs_contract) == 1 and op.preferred is None
        return _Product(op, (node[1][0], node[1][1]), False) if is_plain else None
    if type(op) is not Mul:
        return None
    vectors = {}
    for slot in node[1]:
        made = makers.get(slot)
        spread: Any = made and made[0]
        if made and type(spread) is BroadcastInDim and len(spread.dimensions) == 1:
            vectors[spread.dimensions[0]] = made[1][0]
    return _Product(_OUTER, (vectors[0], vectors[1]), True) if len(vectors) == 2 else None


def _is_worthwhile(graph: MaterializedGraph, products: Sequence[_Product]) -> bool:
    """Return True if the stacks are small, and smaller than what the products give."""
    first = products[0]
    stacked: int = sum([graph.avals[i].size for product in products for i in product.factors])
    given = len(products) * prod([_free_elements(graph, first, k) for k in (0, 1)])
    itemsize: int = graph.avals[first.factors[0]].dtype.itemsize
    is_small: bool = stacked <= given and stacked * itemsize <= _MAX_BYTES
    return is_small and len(products) >= _MIN_TERMS


def _free_elements(graph: MaterializedGraph, product: _Product, k: int) -> int:
    """Return the extent of the axis of a factor that is not contracted."""
    aval: Any = graph.avals[product.factors[k]]
    contract = (product.operation.lhs_contract, product.operation.rhs_contract)[k]
    free: int = aval.size if product.is_outer else aval.size // max(aval.shape[contract[0]], 1)
    return free


def _written(new: Rewritten, products: Sequence[_Product], like: MaterializedNode) -> int:
    """Write the product of two stacks instead of the last of the products."""
    operation = products[0].operation
    stacks = []
    for k, (axis,) in enumerate((operation.lhs_contract, operation.rhs_contract)):
        factors = [new.number[product.factors[k]] for product in products]
        stack = new.emit(Concatenate(axis), factors, like, PRIMARY)
        if products[0].is_outer:
            shape = len(products), *new.avals[factors[0]].shape
            stack = new.emit(Reshape(shape), (stack,), like, PRIMARY)
        stacks.append(stack)
    return new.emit(operation, stacks, like, PRIMARY)

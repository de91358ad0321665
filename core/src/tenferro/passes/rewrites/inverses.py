"""Part of ``systems``: an inverse that only multiplies vectors is not formed.

a⁻¹ v is the solution of a system by the factors of a, and a⁻ᵀ v that of the adjoint one. It costs
n² for each vector, an inverse n³, and is more accurate. The rule looks at all readers of an
inverse, so it looks at the whole graph. Results agree to rounding.
Read next: ``factorizations.py``.
"""

from __future__ import annotations

from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import MaterializedGraph, Operation, infer
from tenferro.computegraph._materialize import MaterializedNode, new_row
from tenferro.computegraph._roles import PRIMARY
from tenferro.passes._identities import identities_of
from tenferro.passes._rewriter import needed
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.structural import Reshape, Transpose

_SOLVE = "std::linear_solve"
_MIN_ROWS = 64  # of matrices whose inverse costs much more than calls do
_MIN_ROWS_PER_COLUMN = 4  # of all factors together; more of them cost what the inverse does


def with_systems_for_inverses(graph: MaterializedGraph) -> tuple[MaterializedGraph, int]:
    """Solve for the vectors that inverses multiply, if nothing else reads these; count them."""
    inverses = _inverses(graph)
    if not inverses:
        return graph, 0
    products = _products(graph, inverses)
    if not products:
        return graph, 0
    avals = list(graph.avals)
    number = [*range(len(avals))]
    nodes = list[MaterializedNode]()
    for node in graph.nodes:
        operands = tuple([number[i] for i in node[1]])
        product = products.get(node[2][0])
        if product is None:
            nodes.append(new_row((node[0], operands, *node[2:])))
        else:
            product = product._replace(factor=number[product.factor])
            number[node[2][0]] = _Solution(nodes, avals, node).emit(product, inverses)
    outputs = [number[i] for i in graph.outputs]
    return needed(graph, nodes, outputs, avals), len({p.inverse for p in products.values()})


class _Product(NamedTuple):
    """A product of an inverse and a factor, a vector or a matrix of few columns."""

    inverse: int
    factor: int
    axis: int  # of the inverse, that is contracted
    factor_axis: int
    is_left: bool  # the inverse


def _inverses(graph: MaterializedGraph) -> dict[int, MaterializedNode]:
    """Return the systems for all columns of an identity, by their solution."""
    systems = [node for node in graph.nodes if getattr(node[0], "key", "") == _SOLVE]
    large = [x for x in systems if _is_large(graph.avals[x[2][0]])]
    if not large:
        return {}
    ones = identities_of(graph.nodes)
    return {node[2][0]: node for node in large if node[1][3] in ones}


def _is_large(aval: Any) -> bool:
    return bool(aval.ndim == 2 and aval.shape[0] >= _MIN_ROWS)


def _products(
    graph: MaterializedGraph, inverses: dict[int, MaterializedNode]
) -> dict[int, _Product]:
    """Return the products, by their result, of the inverses that nothing but products reads."""
    found: dict[int, list[tuple[int, _Product]]] = {inverse: [] for inverse in inverses}
    for i in graph.outputs:
        found.pop(i, None)
    for node in graph.nodes:
        for k, i in enumerate(node[1]):
            if i in found:
                product = _product(graph, node, k)
                if product is None:
                    del found[i]
                else:
                    found[i].append((node[2][0], product))
    few = [products for i, products in found.items() if _are_few(graph, i, products)]
    return dict([pair for products in few for pair in products])


def _are_few(graph: MaterializedGraph, inverse: int, products: list[tuple[int, _Product]]) -> bool:
    rows = graph.avals[inverse].shape[0]
    columns = sum([graph.avals[product.factor].size // rows for _, product in products])
    return bool(0 < columns * _MIN_ROWS_PER_COLUMN <= rows)


def _product(graph: MaterializedGraph, node: MaterializedNode, place: int) -> _Product | None:
    """Return the product that a node is, with the inverse in this place."""
    op: Any = node[0]
    if type(op) is not DotGeneral or op.lhs_batch or len(op.lhs_contract) != 1:
        return None
    inverse, factor = node[1][place], node[1][1 - place]
    aval = graph.avals[inverse]
    axes = op.lhs_contract[0], op.rhs_contract[0]
    if inverse == factor or graph.avals[factor].ndim > 2 or op.preferred not in (None, aval.dtype):
        return None
    if aval.dtype.is_complex and axes[place] == 0:
        return None  # a transpose, where a system has the adjoint
    return _Product(inverse, factor, axes[place], axes[1 - place], place == 0)


class _Solution:
    """The equations that stand for one product, among those of a graph."""

    def __init__(
        self, nodes: list[MaterializedNode], avals: list[Any], node: MaterializedNode
    ) -> None:
        self.nodes, self.avals, self.source = nodes, avals, node[4]

    def emit(self, product: _Product, inverses: dict[int, MaterializedNode]) -> int:
        """Return the solution: a⁻¹ b, or its transpose where b comes first."""
        op: Any = inverses[product.inverse][0]
        matrix = inverses[product.inverse][1][:3]
        shape = self.avals[product.factor].shape
        b = product.factor
        if len(shape) == 1:
            b = self.write(Reshape((*shape, 1)), b)
        elif product.factor_axis == 1:
            b = self.write(Transpose((1, 0)), b)
        adjoint = op.adjoint != (product.axis == 0)
        x = self.write(type(op)(adjoint=adjoint), *matrix, b)
        if len(shape) == 1:
            return self.write(Reshape(shape), x)
        return x if product.is_left else self.write(Transpose((1, 0)), x)

    def write(self, op: Operation, *operands: int) -> int:
        """Append an equation and return its value."""
        value = len(self.avals)
        self.avals += infer(op, tuple([self.avals[i] for i in operands]))
        self.nodes.append(new_row((op, operands, (value,), PRIMARY, self.source)))
        return value

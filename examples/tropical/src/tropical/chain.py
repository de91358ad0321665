"""A max-plus product of several matrices: its value, and its subgradients in each of them.

The graphs are made once, and run for any numbers, `Fraction` included. Read next: the README.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from tenferro.computegraph import (
    Graph,
    compile_program,
    evaluate,
    input_key,
    materialize_merge,
    resolve,
)
from tenferro.tidu import linear_transpose, linearize
from tropical.operations import MatMul
from tropical.space import TROPICAL, Kind, Matrix, Rows


class Chain:
    """The product of matrices of these shapes; the result is [1, 1] where it is differentiated.

    ``places`` says which matrix stands at each place of the product, so that one may stand at
    several; by default each stands once, in order.
    """

    def __init__(
        self, shapes: Sequence[tuple[int, int]], places: Sequence[int] | None = None
    ) -> None:
        factors = [
            Matrix(input_key(f"m{i}", Kind(TROPICAL, *shape))) for i, shape in enumerate(shapes)
        ]
        order = range(len(factors)) if places is None else places
        self._inputs = [factor.key for factor in factors]
        product = reduce(lambda a, b: MatMul()(a, b)[0], [factors[i] for i in order])
        self.graph = Graph.of(self._inputs, [product.key])
        linear = linearize(resolve([self.graph]), [product.key], self._inputs)
        self.transposed = linear_transpose(linear).linear
        self._value = _compiled(self.graph, self._inputs)
        self._subgradients = _compiled(
            self.transposed, [*self._inputs, self.transposed.input_keys[0]]
        )

    def value(self, matrices: Sequence[Any]) -> Rows:
        """Return the product."""
        (found,) = _run(self._value, matrices)
        return found

    def subgradients(self, matrices: Sequence[Any]) -> tuple[Rows, ...]:
        """Return how often the best path takes each step, for each matrix."""
        return _run(self._subgradients, [*matrices, [[1.0]]])


def _compiled(graph: Graph, inputs: Sequence[Any]) -> Any:
    keys = list(graph.output_keys)
    return compile_program(materialize_merge(resolve([graph]), keys, inputs=inputs))


def _run(program: Any, matrices: Sequence[Any]) -> tuple[Rows, ...]:
    rows = [tuple(map(tuple, matrix)) for matrix in matrices]
    return tuple(evaluate(program, lambda operation, given: operation.run(*given), rows))

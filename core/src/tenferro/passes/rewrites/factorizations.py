"""Part of ``systems``: systems, inverses and determinants of one large matrix share its factors.

Where nothing else reads an LU factorization, a backend may choose the factors when it sees the
numbers: ``SystemFactors`` takes Cholesky's method for a Hermitian positive definite matrix. If a
Cholesky factor of the same matrix is there, it is that. The rule looks at all readers of a
factorization, so it looks at the whole graph. Results agree to rounding.
Read next: ``../../primitives/linalg/system_factors.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import MaterializedGraph, Operation, infer
from tenferro.computegraph._materialize import MaterializedNode, new_row
from tenferro.computegraph._roles import PRIMARY
from tenferro.passes._rewriter import needed
from tenferro.primitives.linalg.system_factors import SystemFactors, SystemSlogdet, SystemSolve

_LU, _SOLVE, _SLOGDET = "std::lu", "std::linear_solve", "std::slogdet"
_CHOLESKY = "std::cholesky"
_MIN_ROWS = 64  # of matrices whose symmetry is looked at; smaller ones are solved before


def with_system_factors(
    graph: MaterializedGraph, can: Callable[[type], bool]
) -> tuple[MaterializedGraph, int]:
    """Replace the factorizations that systems and determinants alone read; also count them."""
    if not can(SystemFactors):
        return graph, 0
    found = _Factorizations.of(graph)
    matrices = [i for i in found.matrices() if _is_large(graph.avals[i])]
    if not matrices:
        return graph, 0
    writer = _Writer(graph, found, frozenset(matrices))
    writer.run()
    outputs = [writer.number[i] for i in graph.outputs]
    return needed(graph, writer.nodes, outputs, writer.avals), len(matrices)


def _is_large(aval: Any) -> bool:
    return bool(aval.shape[-1] >= _MIN_ROWS)


class _Factorizations(NamedTuple):
    """The factorizations of a graph by their matrices, and the values that others read."""

    lu: dict[int, MaterializedNode]
    slogdet: dict[int, MaterializedNode]
    cholesky: dict[int, MaterializedNode]
    others: set[int]

    @staticmethod
    def of(graph: MaterializedGraph) -> _Factorizations:
        """Find them."""
        found = _Factorizations({}, {}, {}, set(graph.outputs))
        by_key = {_LU: found.lu, _SLOGDET: found.slogdet, _CHOLESKY: found.cholesky}
        factors = set[tuple[int, int]]()
        for node in graph.nodes:
            key = getattr(node[0], "key", "")
            if key in by_key:
                by_key[key][node[1][0]] = node
            if key == _LU:
                factors.add((node[2][0], node[2][2]))
            is_system = key == _SOLVE and node[1][1:3] in factors
            found.others.update((node[1][0], node[1][3]) if is_system else node[1])
        return found

    def matrices(self) -> list[int]:
        """Return the matrices whose factors no operation reads but systems."""
        shared = [i for i, node in self.lu.items() if self.others.isdisjoint(node[2])]
        return [*shared, *[i for i in self.slogdet if i not in self.lu]]


class _Writer:
    """The graph while it is written anew; ``number`` is where each value of the old one is."""

    def __init__(
        self, graph: MaterializedGraph, found: _Factorizations, matrices: frozenset[int]
    ) -> None:
        self.graph, self.found, self.matrices = graph, found, matrices
        self.nodes: list[MaterializedNode] = []
        self.avals: list[Any] = list(graph.avals[: len(graph.inputs)])
        self.number = [*range(len(graph.avals))]
        self.factors: dict[int, tuple[int, ...]] = {}  # of each matrix
        self.is_factor = bytearray(len(graph.avals))  # of an LU factorization that is replaced
        self.written = bytearray(len(graph.avals))

    def run(self) -> None:
        """Write every node."""
        for node in self.graph.nodes:
            op: Any = node[0]
            key, matrix = getattr(op, "key", ""), node[1][0] if node[1] else -1
            if key == _LU and matrix in self.matrices:
                for i, place in zip(node[2], self.factors_of(matrix, node), strict=True):
                    self.number[i] = place
                    self.is_factor[i] = 1
            elif key == _SOLVE and self.is_factor[node[1][1]]:
                self.put(node, SystemSolve(op.adjoint), node[1][1:])
            elif key == _SLOGDET and matrix in self.matrices:
                factors, pivots, _ = self.factors_of(matrix, node)
                self.write(node, SystemSlogdet(), (factors, pivots))
            elif not self.written[node[2][0]]:
                self.put(node, op, node[1])

    def factors_of(self, matrix: int, node: MaterializedNode) -> tuple[int, ...]:
        """Return the factors of a matrix; write their equation instead of a node if it is new."""
        found = self.factors.get(matrix)
        if found is not None:
            return found
        operands = [self.number[matrix]]
        cholesky = self.found.cholesky.get(matrix)
        if cholesky is not None:
            if not self.written[cholesky[2][0]]:
                self.put(cholesky, cholesky[0], cholesky[1])
            operands.append(self.number[cholesky[2][0]])
        base = len(self.avals)
        self.append(node, SystemFactors(), tuple(operands))
        found = self.factors[matrix] = tuple(range(base, base + 3))
        return found

    def put(self, node: MaterializedNode, op: Operation, operands: tuple[int, ...]) -> None:
        """Write an operation of these old values instead of a node."""
        self.write(node, op, tuple([self.number[i] for i in operands]))

    def write(self, node: MaterializedNode, op: Operation, operands: tuple[int, ...]) -> None:
        """Write an operation of these new values instead of a node."""
        base = len(self.avals)
        self.append(node, op, operands)
        for k, i in enumerate(node[2]):
            self.number[i], self.written[i] = base + k, 1

    def append(self, node: MaterializedNode, op: Operation, operands: tuple[int, ...]) -> None:
        """Append an equation; one that is new carries no derivative."""
        base = len(self.avals)
        self.avals += infer(op, tuple([self.avals[i] for i in operands]))
        role = node[3] if op is node[0] else PRIMARY
        outputs = tuple(range(base, len(self.avals)))
        self.nodes.append(new_row((op, operands, outputs, role, node[4])))

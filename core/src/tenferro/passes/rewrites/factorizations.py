"""Part of ``systems``: the backend chooses how to factorize a matrix that only systems read.

``SystemFactors`` of a large matrix takes Cholesky's method if the matrix is Hermitian and positive
definite; if a Cholesky factor of the same matrix is there, it is that. ``SystemFactors`` of a stack
of small matrices may leave the factorization to each system. Where such a stack is inverted, the
inverses also solve the systems with as many right-hand sides as rows, which derivatives of inverses
are: a product takes less than a new factorization. The rule looks at all readers of a
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
from tenferro.passes._identities import identities_of
from tenferro.passes._rewriter import needed
from tenferro.primitives.contraction import DotGeneral
from tenferro.primitives.linalg.system_factors import SystemFactors, SystemSlogdet, SystemSolve
from tenferro.primitives.structural import BroadcastInDim

_LU, _SOLVE, _SLOGDET = "std::lu", "std::linear_solve", "std::slogdet"
_CHOLESKY = "std::cholesky"
_MIN_ROWS = 64  # of matrices whose symmetry is looked at; smaller ones are solved before
_MAX_ROWS_OF_STACKS = 32  # of matrices that take less time to factorize than a call of LAPACK takes


def with_system_factors(
    graph: MaterializedGraph, can: Callable[[type], bool]
) -> tuple[MaterializedGraph, int]:
    """Replace the factorizations that systems and determinants alone read; also count them."""
    if not can(SystemFactors):
        return graph, 0
    found = _Factorizations.of(graph)
    matrices = [i for i in found.matrices() if _has_a_choice(graph.avals[i])]
    if not matrices:
        return graph, 0
    writer = _Writer(graph, found, frozenset(matrices))
    writer.run()
    outputs = [writer.number[i] for i in graph.outputs]
    return needed(graph, writer.nodes, outputs, writer.avals), len(matrices)


def _has_a_choice(aval: Any) -> bool:
    """Return True for large matrices, and for stacks of small ones."""
    return bool(aval.shape[-1] >= _MIN_ROWS or _is_stack_of_small(aval))


def _is_stack_of_small(aval: Any) -> bool:
    return bool(aval.ndim > 2 and aval.shape[-1] <= _MAX_ROWS_OF_STACKS)


def _inverses_of_stacks(
    graph: MaterializedGraph, matrices: frozenset[int], lu: dict[int, MaterializedNode]
) -> dict[int, MaterializedNode]:
    """Return the systems that invert stacks of small matrices, by the factors that they read."""
    factors = {lu[i][2][0] for i in matrices if i in lu and _is_stack_of_small(graph.avals[i])}
    if not factors:
        return {}
    ones = identities_of(graph.nodes)
    stacks = {
        node[2][0]
        for node in graph.nodes
        if node[1] and node[1][0] in ones and _repeats_a_matrix(node[0], graph.avals[node[1][0]])
    }
    return {
        node[1][1]: node
        for node in graph.nodes
        if getattr(node[0], "key", "") == _SOLVE and node[1][1] in factors
        and node[1][3] in stacks and not graph.avals[node[1][3]].dtype.is_complex
        and not getattr(node[0], "adjoint", False)
    }  # fmt: skip


def _repeats_a_matrix(op: Any, matrix: Any) -> bool:
    if type(op) is not BroadcastInDim or op.shape[-2:] != matrix.shape:
        return False
    last = len(op.shape) - 1
    return bool(op.dimensions == (last - 1, last))


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
        self.inverses = _inverses_of_stacks(graph, matrices, found.lu)
        self.makers = {i: node for node in graph.nodes for i in node[2]} if self.inverses else {}

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
                if not self.written[node[2][0]]:
                    self.solve(node)
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

    def solve(self, node: MaterializedNode) -> None:
        """Write a system, or the product of the inverse that is known with as many columns."""
        op: Any = node[0]
        _, factors, _, b = node[1]
        inverse, aval = self.inverses.get(factors, node), self.graph.avals[b]
        if inverse is node or aval.shape[-1] != aval.shape[-2]:
            self.put(node, SystemSolve(op.adjoint), node[1][1:])
            return
        self.write_early(inverse)
        lead, last = tuple(range(aval.ndim - 2)), aval.ndim - 1
        axis = last - 1 if op.adjoint else last
        self.put(node, DotGeneral((axis,), (last - 1,), lead, lead), (inverse[2][0], b))

    def write_early(self, inverse: MaterializedNode) -> None:
        """Write an inverse, and the identity matrices that it reads, unless they are there."""
        if self.written[inverse[2][0]]:
            return
        waiting = [inverse[1][3]]
        for i in waiting:
            waiting += [k for k in self.makers[i][1] if k in self.makers]
        for i in reversed(waiting):
            node = self.makers[i]
            if not self.written[i]:
                self.put(node, node[0], node[1])
        self.solve(inverse)

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

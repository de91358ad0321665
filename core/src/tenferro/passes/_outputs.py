"""Rules of ``rewrites/dead_outputs.py`` for decompositions and sorts; loads when first needed.

Read next: ``rewrites/residuals.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import MaterializedGraph, Operation, infer
from tenferro.computegraph._materialize import MaterializedNode, new_row
from tenferro.computegraph._roles import PRIMARY
from tenferro.primitives._source import source_text
from tenferro.primitives.linalg.eig import Eig, Eigvals
from tenferro.primitives.linalg.eigh import Eigh, Eigvalsh
from tenferro.primitives.linalg.svd import Svd, Svdvals
from tenferro.primitives.linalg.vectors_used import GaugeCheck, VectorsSeen, VectorsVary
from tenferro.primitives.sorting import Sort


class _Values(NamedTuple):
    """Output of a decomposition that another class of operations computes alone."""

    slot: int
    alone: type


_VALUES = {Svd: _Values(1, Svdvals), Eigh: _Values(0, Eigvalsh), Eig: _Values(0, Eigvals)}
_OF_DERIVATIVES = ("epsilon", "projectors_only")
_WHOLE = {values.alone: whole for whole, values in _VALUES.items()}
_CLASSES = frozenset({*_VALUES, *_WHOLE, Sort})


class Outputs:
    """The graph while it is written anew; ``number`` is where each value of the old one is."""

    def __init__(self, graph: MaterializedGraph, can: Callable[[type], bool]) -> None:
        self.graph, self.can, self.count = graph, can, 0
        self.nodes: list[MaterializedNode] = []
        self.avals: list[Any] = list(graph.avals[: len(graph.inputs)])
        self.number = [*range(len(graph.avals))]
        self.read = bytearray(len(graph.avals))
        self.placed: dict[tuple[Operation, tuple[int, ...]], int] = {}
        for node in graph.nodes:
            for i in node[1]:
                self.read[i] = 1
        for i in graph.outputs:
            self.read[i] = 1
        self.whole = self.shared()
        self.literals = {node[2][0]: node for node in graph.nodes if not node[1]}
        self.longer = self.sorted_along()

    def shared(self) -> dict[tuple[type, tuple[int, ...]], Operation]:
        """Return the decompositions that are needed as a whole, by class and operand."""
        found: dict[tuple[type, tuple[int, ...]], Operation] = {}
        for node in self.graph.nodes:
            cls = type(node[0])
            if cls in _VALUES and self.reads_vectors(node):
                found[cls, node[1]] = _plain(node[0])
        return found

    def sorted_along(self) -> dict[tuple[int, int], MaterializedNode]:
        """Return sorts by one key that carry literals, by dimension and key."""
        found: dict[tuple[int, int], MaterializedNode] = {}
        for node in self.graph.nodes:
            op: Any = node[0]
            if type(op) is Sort and op.num_keys == 1 < op.count:
                if all([self.read[i] for i in node[2][1:]]) and self.is_free(node[1][1:]):
                    found[op.dimension, node[1][0]] = node
        return found

    def is_free(self, values: Sequence[int]) -> bool:
        """Return True if values are literals, which can be written anywhere."""
        return all([i in self.literals for i in values])

    def reads_vectors(self, node: MaterializedNode) -> bool:
        """Return True if anything but the values of a decomposition is read."""
        slot = _VALUES[type(node[0])].slot
        return any([self.read[i] for k, i in enumerate(node[2]) if k != slot])

    def run(self) -> None:
        """Write every node."""
        for node in self.graph.nodes:
            cls = type(node[0])
            if cls in _VALUES:
                self.decomposition(node)
            elif cls in _WHOLE:
                self.values(node)
            elif cls is Sort:
                self.sort(node)
            elif cls is VectorsVary or cls is VectorsSeen:
                self.mark(node)
            else:
                self.put(node, node[0], self.operands(node))

    def operands(self, node: MaterializedNode) -> tuple[int, ...]:
        """Return the operands of a node in the new graph."""
        return tuple([self.number[i] for i in node[1]])

    def put(
        self,
        node: MaterializedNode,
        operation: Operation,
        operands: tuple[int, ...],
        slots: Sequence[int] | None = None,
    ) -> None:
        """Write an operation instead of a node, whose results are these of its outputs."""
        base = self.place(operation, operands, node)
        for k, i in enumerate(node[2]):
            self.number[i] = base + (k if slots is None else slots[k])

    def place(self, operation: Operation, operands: tuple[int, ...], node: MaterializedNode) -> int:
        """Return the first output of an operation; reuse an equal one of ours."""
        ours = type(operation) in _CLASSES or not operands
        base = self.placed.get((operation, operands)) if ours else None
        if base is not None:
            return base
        base = len(self.avals)
        self.avals += infer(operation, tuple([self.avals[i] for i in operands]))
        if ours:
            self.placed[operation, operands] = base
        outputs = tuple(range(base, len(self.avals)))
        role = node[3] if operation is node[0] else PRIMARY
        self.nodes.append(new_row((operation, operands, outputs, role, node[4])))
        return base

    # ---- one rule per class ----------------------------------------------------------------------

    def decomposition(self, node: MaterializedNode) -> None:
        """Compute only the values if the vectors are not read and no other node needs them."""
        alone = _VALUES[type(node[0])].alone
        operation = _plain(node[0])
        if self.reads_vectors(node) or not self.can(alone):
            self.count += operation is not node[0]
            self.put(node, operation, self.operands(node))
            return
        self.count += 1
        self.values_of(node, type(node[0]), alone, [0] * len(node[2]))

    def values(self, node: MaterializedNode) -> None:
        """Take the values from a decomposition of the same matrix, if there is one."""
        whole = self.whole.get((_WHOLE[type(node[0])], node[1]))
        operation = _plain(node[0])
        self.count += whole is not None or operation is not node[0]
        self.values_of(node, _WHOLE[type(node[0])], type(node[0]), [0])

    def values_of(
        self, node: MaterializedNode, kind: type, alone: type, slots: Sequence[int]
    ) -> None:
        whole = self.whole.get((kind, node[1]))
        if whole is None:
            self.put(node, alone(), self.operands(node), slots)
        else:
            slot = _VALUES[kind].slot
            self.put(node, whole, self.operands(node), [slot] * len(node[2]))

    def mark(self, node: MaterializedNode) -> None:
        """Replace the first result by a check, if there is something to check.

        Tangents of vectors alone cannot tell how they are used; those of vectors and values can.
        """
        self.count += 1
        op: Any = node[0]
        operands = self.operands(node)
        for i, operand in zip(node[2], operands, strict=False):
            self.number[i] = operand
        is_tangent = type(op) is VectorsVary
        parts = node[2][: op.turns], node[2][op.turns :]
        together = all([any([self.read[i] for i in part]) for part in parts])
        if not self.can(GaugeCheck) or (is_tangent and not together):
            return
        check = GaugeCheck(
            op.turns, op.is_square, op.epsilon, is_tangent, is_tangent or op.with_values,
            self.line_of(node[1][-1]),
        )  # fmt: skip
        self.number[node[2][0]] = self.place(check, operands, node)

    def line_of(self, value: int) -> str:
        """Return the user's line of a decomposition; in a derivative, of the differentiated one."""
        maker = next((node for node in self.graph.nodes if value in node[2]), None)
        if maker is None:
            return ""
        kin = [node[4] for node in self.graph.nodes if node[1] == maker[1] and node[4]]
        return source_text(maker[4] or (kin[0] if kin else None)) or ""

    def sort(self, node: MaterializedNode) -> None:
        """Sort together with a sort that carries literals, and drop carried values that are not
        read.
        """
        op: Any = node[0]
        longer = self.longer.get((op.dimension, node[1][0]))
        if op.count == 1 and longer is not None:
            along = [self.literals[i] for i in longer[1][1:]]
            rest = [self.place(literal[0], (), literal) for literal in along]
            self.count += 1
            self.put(node, longer[0], (*self.operands(node), *rest), [0])
            return
        kept = [k for k, i in enumerate(node[2]) if k < op.num_keys or self.read[i]]
        operands = self.operands(node)
        if len(kept) == op.count:
            self.put(node, op, operands)
            return
        self.count += 1
        slot_of = {k: slot for slot, k in enumerate(kept)}
        slots = [slot_of.get(k, 0) for k in range(op.count)]
        fewer = Sort(op.dimension, op.num_keys, len(kept))
        self.put(node, fewer, tuple([operands[k] for k in kept]), slots)


def _plain(operation: Any) -> Operation:
    """Return the operation without the parameters that only its derivative uses."""
    known = operation.parameters
    if known.get("epsilon") is None and not known.get("projectors_only"):
        return operation  # type: ignore[no-any-return]
    changed = {name: x for name, x in known.items() if name not in _OF_DERIVATIVES}
    return type(operation)(**changed)  # type: ignore[no-any-return]

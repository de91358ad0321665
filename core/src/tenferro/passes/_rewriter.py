"""One sweep over a graph, from its inputs to its outputs, into a new graph.

A pass is a set of rules, each for some classes of operations. A rule looks at one equation, whose
operands are rewritten already, and gives the value that stands for its result: an operand, or one
that it emits; ``None`` where it has nothing to say. Equations that evaluate alike become one, if
that is asked for, and what no output needs is dropped. The inputs stay as they are, used or not.
Nothing here knows what an operation means. Read next: ``_driver.py``, then ``arithmetic.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.computegraph import MaterializedGraph, Operation, infer
from tenferro.computegraph._materialize import MaterializedNode
from tenferro.computegraph._roles import PRIMARY, OperationRole

#: (rewriter, operation, operands) → the value of the result, or None
Rule = Callable[["Rewriter", Any, tuple[int, ...]], int | None]

_DEEPEST = 6  # how far rules apply to what rules emit; the next sweep does the rest


class Rules:
    """The rules of one pass, by the class of the operation that they look at."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.by_class: dict[type, list[Rule]] = {}
        self.by_kind: list[tuple[Callable[[type], bool], Rule]] = []

    def of(self, *classes: type) -> Callable[[Rule], Rule]:
        """Register a rule for these classes of operations."""

        def register(rule: Rule) -> Rule:
            for cls in classes:
                self.by_class.setdefault(cls, []).append(rule)
            return rule

        return register

    def where(self, kind: Callable[[type], bool]) -> Callable[[Rule], Rule]:
        """Register a rule for the classes of operations that are of a kind."""

        def register(rule: Rule) -> Rule:
            self.by_kind.append((kind, rule))
            return rule

        return register

    def about(self, cls: type) -> list[Rule]:
        """The rules for a class."""
        return [*self.by_class.get(cls, ()), *[rule for kind, rule in self.by_kind if kind(cls)]]


class Table(dict[type, Sequence[tuple[str, Rule]]]):
    """The rules of several passes by class, in the order of the passes."""

    def __init__(self, passes: Sequence[Rules]) -> None:
        super().__init__()
        self._passes = passes

    def __missing__(self, cls: type) -> Sequence[tuple[str, Rule]]:
        found = [(rules.name, rule) for rules in self._passes for rule in rules.about(cls)]
        self[cls] = found
        return found


class Rewriter:
    """The new graph while it is made; a value is its number there.

    ``operations`` and ``operands`` say of each value what it was made by, ``uses`` how often it is
    read, as far as that is known: at most that often if no rule emits another reader.
    """

    def __init__(
        self,
        graph: MaterializedGraph,
        table: Table,
        *,
        merges: bool = True,
        can: Callable[[type], bool] = lambda cls: True,
    ) -> None:
        self.graph = graph
        self.can = can
        self.counts: dict[str, int] = {}
        self.avals: list[Any] = list(graph.avals[: len(graph.inputs)])
        self.operations: list[Operation | None] = [None] * len(self.avals)
        self.operands: list[tuple[int, ...]] = [()] * len(self.avals)
        self.uses: list[int] = [0] * len(self.avals)
        self.merged = 0
        self._table = table
        self._merges = merges
        self._nodes: list[MaterializedNode] = []
        self._first: dict[tuple[Any, ...], int] = {}
        self._source: Any = None
        self._depth = 0

    # ---- what rules ask and do -------------------------------------------------------------------

    def emit(self, operation: Operation, *operands: int) -> int:
        """The value of an operation of one output, itself rewritten."""
        if self._depth < _DEEPEST:
            rules = self._table[type(operation)]
            if rules:
                found = self._rewritten(rules, operation, operands)
                if found is not None:
                    return found
        for i in operands:
            self.uses[i] += 1
        return self._place(operation, operands, PRIMARY)

    def is_read_once(self, value: int) -> bool:
        """Whether what is being rewritten is the only reader of a value."""
        return self.uses[value] <= 1

    # ---- the sweep -------------------------------------------------------------------------------

    def run(self) -> MaterializedGraph:
        """The rewritten graph; the same object if nothing was to be done."""
        graph = self.graph
        number = list(range(len(graph.inputs)))
        old_uses = _uses(graph)
        uses, table = self.uses, self._table
        uses[:] = old_uses[: len(number)]
        for operation, inputs, outputs, role, source in graph.nodes:
            operands = tuple([number[i] for i in inputs])
            rules = table[type(operation)]
            if rules:
                self._source = source
                found = self._rewritten(rules, operation, operands)
                if found is not None:
                    number.append(found)
                    uses[found] += old_uses[outputs[0]]
                    continue
            self._source = source
            base = self._place(operation, operands, role)
            if len(outputs) == 1:
                number.append(base)
                uses[base] += old_uses[outputs[0]]
                continue
            for k, i in enumerate(outputs):
                number.append(base + k)
                uses[base + k] += old_uses[i]
        if not self.counts and not self.merged:
            return graph
        return self._compacted([number[i] for i in graph.outputs])

    def _rewritten(
        self, rules: Sequence[tuple[str, Rule]], operation: Operation, operands: tuple[int, ...]
    ) -> int | None:
        self._depth += 1
        for name, rule in rules:
            found = rule(self, operation, operands)
            if found is not None:
                self._depth -= 1
                self.counts[name] = self.counts.get(name, 0) + 1
                return found
        self._depth -= 1
        return None

    def _place(self, operation: Operation, operands: tuple[int, ...], role: OperationRole) -> int:
        """The first output of an equation that is there, or is written now."""
        entry: tuple[Any, ...]
        if operation.commutative and operands[0] > operands[1]:
            entry = (operation, operands[1], operands[0])
        else:
            entry = (operation, *operands)
        avals = self.avals
        if self._merges:
            base = self._first.setdefault(entry, len(avals))
            if base != len(avals):
                self.merged += 1
                return base
        base = len(avals)
        found = infer(operation, tuple([avals[i] for i in operands]))
        avals += found
        count = len(found)
        outputs = (base,) if count == 1 else tuple(range(base, base + count))
        self.operations += [operation] * count
        self.operands += [operands] * count
        self.uses += [0] * count
        self._nodes.append(MaterializedNode(operation, operands, outputs, role, self._source))
        return base

    def _compacted(self, outputs: Sequence[int]) -> MaterializedGraph:
        """The graph of what the outputs need, numbered anew."""
        return needed(self.graph, self._nodes, outputs, self.avals)


def needed(
    graph: MaterializedGraph,
    nodes: Sequence[MaterializedNode],
    outputs: Sequence[int],
    avals: Sequence[Any],
) -> MaterializedGraph:
    """The graph of the nodes that the outputs need, with the inputs of a graph."""
    count = len(graph.inputs)
    alive = bytearray(len(avals))
    for i in outputs:
        alive[i] = 1
    kept = []
    for node in reversed(nodes):
        produced = node[2]
        if alive[produced[0]] or (len(produced) > 1 and any([alive[i] for i in produced])):
            kept.append(node)
            for i in node[1]:
                alive[i] = 1
    number = [*range(count), *[0] * (len(avals) - count)]
    new_avals = list(avals[:count])
    made = []
    for operation, inputs, produced, role, source in reversed(kept):
        base = len(new_avals)
        for k, i in enumerate(produced):
            number[i] = base + k
            new_avals.append(avals[i])
        new = tuple([number[i] for i in produced])
        given = tuple([number[i] for i in inputs])
        made.append(MaterializedNode(operation, given, new, role, source))
    return MaterializedGraph(graph.inputs, made, [number[i] for i in outputs], new_avals)


def _uses(graph: MaterializedGraph) -> list[int]:
    """How often each value is read; an output counts as a reader."""
    uses = [0] * len(graph.avals)
    for node in graph.nodes:
        for i in node[1]:
            uses[i] += 1
    for i in graph.outputs:
        uses[i] += 1
    return uses

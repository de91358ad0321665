"""Sweeps over a graph, from its inputs to its outputs, in which rules rewrite equations in place.

Values keep their numbers while the graph is rewritten, and new ones get the next; so an equation
that is not rewritten costs almost nothing. Equations that evaluate alike become one, if that is
asked for, and equations that no output needs are dropped in the end. The inputs stay as they are,
used or not. Nothing here knows what an operation means. Read next: ``_driver.py``, then
``rewrites/arithmetic.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

from tenferro.computegraph import MaterializedGraph, Operation, infer
from tenferro.computegraph._materialize import MaterializedNode, new_row
from tenferro.computegraph._roles import PRIMARY, OperationRole
from tenferro.passes._rules import Found, RuleTable, kinds_of

_NO_RULES: Found = ()
_MAX_RULE_DEPTH = 6  # how far rules apply to what rules emit; the next sweep does the rest


class Rewriter:
    """A graph that is being rewritten.

    ``operations`` and ``operands`` say of each value what it is made by, ``avals`` what it is.
    """

    def __init__(
        self,
        graph: MaterializedGraph,
        table: RuleTable,
        *,
        merges: bool = True,
        can: Callable[[type], bool] = lambda cls: True,
    ) -> None:
        self.can = can
        self.counts: dict[str, int] = {}
        self.merged = 0
        self.avals: list[Any] = list(graph.avals)
        self._first_new = len(self.avals)
        self._table = table
        self._fill(graph)
        self._find_rules()
        self._outputs: list[int] = list(graph.outputs)
        self._graph = graph
        self._merges = merges
        self._changed = False
        self._depth = 0
        self._source: Any = None
        self._number: list[int] = []  # what each value is replaced by, in one sweep
        self._written: list[int] = []  # the order of the sweep so far
        self._waiting: Sequence[int] = ()
        self._first: dict[tuple[Any, ...], int] = {}
        self._coming: dict[type, set[tuple[Any, ...]]] = {}
        self._uses: list[int] | None = None
        self._linear: set[int] = set()  # new values that stand for tangents and cotangents
        self._readers: dict[type, set[int]] = {}  # what others than a class read
        self._asked = False  # a rule has asked for what a later equation may change
        self._unsure: set[int] = set()  # equations whose rules did so in vain

    def _fill(self, graph: MaterializedGraph) -> None:
        """Take the equations of a graph, whose values may have any numbers."""
        size, nodes = len(graph.avals), graph.nodes
        self.operations: list[Operation | None] = [None] * size
        self.operands: list[tuple[int, ...]] = [()] * size
        self._roles: list[OperationRole] = [PRIMARY] * size
        self._sources: list[Any] = [None] * size
        self._is_single = True  # each equation has one result
        first = len(graph.inputs)
        if nodes and size == first + len(nodes) and nodes[-1][2] == (size - 1,):
            columns: Any = zip(*nodes, strict=True)
            self.operations[first:], self.operands[first:], _, *rest = columns
            self._roles[first:], self._sources[first:] = rest
            self._order = [*range(first, size)]  # the first output of each equation
            return
        self._order = [node[2][0] for node in nodes]
        for operation, inputs, outputs, role, source in nodes:
            for value in outputs:
                self.operations[value] = operation
                self.operands[value] = inputs
                self._roles[value] = role
                self._sources[value] = source
            if len(outputs) != 1:
                self._is_single = False

    def _find_rules(self) -> None:
        """Find the rules that look at each equation; see also ``_renumbered``."""
        operations: list[Any] = self.operations
        operands, table = self.operands, self._table
        found = self._rules = [_NO_RULES] * len(operations)
        for value in self._order:
            given = operands[value]
            found[value] = table[  # as ``kinds_of``
                (type(operations[value]), type(operations[given[0]]), type(operations[given[1]]))
                if len(given) == 2
                else (type(operations[value]), type(operations[given[0]]))
                if len(given) == 1
                else kinds_of(operations[value], operations, given)
            ]

    # ---- what rules ask and do -------------------------------------------------------------------

    def emit(self, operation: Operation, *operands: int) -> int:
        """Emit an operation of one output and return its value; rules rewrite it, too."""
        rules = self._table[kinds_of(operation, self.operations, operands)]
        asked, self._asked = self._asked, False
        if rules and self._depth < _MAX_RULE_DEPTH:
            found = self._rewritten(rules, operation, operands)
            if found is not None:
                self._asked |= asked
                return found
        is_unsure = self._asked or (bool(rules) and self._depth >= _MAX_RULE_DEPTH)
        self._asked = asked or is_unsure
        self._note_readers(operation, operands)
        if not self._changed:
            self._begin()
        entry = _alike(operation, operands)
        there = self._first.get(entry)
        if there is not None:
            return there
        value = self._first[entry] = len(self.avals)
        self.avals.append(infer(operation, tuple([self.avals[i] for i in operands]))[0])
        self.operations.append(operation)
        self.operands.append(operands)
        self._rules.append(rules)
        self._roles.append(PRIMARY)
        self._sources.append(self._source)
        self._number.append(value)
        if self._uses is not None:
            self._uses.append(0)
        self._written.append(value)
        if is_unsure:
            self._unsure.add(value)
        return value

    def is_read_once(self, value: int, times: int = 1) -> bool:
        """Return True if the equation being rewritten is the only reader of a value, at most
        ``times``.
        """
        self._asked = True
        if self._uses is None:
            self._uses = self._counted()
        return self._uses[value] <= times

    def is_linear(self, value: int) -> bool:
        """Return True if an equation carries a tangent or a cotangent, or replaces such a one."""
        self._asked = True
        return self._roles[value] is not PRIMARY or value in self._linear

    def is_read_by(self, value: int, kind: type) -> bool:
        """Return True if only operations of a class read a value; no output does."""
        self._asked = True
        readers = self._readers.get(kind)
        if readers is None:
            readers = self._readers[kind] = self._read_by_others(kind)
        return value not in readers

    def is_there(self, operation: Operation, *operands: int) -> bool:
        """Return True if an equal equation exists in the sweep, before or after, and would be
        shared.
        """
        self._asked = True
        if not self._merges:
            return False
        entry, cls = _alike(operation, operands), type(operation)
        if cls not in self._coming:
            those: Any = self.operations
            same = [i for i in self._waiting if type(those[i]) is cls]
            self._coming[cls] = {_alike(those[i], self.operands[i]) for i in same}
        return entry in self._first or entry in self._coming[cls]

    def is_emitting(self) -> bool:
        """Return True if a rule emits the equation being rewritten; it is not one of the graph."""
        self._asked = True
        return self._depth > 1

    # ---- sweeps ----------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._order)

    def sweep(self) -> bool:
        """Look at each equation once; whether anything changed."""
        return self._swept(None)

    def sweep_again(self) -> bool:
        """Look again at equations that the last sweep may have changed; whether anything changed.

        It has rewritten the operands of an equation before the equation itself, so rules say the
        same again, unless they have asked who reads a value or what else there is. From the first
        change on, all equations are looked at.
        """
        unsure = self._unsure.intersection(self._order)
        return bool(unsure) and self._swept(unsure)

    def _swept(self, unsure: set[int] | None) -> bool:
        """Look at each equation; before the first change at those only that are ``unsure``."""
        self._number = list(range(len(self.avals)))
        self._written, self._first, self._coming, self._uses = [], {}, {}, None
        self._readers = {}
        self._changed = False
        self._waiting, self._unsure = self._order, set()
        self._look_at_each(unsure)
        if not self._changed:
            return False
        number = self._number
        self._outputs = [number[i] for i in self._outputs]
        self._order = self._alive()
        return True

    def _look_at_each(self, unsure: set[int] | None) -> None:
        """Rewrite, merge or write each equation that waits; as few calls as possible."""
        operations: list[Any] = self.operations
        operands, all_rules, merges = self.operands, self._rules, self._merges
        write, first = self._written.append, self._first
        for position, value in enumerate(self._waiting):
            given = self._renumbered(value) if self._changed else operands[value]
            rules = all_rules[value]
            if rules and (unsure is None or self._changed or value in unsure):
                self._source, self._position = self._sources[value], position
                found = self._rewritten(rules, operations[value], given)
                if found is not None:
                    self._replace(value, found)
                    self._asked = False
                    continue
                if self._asked:
                    self._unsure.add(value)
                    self._asked = False
            if merges and self._changed:
                there = first.setdefault(_alike(operations[value], given), value)
                if there != value:
                    self._merge(value, there)
                    continue
            write(value)

    def _rewritten(self, rules: Found, operation: Operation, given: tuple[int, ...]) -> int | None:
        """Return the result of the first rule that applies."""
        self._depth += 1
        for name, rule in rules:
            found = rule(self, operation, given)
            if found is not None:
                self._depth -= 1
                self.counts[name] = self.counts.get(name, 0) + 1
                return found
        self._depth -= 1
        return None

    def _renumbered(self, value: int) -> tuple[int, ...]:
        """Return the operands of an equation by their new numbers; store them if they changed."""
        number, given = self._number, self.operands[value]
        for i in given:
            if number[i] != i:
                break
        else:
            return given
        new = tuple([number[i] for i in given])
        operation: Any = self.operations[value]
        self._rules[value] = self._table[kinds_of(operation, self.operations, new)]
        if self._is_single:
            self.operands[value] = new
            return new
        for slot in range(operation.output_count):
            self.operands[value + slot] = new
        return new

    def _replace(self, value: int, found: int) -> None:
        """Let one value stand for another from now on."""
        if not self._changed:
            self._begin()
        self._number[value] = found
        if found >= self._first_new and self.is_linear(value):
            self._linear.add(found)
        if self._uses is not None:
            self._uses[found] += self._uses[value]
        for readers in self._readers.values():
            if value in readers:
                readers.add(found)

    def _begin(self) -> None:
        """Note that the graph changes: from now on equal equations are looked up."""
        self._changed = True
        operations: Any = self.operations
        if self._merges:
            for value in self._written:
                self._first[_alike(operations[value], self.operands[value])] = value

    def _merge(self, value: int, there: int) -> None:
        """Let the results of one equation stand for those of one that evaluates alike."""
        operation: Any = self.operations[value]
        self.merged += 1
        for slot in range(operation.output_count):
            self._replace(value + slot, there + slot)

    def _counted(self) -> list[int]:
        """Count how often each value is read now; an output counts as a reader."""
        uses = [0] * len(self.avals)
        number, operands = self._number, self.operands
        for i in chain.from_iterable([operands[value] for value in self._written]):
            uses[i] += 1
        waiting = self._waiting[self._position :]
        for i in chain.from_iterable([operands[value] for value in waiting]):
            uses[number[i]] += 1
        for i in self._outputs:
            uses[number[i]] += 1
        return uses

    def _note_readers(self, operation: Operation, operands: tuple[int, ...]) -> None:
        """Count an emitted equation as a reader, where readers were asked for."""
        if self._uses is not None:
            for i in operands:
                self._uses[i] += 1
        for kind, readers in self._readers.items():
            if type(operation) is not kind:
                readers.update(operands)

    def _read_by_others(self, kind: type) -> set[int]:
        """Return what operations of other classes read now, and the outputs."""
        number, operands, operations = self._number, self.operands, self.operations
        found = {number[i] for i in self._outputs}
        for value in self._written:
            if type(operations[value]) is not kind:
                found.update(operands[value])
        for value in self._waiting[self._position :]:
            if type(operations[value]) is not kind:
                found.update([number[i] for i in operands[value]])
        return found

    # ---- the end ---------------------------------------------------------------------------------

    def _alive(self) -> list[int]:
        """Return the equations that the outputs need, in order."""
        alive = bytearray(len(self.avals))
        for i in self._outputs:
            alive[i] = 1
        operations: Any = self.operations
        operands, is_single = self.operands, self._is_single
        kept = []
        for value in reversed(self._written):
            is_needed = alive[value]
            if not (is_needed or is_single):
                is_needed = any(alive[value : value + operations[value].output_count])
            if is_needed:
                kept.append(value)
                for i in operands[value]:
                    alive[i] = 1
        kept.reverse()
        return kept

    def finished(self) -> MaterializedGraph:
        """Return the rewritten graph, its values renumbered."""
        operations: Any = self.operations
        count = len(self._graph.inputs)
        number = [*range(count), *[0] * (len(self.avals) - count)]
        avals = self.avals[:count]
        nodes = []
        for value in self._order:
            operation, base = operations[value], len(avals)
            made = 1 if self._is_single else operation.output_count
            if made == 1:
                number[value] = base
                avals.append(self.avals[value])
                outputs: tuple[int, ...] = (base,)
            else:
                outputs = tuple(range(base, base + made))
                number[value : value + made] = outputs
                avals += self.avals[value : value + made]
            given = self.operands[value]
            if len(given) == 2:
                given = (number[given[0]], number[given[1]])
            else:
                given = tuple([number[i] for i in given])
            role, source = self._roles[value], self._sources[value]
            nodes.append(new_row((operation, given, outputs, role, source)))
        outputs = tuple([number[i] for i in self._outputs])
        return MaterializedGraph(self._graph.inputs, nodes, outputs, avals)


def _alike(operation: Operation, operands: tuple[int, ...]) -> tuple[Any, ...]:
    """Return a key that is equal for equations that evaluate alike."""
    if operation.commutative and operands[0] > operands[1]:
        return (operation, operands[1], operands[0])
    return (operation, *operands)


def needed(
    graph: MaterializedGraph,
    nodes: Sequence[MaterializedNode],
    outputs: Sequence[int],
    avals: Sequence[Any],
) -> MaterializedGraph:
    """Return the graph of the nodes that the outputs need, with the inputs of a graph."""
    alive = bytearray(len(avals))
    for i in outputs:
        alive[i] = 1
    kept = []
    for node in reversed(nodes):
        produced = node[2]
        if alive[produced[0]] or any([alive[i] for i in produced]):
            for i in node[1]:
                alive[i] = 1
            kept.append(node)
    kept.reverse()
    number = [*range(len(graph.inputs)), *[0] * (len(avals) - len(graph.inputs))]
    new_avals = list(avals[: len(graph.inputs)])
    made = []
    for operation, inputs, produced, role, source in kept:
        new = []
        for i in produced:
            number[i] = len(new_avals)
            new.append(number[i])
            new_avals.append(avals[i])
        given = tuple([number[i] for i in inputs])
        made.append(new_row((operation, given, tuple(new), role, source)))
    return MaterializedGraph(graph.inputs, made, [number[i] for i in outputs], new_avals)

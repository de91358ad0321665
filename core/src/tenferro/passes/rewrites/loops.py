"""``loops``: loops over the same steps run as one, and nothing in them is computed in vain.

Two loops of one length and direction, or with one condition, join where every carry of one is a
carry of the other: it has the same start and the same update. Loops without carries join where they
read the same rows; a loop that reads the rows of another, and nothing else of it, joins that. So a
value and its derivative run the loop over the primals once, at every order. Results, carries and
inputs of a loop that nothing reads are dropped. The bodies of loops and branches are rewritten by
the chosen passes. Values keep every bit, except for what the other passes do in a body.
``../roll/`` finds loops that Python unrolled. Read next: ``../_loop_joins.py``, ``residuals.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.computegraph import (
    PRIMARY,
    Fragment,
    MaterializedGraph,
    MaterializedNode,
)
from tenferro.passes._loop_joins import (
    MutableEquation,
    chain_scans,
    drop_unread,
    equal_rows,
    join_scans,
    join_whiles,
    merge_inputs,
    replaced,
)
from tenferro.passes._rewriter import needed
from tenferro.primitives.control.effects import has_effects

_MOST_LOOPS = 64  # of one length, among which each is compared with each
_MOST_EQUATIONS = 300  # of two bodies that become one

Optimize = Callable[[Fragment], Fragment]


def with_joined_loops(
    graph: MaterializedGraph, optimize: Optimize
) -> tuple[MaterializedGraph, int]:
    """Join loops, drop what is not read, and rewrite bodies; also return how many changed."""
    loops = _Loops(graph, optimize)
    loops.run()
    return loops.finished(), loops.count


def _with_body(operation: Any, rewrite: Optimize) -> Any:
    """Return an operation with its body rewritten; the same one if that changes nothing."""
    body = rewrite(operation.body)
    return operation if body is operation.body else operation.replaced(body=body)


class _Loops:
    """The equations of a graph with loops, which become fewer."""

    def __init__(self, graph: MaterializedGraph, optimize: Optimize) -> None:
        self.graph = graph
        self.optimize = optimize
        self.equations = [MutableEquation(node) for node in graph.nodes]
        self.count = 0

    def run(self) -> None:
        """Join, chain, then drop, then rewrite bodies."""
        for equation in self.equations:
            if equation.is_scan:  # derivatives are taken: rules of the user have done their part
                equation.operation = _with_body(equation.operation, Fragment.flattened)
            elif equation.is_while:
                parts = {
                    name: getattr(equation.operation, name).flattened()
                    for name in ("condition", "body")
                }
                equation.operation = replaced(equation.operation, **parts)
        self._join()
        self._chain()
        self._drop()
        self._rewrite()

    # ---- joining ---------------------------------------------------------------------------------

    def _join(self) -> None:
        groups: dict[tuple[int, bool], list[MutableEquation]] = {}
        for equation in self.equations:
            if not (equation.is_scan or equation.is_while) or has_effects(equation.operation):
                continue  # effects keep their order
            scan: Any = equation.operation
            key = (scan.length, scan.reverse) if equation.is_scan else (0, False)
            groups.setdefault(key, []).append(equation)
        for group in groups.values():
            while 2 <= len(group) <= _MOST_LOOPS and self._join_one(group):
                pass

    def _join_one(self, group: list[MutableEquation]) -> bool:
        """Join two loops of a group, if there are two that fit."""
        above = self._loops_above(group)
        for i, first in enumerate(group):
            for j in range(i):
                second = group[j]
                if above[first] >> j & 1 or above[second] >> i & 1:
                    continue
                if join_whiles(first, second) if first.is_while else join_scans(first, second):
                    self.equations.remove(second)
                    group.remove(second)
                    self.count += 1
                    self._sort()
                    return True
        return False

    def _chain(self) -> None:
        """Let loops that read rows of an earlier one join it."""
        again = True
        while again:
            again = False
            groups: dict[tuple[int, bool], list[MutableEquation]] = {}
            for equation in self.equations:
                if equation.is_scan and not has_effects(equation.operation):
                    key = equation.operation.length, equation.operation.reverse
                    groups.setdefault(key, []).append(equation)
            for group in groups.values():
                if 2 <= len(group) <= _MOST_LOOPS and self._chain_one(group):
                    again = True
                    break

    def _chain_one(self, group: Sequence[MutableEquation]) -> bool:
        """Join a loop with one whose rows it reads, if it needs nothing else of that."""
        bits: dict[int, int] = {}
        self._loops_above(group, bits)
        for i, first in enumerate(group):
            one = first.operation
            rows = {s for s, k in zip(first.outputs, one.outputs, strict=True) if k >= one.carried}
            for second in group:
                two = second.operation
                read = rows.intersection(second.inputs[two.rows :])
                others = [*second.inputs[: two.rows], *set(second.inputs[two.rows :]) - read]
                short = len(one.body) + len(two.body) <= _MOST_EQUATIONS
                if read and short and not any([bits.get(slot, 0) >> i & 1 for slot in others]):
                    chain_scans(first, second)
                    self.equations.remove(second)
                    self.count += 1
                    self._sort()
                    return True
        return False

    def _loops_above(
        self, group: Sequence[MutableEquation], bits: dict[int, int] | None = None
    ) -> dict[MutableEquation, int]:
        """Return for each loop of the group those on which it depends, as bits.

        ``bits`` receives the same for each slot.
        """
        number = {equation: i for i, equation in enumerate(group)}
        bits = {} if bits is None else bits
        found = {}
        for equation in self.equations:
            mask = 0
            for slot in equation.inputs:
                mask |= bits.get(slot, 0)
            if equation in number:
                found[equation] = mask
                mask |= 1 << number[equation]
            if mask:
                bits.update(dict.fromkeys(equation.outputs, mask))
        return found

    def _sort(self) -> None:
        """Put every equation behind what it reads; else the order stays."""
        made = {slot: equation for equation in self.equations for slot in equation.outputs}
        done: set[MutableEquation] = set()
        ordered: list[MutableEquation] = []
        for root in self.equations:
            stack = [root]
            while stack:
                equation = stack[-1]
                waits = [
                    made[slot]
                    for slot in equation.inputs
                    if slot in made and made[slot] not in done
                ]
                if waits and equation not in done:
                    stack += waits
                    continue
                stack.pop()
                if equation not in done:
                    done.add(equation)
                    ordered.append(equation)
        self.equations = ordered

    # ---- dropping --------------------------------------------------------------------------------

    def _drop(self) -> None:
        """Drop outputs, carries and inputs that nothing reads, from the last loop to the first."""
        read = set(self.graph.outputs)
        kept = []
        for equation in reversed(self.equations):
            if equation.is_scan:
                if read.isdisjoint(equation.outputs):
                    self.count += 1
                    continue
                self.count += drop_unread(equation, read)
            read.update(equation.inputs)
            kept.append(equation)
        self.equations = kept[::-1]

    # ---- bodies ----------------------------------------------------------------------------------

    def _rewrite(self) -> None:
        """Rewrite bodies, and drop rows that are there twice."""
        results = {*self.graph.outputs}
        same: dict[int, int] = {}  # slot of rows → the first slot of equal rows
        for equation in self.equations:
            if same:
                equation.inputs = tuple([same.get(i, i) for i in equation.inputs])
            if not equation.is_scan:
                self._rewrite_bodies(equation)
                continue
            self.count += merge_inputs(equation)
            self._rewrite_bodies(equation)
            same.update(equal_rows(equation, results))
        if same:
            self.count += 1
            self._drop()

    def _rewrite_bodies(self, equation: MutableEquation) -> None:
        operation = equation.operation
        key = getattr(operation, "key", "")
        if key in ("std::scan", "std::checkpoint"):
            changed = _with_body(operation, self.optimize)
        elif key == "std::switch":
            branches = tuple(map(self.optimize, operation.branches))
            changed = type(operation)(branches, operation.is_linear)
        elif key == "std::while_loop":
            parts = {
                name: self.optimize(getattr(operation, name)) for name in ("condition", "body")
            }
            changed = replaced(operation, **parts)
        else:
            return
        equation.operation = changed

    # ---- the graph -------------------------------------------------------------------------------

    def finished(self) -> MaterializedGraph:
        """Return the graph, its values numbered again."""
        count = len(self.graph.inputs)
        avals = list(self.graph.avals[:count])
        number = {i: i for i in range(count)}
        nodes = []
        for equation in self.equations:
            outputs = []
            for slot in equation.outputs:
                number[slot] = len(avals)
                outputs.append(len(avals))
                avals.append(self.graph.avals[slot])
            inputs = tuple([number[slot] for slot in equation.inputs])
            role = equation.node.role if equation.operation is equation.node.operation else PRIMARY
            nodes.append(
                MaterializedNode(
                    equation.operation, inputs, tuple(outputs), role, equation.node.source
                )
            )
        return needed(self.graph, nodes, [number[i] for i in self.graph.outputs], avals)

"""Passes that plugins bring: run over a graph and over the bodies of its loops, and checked.

Such a pass is a function from a graph to a graph. It runs before the passes of core, on the program
as it was recorded. What it returns must have the inputs of the graph and outputs of the same avals,
each equation must have the avals that its operation gives, and no effect may be missing; anything
else raises ``BrokenPassError``. Read next: ``../backend/_plugin_passes.py``, which chooses them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from tenferro.computegraph import Fragment, MaterializedGraph, fragment_of_graph, infer
from tenferro.passes._errors import BrokenPassError
from tenferro.passes._rewriter import Rewriter
from tenferro.passes._rules import PassRules, RuleTable
from tenferro.primitives.control.higher_order import listed

Rewrite = Callable[[MaterializedGraph], MaterializedGraph]


def swept(graph: MaterializedGraph, *rules: PassRules) -> MaterializedGraph:
    """Return a graph after one sweep of rules over its equations, in order.

    The same graph where no rule applies.
    """
    rewriter = Rewriter(graph, RuleTable(rules), merges=False)
    return rewriter.finished() if rewriter.sweep() else graph


class PluginPass:
    """One pass of a plugin: its name, its owner, the keys that it is bound to, its function.

    It looks at a graph, or the body of a loop, that has an operation with one of the keys; at every
    graph if there are no keys. ``load`` returns the function, and is called for such a graph.
    """

    def __init__(
        self, name: str, provider: str, keys: frozenset[str], load: Callable[[], Rewrite]
    ) -> None:
        self.name = name
        self.provider = provider
        self._keys = keys
        self._load = load

    def __call__(self, graph: MaterializedGraph) -> tuple[MaterializedGraph, int]:
        """Return the rewritten graph, and how many graphs changed: it and bodies.

        Raises BrokenPassError: if the pass raises or returns another program.
        """
        graph, count = self._with_bodies(graph)
        if self._keys and self._keys.isdisjoint([_key(node.operation) for node in graph.nodes]):
            return graph, count
        rewrite = self._load()
        try:
            found = rewrite(graph)
        except Exception as error:
            raise self._broken(f"it raised {type(error).__name__}: {error}") from error
        if found is graph:
            return graph, count
        problem = problem_of(graph, found)
        if problem:
            raise self._broken(problem)
        return found, count + 1

    def _with_bodies(self, graph: MaterializedGraph) -> tuple[MaterializedGraph, int]:
        """Rewrite the bodies of loops, branches and checkpoints."""
        nodes, count = list(graph.nodes), 0
        for position, node in enumerate(nodes):
            if getattr(node.operation, "bodies", ()):
                operation, changed = self._with_own_bodies(node.operation)
                if changed:
                    nodes[position] = node._replace(operation=operation)
                    count += changed
        if not count:
            return graph, 0
        return MaterializedGraph(graph.inputs, nodes, graph.outputs, graph.avals), count

    def _with_own_bodies(self, operation: Any) -> tuple[Any, int]:
        count, parameters = 0, dict(operation.parameters)
        for name, value in parameters.items():
            bodies = value if isinstance(value, tuple) else (value,)
            if bodies and all(isinstance(body, Fragment) for body in bodies):
                found = [self(body.flat) for body in bodies]
                changed = sum(n for _, n in found)
                if changed:
                    count += changed
                    new = tuple([fragment_of_graph(graph) for graph, _ in found])
                    parameters[name] = new if isinstance(value, tuple) else new[0]
        return (type(operation)(**parameters), count) if count else (operation, 0)

    def _broken(self, problem: str) -> BrokenPassError:
        return BrokenPassError(
            f"the graph pass {self.name} of {self.provider or 'a plugin'} broke a program\n"
            f"  because    {problem}\n"
            f'  hint       run without it: passes={{"{self.name}": False}}, and tell its authors',
            name=self.name,
            provider=self.provider,
            problem=problem,
        )


def problem_of(graph: MaterializedGraph, found: Any) -> str:
    """Say what a pass did wrong with a graph; empty if it may stand for it."""
    if not isinstance(found, MaterializedGraph):
        return f"it returned {type(found).__name__}, need a MaterializedGraph"
    if found.inputs != graph.inputs:
        return "the inputs of the graph changed"
    problem = _problem_of_equations(found)
    if problem:
        return problem
    before = [graph.avals[i] for i in graph.outputs]
    after = [found.avals[i] for i in found.outputs]
    if before != after:
        return f"the outputs were {listed(before)}, and became {listed(after)}"
    lost = _effects(graph) - _effects(found)
    return f"the effect {next(iter(lost)).name} is gone" if lost else ""


def _problem_of_equations(graph: MaterializedGraph) -> str:
    """Look at each equation: its operands are made before it, its results are what it gives."""
    count = len(graph.inputs)
    if [*graph.avals[:count]] != [key.aval for key in graph.inputs]:
        return "the avals of the inputs changed"
    for operation, inputs, outputs, *_ in graph.nodes:
        if not all(0 <= i < count for i in inputs):
            return f"{operation.name} reads a value that is not made before it"
        made = infer(operation, tuple([graph.avals[i] for i in inputs]))
        if tuple(outputs) != tuple(range(count, count + len(made))):
            return f"the results of {operation.name} are not the next numbers of values"
        if tuple([graph.avals[i] for i in outputs if i < len(graph.avals)]) != tuple(made):
            return f"{operation.name} gives {listed(made)}, the graph says otherwise"
        count += len(made)
    if count != len(graph.avals) or not all(0 <= i < count for i in graph.outputs):
        return "an output is not among the values of the graph, or a value has no equation"
    return ""


def _effects(graph: MaterializedGraph) -> Counter[Any]:
    return Counter([n.operation for n in graph.nodes if _key(n.operation) == "std::debug_callback"])


def _key(operation: Any) -> str:
    return getattr(operation, "key", "")

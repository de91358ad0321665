"""Many graphs, one logical view: find the definition of a value across graphs.

A view copies nothing. Each graph indexes itself once and the view asks them in turn. A value that
no graph defines is an error, never a silent zero. Read next: ``_materialize.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph._errors import UnresolvedValueError
from tenferro.computegraph._graph import Graph
from tenferro.computegraph._keys import Definition, ValueKey, inputs_of
from tenferro.computegraph._operation import Operation
from tenferro.computegraph._roles import OperationRole


class InputDef(NamedTuple):
    """The value is an input of a graph in the view."""

    key: ValueKey


class Produced(NamedTuple):
    """The value is an output of an operation."""

    operation: Operation
    input_keys: tuple[ValueKey, ...]
    role: OperationRole
    output_slot: int


ValueDef = InputDef | Produced


class Resolver(Protocol):
    """View of graphs, as transforms and ``materialize_merge`` read it."""

    def resolve_value(self, key: ValueKey) -> ValueDef | None:
        """Return the definition of a value, or ``None`` if the view does not know it."""

    def definition(self, key: ValueKey) -> Definition | None:
        """Return the raw definition tuple, or ``None`` for an input; raises
        UnresolvedValueError.
        """


class ResolvedView:
    """The view over graphs and all their parents; make one with ``resolve``."""

    def __init__(self, graphs: Sequence[Graph]) -> None:
        self.graphs = tuple(graphs)
        self._defined = [graph.defined for graph in self.graphs]
        self._last: frozenset[ValueKey] = self._defined[0] if graphs else frozenset()

    def resolve_value(self, key: ValueKey) -> ValueDef | None:
        """Return the definition of a value, or ``None`` if no graph defines it."""
        try:
            definition = self.definition(key)
        except UnresolvedValueError:
            return None
        if definition is None:
            return InputDef(key)
        operation, role, slot = definition[:3]
        return Produced(operation, inputs_of(definition), role, slot)

    def definition(self, key: ValueKey) -> Definition | None:
        """Return the definition tuple of a value, ``None`` for an input of the view.

        Raises UnresolvedValueError: if no graph in the view defines the value.
        """
        if key in self._last:  # neighbours are often of one graph
            return key.definition
        for keys in self._defined:
            if key in keys:
                self._last = keys
                return key.definition
        if any([key in graph.input_set for graph in self.graphs]):
            return None
        searched = ", ".join(map(repr, self.graphs)) or "no graph"
        raise UnresolvedValueError(
            f"{key!r} is not defined by any graph in the view\n  searched   {searched}\n"
            "  hint       name the graph that defines it as a parent, or resolve it too",
            value=key,
            graphs=self.graphs,
        )


class KeyView:
    """The view in which every key is what it was derived from: graphs kept by their outputs."""

    def resolve_value(self, key: ValueKey) -> ValueDef | None:
        """Return the definition that the key itself holds."""
        definition = key.definition
        if definition is None:
            return InputDef(key)
        operation, role, slot = definition[:3]
        return Produced(operation, inputs_of(definition), role, slot)

    def definition(self, key: ValueKey) -> Definition | None:
        """Return the definition tuple that the key itself holds."""
        return key.definition


def resolve(roots: Sequence[Graph]) -> ResolvedView:
    """View graphs and, transitively, their parents as one.

    Cost: O(number of graphs).
    """
    graphs: dict[Graph, None] = {}
    stack = list(reversed(roots))
    while stack:
        graph = stack.pop()
        if graph not in graphs:
            graphs[graph] = None
            stack.extend(reversed(graph.parents))
    return ResolvedView(tuple(graphs))

"""Graphs of every kind as lists of rows, and the table of the fragments in them.

Read next: ``writing.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import chain
from typing import Any, TypeVar

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph._compile import CompiledProgram
from tenferro.computegraph._fragment import Fragment
from tenferro.computegraph._graph import FlatNode, Graph, flat_form, leaf_name
from tenferro.computegraph._materialize import MaterializedGraph
from tenferro.computegraph._operation import Operation

SCHEMA = 2  # of a text with a table of fragments
WITHOUT_FRAGMENTS = 1  # schema of any other text
FORMAT = "tenferro.computegraph"

Writable = Graph | MaterializedGraph | CompiledProgram
Operations = Mapping[str, type[Operation]]


def operation_name(cls: type[Operation]) -> str:
    """Return the name under which a class of operations is written: its ``key``, else ``name``."""
    for name in (getattr(cls, "key", None), cls.name):
        if isinstance(name, str):
            return name
    return cls.__name__


def operation_version(cls: type[Operation]) -> int:
    """Return the version of a class of operations; 1 if it states none."""
    version = getattr(cls, "version", 1)
    return version if type(version) is int else 1


class FlatGraph(NamedTuple):
    """Any kind of graph as lists; values are numbered inputs first, then as they are produced."""

    kind: str
    names: list[Hashable]
    nodes: list[FlatNode]
    outputs: list[int]
    avals: list[Any]
    slots: list[int] | None  # of a program that numbers its slots in another order


def flat(graph: Writable) -> FlatGraph:
    """Flatten a graph or program; raises GraphError for a graph that is not closed."""
    if isinstance(graph, Graph):
        keys, nodes, outputs = flat_form(graph)
        local = chain(graph.inputs, *(node.outputs for node in graph.nodes))
        avals = [graph.keys[i].aval for i in local]
        names = [leaf_name(key, i) for i, key in enumerate(keys)]
        return FlatGraph("graph", names, nodes, outputs, avals, None)
    if isinstance(graph, MaterializedGraph):
        names = [leaf_name(key, i) for i, key in enumerate(graph.inputs)]
        return _flat_rows("materialized", names, graph, graph.nodes)
    return _flat_rows("program", list(graph.input_names), graph, graph.instructions)


def _flat_rows(
    kind: str,
    names: list[Hashable],
    graph: MaterializedGraph | CompiledProgram,
    rows: Sequence[Any],
) -> FlatGraph:
    slots = [*chain(range(len(names)), *(row.outputs for row in rows))]
    if slots == [*range(len(slots))]:
        nodes = [(row.operation, row.inputs, row.role) for row in rows]
        return FlatGraph(kind, names, nodes, list(graph.outputs), list(graph.avals), None)
    number = {slot: i for i, slot in enumerate(slots)}
    nodes = [(row.operation, tuple([number[i] for i in row.inputs]), row.role) for row in rows]
    outputs = [number[i] for i in graph.outputs]
    return FlatGraph(kind, names, nodes, outputs, [graph.avals[i] for i in slots], slots)


_T = TypeVar("_T")


class FragmentTable:
    """The fragments that a graph contains, as texts, each behind those that it contains itself.

    Fragments lie in each other as deep as loops do, so that nothing here recurses: a text that
    names a fragment without a number is written again when that has one.
    """

    def __init__(self, write: Callable[[Fragment], str]) -> None:
        self.texts: list[str] = []
        self._write = write
        self._numbers: dict[Fragment, int] = {}
        self._wanted: list[Fragment] = []

    def number(self, fragment: Fragment) -> int:
        """Return the number of a fragment; one that has none gets it before the next attempt."""
        found = self._numbers.get(fragment)
        if found is None:
            self._wanted.append(fragment)
            return -1
        return found

    def complete(self, write: Callable[[], _T]) -> _T:
        """Return what ``write`` gives when all fragments that it names have numbers."""
        found = write()
        if not self._wanted:
            return found
        while self._wanted:
            fragment = self._wanted[-1]
            text = "" if fragment in self._numbers else self._write(fragment)
            if self._wanted[-1] is not fragment:
                continue  # it contains others, which come first
            self._wanted.pop()
            if text:
                self._numbers[fragment] = len(self.texts)
                self.texts.append(text)
        return write()

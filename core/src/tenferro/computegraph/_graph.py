"""Graphs: parts of programs that own their nodes and refer to each other by value keys.

A node reads values of its own graph by local id and values of other graphs by key; transforms
write new graphs next to old ones and copy nothing. ``Graph.of`` collects a closed graph from keys,
``GraphBuilder`` (``_builder.py``) writes one node by node. Read next: ``_resolve.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from functools import cached_property, partial
from typing import Any

from tenferro._runtime.collector import CollectorPaused
from tenferro._runtime.records import NamedTuple
from tenferro.computegraph._derive import derive
from tenferro.computegraph._errors import DuplicateInputError, GraphError
from tenferro.computegraph._keys import (
    Application,
    Definition,
    ValueKey,
    input_key,
    inputs_of,
    outputs_of,
)
from tenferro.computegraph._operation import Operation
from tenferro.computegraph._roles import PRIMARY, OperationRole
from tenferro.computegraph._text import clip, equation_text, graph_text


class Local(int):
    """A value of the graph itself, by position."""

    __slots__ = ()


class External(NamedTuple):
    """A value that another graph defines."""

    key: ValueKey


class OperationKey(NamedTuple):
    """An operation applied to keys in a role; ``derive`` gives the keys of its outputs."""

    operation: Operation
    inputs: tuple[ValueKey, ...]
    role: OperationRole = PRIMARY


class Node(NamedTuple):
    """One equation of a graph."""

    operation: Operation
    inputs: tuple[Local | External, ...]
    outputs: tuple[Local, ...]
    role: OperationRole


new_node: Callable[[tuple[Any, ...]], Node] = partial(tuple.__new__, Node)  # without its __new__


class Graph:
    """An immutable graph: inputs in declared order, nodes in topological order, outputs.

    ``keys`` gives the key of each local value; ``parents`` are graphs whose values it may read.
    A graph that was collected knows its equations by their keys; ``nodes`` and ``outputs`` number
    them when they are read.
    """

    __slots__ = ("__dict__", "__weakref__", "_equations", "inputs", "keys", "parents")

    def __init__(
        self,
        keys: Sequence[ValueKey],
        inputs: Sequence[Local],
        nodes: Sequence[Node],
        outputs: Sequence[Local | External],
        parents: Sequence[Graph] = (),
    ) -> None:
        self.keys = tuple(keys)
        self.inputs = tuple(inputs)
        self.nodes = tuple(nodes)
        self.outputs = tuple(outputs)
        self.parents = tuple(parents)
        self._equations: Sequence[Definition] = ()

    @classmethod
    def of(
        cls, inputs: Sequence[ValueKey], outputs: Sequence[ValueKey], parents: Sequence[Graph] = ()
    ) -> Graph:
        """Collect the closed graph between inputs and outputs; other leaves become inputs too.

        With ``parents``, values that they define stay references to them.

        Raises DuplicateInputError: if an input is declared twice.
        """
        with CollectorPaused():
            given = dict.fromkeys(inputs)
            if len(given) < len(inputs):
                twice = next(key for i, key in enumerate(inputs) if key in inputs[:i])
                raise duplicate_input(twice)
            known: list[Collection[ValueKey]] = [given.keys()]
            known += [keys for parent in parents for keys in (parent.defined, parent.input_set)]
            known = [keys for keys in known if keys]
            roots = outputs
            for keys in known:  # often nothing else is left
                roots = [key for key in roots if key not in keys]

            def definition_of(key: ValueKey) -> Definition | None:
                for keys in known:
                    if key in keys:
                        return None
                return key.definition

            order, definitions, leaves = postorder(roots, definition_of)
            starts = [*given]
            starts += [
                key
                for key in leaves
                if key.definition is None and not any([key in keys for keys in known])
            ]
            made, equations = _outputs_of(order, definitions)
            return cls.over(starts, made, equations, outputs, parents)

    @classmethod
    def over(
        cls,
        inputs: Sequence[ValueKey],
        made: Sequence[ValueKey],
        equations: Sequence[Definition],
        outputs: Sequence[ValueKey],
        parents: Sequence[Graph] = (),
    ) -> Graph:
        """Make a graph of equations in topological order; ``made`` are all outputs of each in
        turn.
        """
        graph = cls.__new__(cls)
        graph.keys = (*inputs, *made)
        graph.inputs = tuple(map(Local, range(len(inputs))))
        graph.output_keys = tuple(outputs)
        graph.parents = tuple(parents)
        graph._equations = equations
        return graph

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The equations over places, in topological order."""
        place = len(self.inputs)
        nodes = []
        for equation in self._equations:
            operation, role = equation[:2]
            start, place = place, place + operation.output_count
            outputs = tuple(map(Local, range(start, place)))
            given = tuple([self._reference(key) for key in inputs_of(equation)])
            nodes.append(new_node((operation, given, outputs, role)))
        return tuple(nodes)

    @cached_property
    def outputs(self) -> tuple[Local | External, ...]:
        """Return the references of the outputs."""
        return tuple([self._reference(key) for key in self.output_keys])

    @cached_property
    def output_keys(self) -> tuple[ValueKey, ...]:
        """Keys of the outputs."""
        return tuple([self.key_of(reference) for reference in self.outputs])

    def _reference(self, key: ValueKey) -> Local | External:
        local = self.index.get(key)
        return External(key) if local is None else local

    @property
    def input_keys(self) -> tuple[ValueKey, ...]:
        """Keys of the declared inputs."""
        return tuple([self.keys[i] for i in self.inputs])

    def key_of(self, reference: Local | External) -> ValueKey:
        """Return the key behind a reference of this graph."""
        return reference.key if isinstance(reference, External) else self.keys[reference]

    @cached_property
    def index(self) -> dict[ValueKey, Local]:
        """Return the position of each key of this graph; made once."""
        return {key: Local(i) for i, key in enumerate(self.keys)}

    @cached_property
    def defined(self) -> frozenset[ValueKey]:
        """The keys that are outputs of equations of this graph."""
        inputs = self.input_set
        return frozenset([key for key in self.keys if key not in inputs])

    @cached_property
    def input_set(self) -> frozenset[ValueKey]:
        """The declared inputs as a set."""
        return frozenset(self.input_keys)

    def __len__(self) -> int:
        return len(self.nodes)

    def __str__(self) -> str:
        names = _Names(self)
        inputs = [(names.input(i), self.keys[i].aval) for i in self.inputs]
        lines = [
            equation_text(
                [f"%{i}" for i in node.outputs],
                node.operation,
                [names(reference) for reference in node.inputs],
                [self.keys[i].aval for i in node.outputs],
                node.role,
            )
            for node in self.nodes
        ]
        return graph_text("graph", inputs, lines, [names(reference) for reference in self.outputs])

    def __repr__(self) -> str:
        return f"<Graph of {len(self.nodes)} nodes, {len(self.inputs)} inputs>"

    def __reduce__(self) -> tuple[object, ...]:
        from_lists, lists = _pickle_form(self)
        return from_lists, lists


class _Names:
    """Text names of the references of one graph; externals are numbered as they appear."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._externals: dict[ValueKey, str] = {}

    def input(self, local: Local) -> str:
        return clip(str(self._graph.keys[local].input_key))

    def __call__(self, reference: Local | External) -> str:
        if isinstance(reference, External):
            return self._externals.setdefault(reference.key, self._external(reference.key))
        return f"%{int(reference)}"

    def _external(self, key: ValueKey) -> str:
        operation = key.operation
        if operation is None:
            return f"^{clip(str(key.input_key))}"
        return f"^{operation.name}{len(self._externals)}"


def duplicate_input(key: ValueKey) -> DuplicateInputError:
    """Make the error for an input that is declared a second time."""
    return DuplicateInputError(f"input {key!r} is declared twice in one graph", input=key)


def _outputs_of(
    keys: list[ValueKey], equations: list[Definition]
) -> tuple[list[ValueKey], list[Definition]]:
    """Return all outputs of the equations that make some values, and each equation once."""
    if all([definition[0].output_count == 1 for definition in equations]):
        return keys, equations
    made: dict[ValueKey, None] = {}
    firsts = []
    for key, definition in zip(keys, equations, strict=True):
        if key not in made:
            made.update(dict.fromkeys(outputs_of(key, definition)))
            firsts.append(definition)
    return [*made], firsts


def is_literal(key: ValueKey) -> bool:
    """Return True if a literal, such as a constant, made this value."""
    definition = key.definition
    return definition is not None and definition[0].literal


def postorder(
    outputs: Iterable[ValueKey], definition_of: Callable[[ValueKey], Definition | None]
) -> tuple[list[ValueKey], list[Definition], list[ValueKey]]:
    """Return keys, their definitions and leaves in depth-first postorder, without recursion.

    The order depends on the structure alone, never on creation times or memory.
    """
    seen: set[ValueKey] = set()
    order: list[ValueKey] = []
    definitions: list[Definition] = []
    leaves: list[ValueKey] = []
    stack: list[Any] = list(outputs)
    stack.reverse()
    pop, push, see = stack.pop, stack.append, seen.add
    finish, define = order.append, definitions.append
    while stack:
        item = pop()
        kind = type(item)
        if kind is tuple:  # a definition whose inputs are done; what it defines lies below
            finish(pop())
            define(item)
            continue
        if item in seen:
            continue
        see(item)
        if kind is Application:  # its outputs share the way to the inputs
            stack += [value for value in reversed(item.inputs) if value not in seen]
            continue
        definition = definition_of(item)
        if definition is None:
            leaves.append(item)
            continue
        push(item)
        push(definition)
        for value in definition[:2:-1]:
            if value not in seen:
                push(value)
    return order, definitions, leaves


def flat_form(graph: Graph) -> tuple[list[ValueKey], list[FlatNode], list[int]]:
    """Flatten a closed graph: input keys, nodes over value numbers, numbers of the outputs.

    Values are numbered inputs first, then outputs of nodes, whatever their local ids are.
    """
    number = {int(local): i for i, local in enumerate(graph.inputs)}
    nodes: list[FlatNode] = []
    for operation, inputs, outputs, role in graph.nodes:
        nodes.append((operation, tuple([_flat(graph, number, r) for r in inputs]), role))
        for local in outputs:
            number[local] = len(number)
    return list(graph.input_keys), nodes, [_flat(graph, number, r) for r in graph.outputs]


FlatNode = tuple[Operation, tuple[int, ...], OperationRole]


def _flat(graph: Graph, number: dict[int, int], reference: Local | External) -> int:
    if isinstance(reference, External):
        raise GraphError(
            f"{graph!r} reads {reference.key!r} of another graph, and only a closed graph can be "
            "written down; materialize it first",
            graph=graph,
            value=reference.key,
        )
    return number[reference]


def leaf_name(key: ValueKey, position: int) -> Hashable:
    """Return the name of an input for serialization; one that is known has none."""
    return key.input_key if key.is_input else ("cut", position)


def _pickle_form(graph: Graph) -> tuple[Callable[..., Graph], tuple[object, ...]]:
    """Return flat lists from which ``from_flat`` rebuilds the graph, without nesting or
    recursion.
    """
    inputs, nodes, outputs = flat_form(graph)
    named = [(leaf_name(key, i), key.aval) for i, key in enumerate(inputs)]
    return from_flat, (named, nodes, outputs)


def from_flat(
    inputs: Sequence[tuple[Hashable, Any]], nodes: Sequence[FlatNode], outputs: Sequence[int]
) -> Graph:
    """Rebuild the graph that ``flat_form`` flattened."""
    with CollectorPaused():
        leaves: dict[ValueKey, None] = {}
        for name, aval in inputs:
            key = input_key(name, aval)
            if key in leaves:
                raise duplicate_input(key)
            leaves[key] = None
        values, made = [*leaves], dict[ValueKey, Any]()
        for operation, operands, role in nodes:
            keys = derive(operation, [values[i] for i in operands], role)
            made.update([(key, key.definition) for key in keys])
            values += keys
        equations = _outputs_of([*made], [*made.values()])
        return Graph.over([*leaves], *equations, [values[i] for i in outputs])

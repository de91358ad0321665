"""Graphs: fragments of programs that own their nodes and refer to each other by value keys.

A node reads values of its own graph by local id and values of other graphs by key; transforms
write new graphs beside old ones and copy nothing. ``Graph.of`` collects a closed graph from keys,
``GraphBuilder`` writes one node by node. Read next: ``_resolve.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property, partial
from typing import Any

from tenferro.computegraph._errors import DuplicateInputError, GraphError
from tenferro.computegraph._gc import CollectorPaused
from tenferro.computegraph._keys import Definition, ValueKey, derive, input_key
from tenferro.computegraph._operation import Operation
from tenferro.computegraph._records import NamedTuple
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
    """An immutable fragment: inputs in declared order, nodes in topological order, outputs.

    ``keys`` gives the key of each local value; ``parents`` are graphs whose values it may read.
    """

    __slots__ = ("__dict__", "__weakref__", "inputs", "keys", "nodes", "outputs", "parents")

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

    @classmethod
    def of(
        cls, inputs: Sequence[ValueKey], outputs: Sequence[ValueKey], parents: Sequence[Graph] = ()
    ) -> Graph:
        """Collect the closed graph between inputs and outputs; other leaves become inputs too.

        With ``parents``, values that they define stay references to them.

        Raises DuplicateInputError: if an input is declared twice.
        """
        with CollectorPaused():
            builder = GraphBuilder(parents)
            for key in inputs:
                builder.declare(key)
            builder.collect(outputs)
            builder.output(*outputs)
            return builder.build()

    @property
    def input_keys(self) -> tuple[ValueKey, ...]:
        """Keys of the declared inputs."""
        return tuple(self.keys[i] for i in self.inputs)

    @property
    def output_keys(self) -> tuple[ValueKey, ...]:
        """Keys of the outputs."""
        return tuple(self.key_of(reference) for reference in self.outputs)

    def key_of(self, reference: Local | External) -> ValueKey:
        """The key behind a reference of this graph."""
        return reference.key if isinstance(reference, External) else self.keys[reference]

    @cached_property
    def index(self) -> dict[ValueKey, Local]:
        """Where each key of this graph is; made once."""
        return {key: Local(i) for i, key in enumerate(self.keys)}

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


class GraphBuilder:
    """Write a graph node by node.

    >>> class Add(Operation):
    ...     input_count = 2
    >>> builder = GraphBuilder()
    >>> x = builder.input("x")
    >>> (y,) = builder.apply(Add(), x, x)
    >>> builder.output(y)
    >>> print(builder.build())
    graph(x) {
      %1 = add %0 %0
      return %1
    }
    """

    def __init__(self, parents: Sequence[Graph] = ()) -> None:
        self._parents = tuple(parents)
        self._keys: list[ValueKey] = []
        self._index: dict[ValueKey, Local] = {}
        self._externals: dict[ValueKey, External] = {}  # those found in parents so far
        self._inputs: list[Local] = []
        self._nodes: list[Node] = []
        self._outputs: list[Local | External] = []

    def input(self, name: Hashable, aval: Any = None) -> Local:
        """Declare the next input by name; raises DuplicateInputError for a second time."""
        return self.declare(input_key(name, aval))

    def declare(self, key: ValueKey) -> Local:
        """Declare an existing key as the next input."""
        if key in self._index:
            raise DuplicateInputError(f"input {key!r} is declared twice in one graph", input=key)
        local = self._place(key)
        self._inputs.append(local)
        return local

    def key(self, reference: Local | External) -> ValueKey:
        """The key behind a reference."""
        return reference.key if isinstance(reference, External) else self._keys[reference]

    def apply(
        self, operation: Operation, *inputs: Local | External, role: OperationRole = PRIMARY
    ) -> tuple[Local, ...]:
        """Add a node, or find the one that is there already; returns its outputs."""
        keys = derive(operation, [self.key(reference) for reference in inputs], role)
        if keys[0] in self._index:
            return tuple(self._index[key] for key in keys)
        outputs = tuple(self._place(key) for key in keys)
        self._nodes.append(Node(operation, inputs, outputs, role))
        return outputs

    def append(
        self,
        operation: Operation,
        inputs: Sequence[ValueKey],
        role: OperationRole = PRIMARY,
        outputs: Sequence[ValueKey] | None = None,
    ) -> None:
        """Add the node that applies an operation to values of this graph or of its parents.

        ``outputs`` are its keys where the caller has them already.
        """
        index, keys, externals = self._index, self._keys, self._externals
        references = tuple(
            [index.get(key) or externals.get(key) or self._reference(key) for key in inputs]
        )
        found = derive(operation, inputs, role) if outputs is None else outputs
        produced = []
        for key in found:
            index[key] = local = Local(len(keys))
            keys.append(key)
            produced.append(local)
        self._nodes.append(new_node((operation, references, tuple(produced), role)))

    def output(self, *values: Local | External | ValueKey) -> None:
        """Append outputs; they may repeat."""
        for value in values:
            if isinstance(value, ValueKey):
                self._outputs.append(self._reference(value))
            else:
                self._outputs.append(value)

    def collect(self, outputs: Iterable[ValueKey]) -> None:
        """Add every node that the outputs need and that neither this graph nor a parent has."""
        order, leaves = postorder(outputs, self._definitions())
        for key in leaves:
            if key not in self._index and key not in self._externals:
                self._inputs.append(self._place(key))
        for key, definition in order:
            if key not in self._index:
                own = (key,) if definition[0].output_count == 1 else None
                self.append(definition[0], definition[3:], definition[1], own)

    def build(self) -> Graph:
        """The finished graph."""
        return Graph(self._keys, self._inputs, self._nodes, self._outputs, self._parents)

    def _definitions(self) -> Callable[[ValueKey], Definition | None]:
        """Definitions of the values that neither this graph nor a parent has yet."""
        given = set(self._index)
        if not self._parents:
            return lambda key: None if key in given else key.definition
        external = self._external
        return lambda key: None if key in given or external(key) is not None else key.definition

    def _external(self, key: ValueKey) -> External | None:
        found = self._externals.get(key)
        if found is None:
            for parent in self._parents:
                if key in parent.index:
                    found = self._externals[key] = External(key)
                    break
        return found

    def _reference(self, key: ValueKey) -> Local | External:
        local = self._index.get(key)
        if local is not None:
            return local
        external = self._external(key)
        if external is None:
            raise GraphError(f"{key!r} belongs neither to this graph nor to a parent", value=key)
        return external

    def _place(self, key: ValueKey) -> Local:
        local = Local(len(self._keys))
        self._keys.append(key)
        self._index[key] = local
        return local


def postorder(
    outputs: Iterable[ValueKey], definition_of: Callable[[ValueKey], Definition | None]
) -> tuple[list[tuple[ValueKey, Definition]], list[ValueKey]]:
    """Depth-first postorder from the outputs, without recursion: (defined keys, leaves).

    The order depends on the structure alone, never on creation times or memory.
    """
    seen: set[ValueKey] = set()
    order: list[tuple[ValueKey, Definition]] = []
    leaves: list[ValueKey] = []
    stack: list[Any] = list(outputs)
    stack.reverse()
    pop, push, see, finish = stack.pop, stack.append, seen.add, order.append
    while stack:
        item = pop()
        if type(item) is tuple:  # its inputs are done
            finish(item)
            continue
        if item in seen:
            continue
        see(item)
        definition = definition_of(item)
        if definition is None:
            leaves.append(item)
            continue
        push((item, definition))
        for value in definition[:2:-1]:
            if value not in seen:
                push(value)
    return order, leaves


def flat_form(graph: Graph) -> tuple[list[ValueKey], list[FlatNode], list[int]]:
    """A closed graph as flat lists: input keys, nodes over value numbers, numbers of the outputs.

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
    """The name of an input when its graph is written down; a value that was cut has none."""
    return key.input_key if key.is_input else ("cut", position)


def _pickle_form(graph: Graph) -> tuple[Callable[..., Graph], tuple[object, ...]]:
    """Flat lists from which ``from_flat`` builds the graph again; no nesting, no recursion."""
    inputs, nodes, outputs = flat_form(graph)
    named = [(leaf_name(key, i), key.aval) for i, key in enumerate(inputs)]
    return from_flat, (named, nodes, outputs)


def from_flat(
    inputs: Sequence[tuple[Hashable, Any]], nodes: Sequence[FlatNode], outputs: Sequence[int]
) -> Graph:
    """Build the graph that ``flat_form`` took apart."""
    builder = GraphBuilder()
    with CollectorPaused():
        values = [builder.input(name, aval) for name, aval in inputs]
        for operation, operands, role in nodes:
            values += builder.apply(operation, *[values[i] for i in operands], role=role)
        builder.output(*[values[i] for i in outputs])
        return builder.build()

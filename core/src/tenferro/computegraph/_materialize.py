"""Flatten a view into one graph: reachable nodes only, each evaluated once, in a fixed order.

Equal keys are one value by construction; here operations that *evaluate* alike are unified too,
whatever their role. Transparent operations disappear first. Values whose operand is known become
inputs. Declared inputs keep their order, used or not. Read next: ``_compile.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from tenferro._runtime.collector import CollectorPaused
from tenferro._runtime.records import NamedTuple
from tenferro.computegraph._errors import DuplicateInputError
from tenferro.computegraph._graph import leaf_name, postorder
from tenferro.computegraph._keys import (
    UNKNOWN,
    Application,
    Definition,
    ValueKey,
    input_key,
    inputs_of,
    new_leaf,
)
from tenferro.computegraph._operation import Operation, infer
from tenferro.computegraph._resolve import Resolver
from tenferro.computegraph._roles import OperationRole
from tenferro.computegraph._signature import Structure
from tenferro.computegraph._text import body_lines, clip, equation_text, graph_text


class MaterializedNode(NamedTuple):
    """One equation over value numbers; the role and source are for readers, not for execution."""

    operation: Operation
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    role: OperationRole
    source: Any


#: what ``postorder`` returns: keys, their definitions, and leaves
Walk = tuple[list[ValueKey], list[Definition], list[ValueKey]]
new_row: Callable[[tuple[Any, ...]], MaterializedNode] = partial(tuple.__new__, MaterializedNode)


class MaterializedGraph:
    """One flat graph. Values are numbered: inputs first, then outputs of nodes in order."""

    __slots__ = (
        "_operation_counts", "_operation_keys", "_structure", "avals", "inputs", "nodes", "outputs"
    )  # fmt: skip

    def __init__(
        self,
        inputs: Sequence[ValueKey],
        nodes: Sequence[MaterializedNode],
        outputs: Sequence[int],
        avals: Sequence[Any],
    ) -> None:
        self.inputs = tuple(inputs)
        self.nodes = tuple(nodes)
        self.outputs = tuple(outputs)
        self.avals = tuple(avals)
        self._structure: Structure | None = None
        self._operation_counts: dict[type, int] | None = None
        self._operation_keys: frozenset[str] | None = None

    @property
    def operation_counts(self) -> Mapping[type, int]:
        """Number of nodes by the class of their operation; made at first use."""
        found = self._operation_counts
        if found is None:
            found = {}
            for node in self.nodes:
                cls = type(node[0])
                found[cls] = found.get(cls, 0) + 1
            self._operation_counts = found
        return found

    @property
    def operation_keys(self) -> frozenset[str]:
        """The ``key`` of each operation that has one; made at first use."""
        found = self._operation_keys
        if found is None:
            keys = [getattr(cls, "key", "") for cls in self.operation_counts]
            found = self._operation_keys = frozenset(keys)
        return found

    @property
    def structure(self) -> Structure:
        """Meaning of the graph as a key; made at first use, since passes never need it."""
        found = self._structure
        if found is None:
            found = self._structure = Structure(len(self.inputs), self.nodes, self.outputs)
        return found

    @property
    def input_names(self) -> tuple[str, ...]:
        """Text names of the inputs."""
        return tuple(
            repr(key) if key.identity is None else clip(str(key.identity)) for key in self.inputs
        )

    def __len__(self) -> int:
        return len(self.nodes)

    def __str__(self) -> str:
        lines = [self.node_text(node) for node in self.nodes]
        return self.text_around(lines)

    def text_around(self, lines: Iterable[str]) -> str:
        """Return the text of the graph with these lines as its equations."""
        inputs = list(zip(self.input_names, self.avals, strict=False))
        return graph_text("graph", inputs, lines, [f"%{i}" for i in self.outputs])

    def node_text(self, node: MaterializedNode, label: str = "") -> str:
        """Return the line of an equation, followed by those of its closed graphs."""
        outputs, given = [f"%{i}" for i in node.outputs], [f"%{i}" for i in node.inputs]
        avals = [self.avals[i] for i in node.outputs]
        line = equation_text(outputs, node.operation, given, avals, node.role, label)
        return "\n".join([line, *body_lines(node.operation)])

    def __repr__(self) -> str:
        return f"<MaterializedGraph of {len(self.nodes)} nodes, {len(self.inputs)} inputs>"

    def __reduce__(self) -> tuple[object, ...]:
        named = [(leaf_name(key, i), key.aval) for i, key in enumerate(self.inputs)]
        nodes = [(n.operation, n.inputs, n.outputs, n.role, None) for n in self.nodes]
        return from_rows, (named, nodes, self.outputs, self.avals)


def materialize_merge(
    view: Resolver, outputs: Sequence[ValueKey], *, inputs: Sequence[ValueKey] | None = None
) -> MaterializedGraph:
    """Flatten what the outputs need into one graph.

    ``inputs`` come first and in the given order, even those that nothing uses; other leaves follow
    in the order in which they are met.

    Raises UnresolvedValueError: if a value is defined by no graph of the view.
    Raises DuplicateInputError: if an input is declared twice.
    """
    declared = tuple(inputs or ())
    known = set(declared)
    if len(known) != len(declared):
        twice = next(key for i, key in enumerate(declared) if key in declared[:i])
        raise DuplicateInputError(f"input {twice!r} is declared twice", input=twice)
    lookup = view.definition

    def definition_of(key: ValueKey) -> Definition | None:
        if key in known or (key.operand is not UNKNOWN and key.is_cut):
            return None
        return lookup(key)

    return flatten(declared, outputs, definition_of)


def flatten(
    declared: Sequence[ValueKey],
    outputs: Sequence[ValueKey],
    definition_of: Callable[[ValueKey], Definition | None],
    number: dict[ValueKey, int] | None = None,
) -> MaterializedGraph:
    """``materialize_merge`` over any function that gives definitions.

    ``number`` is filled with the numbers of the values by key.
    """
    with CollectorPaused():
        walk = postorder(outputs, definition_of)
        if any([d[0].transparent for d in walk[1] if len(d) > 4 or type(d[-1]) is Application]):
            walk = postorder(outputs, lambda key: narrowed(definition_of(key)))
        return flatten_walk(declared, outputs, walk, number)


def flatten_walk(
    declared: Sequence[ValueKey],
    outputs: Sequence[ValueKey],
    walk: Walk,
    number: dict[ValueKey, int] | None = None,
) -> MaterializedGraph:
    """``flatten`` where ``postorder`` has met all outputs, by definitions that are narrowed."""
    order, definitions, leaves = walk
    number = {} if number is None else number
    number.update([(key, i) for i, key in enumerate(declared)])
    inputs = list(declared)
    for key in leaves:
        if key not in number:
            number[key] = len(inputs)
            inputs.append(key)
    avals = [key.aval for key in inputs]
    nodes = _number_nodes(order, definitions, number, avals)
    return MaterializedGraph(inputs, nodes, [number[key] for key in outputs], avals)


def narrowed(definition: Definition | None) -> Definition | None:
    """Reduce a definition to what its value needs: one input of a transparent operation."""
    if definition is None or not definition[0].transparent:
        return definition
    return (definition[0], definition[1], 0, inputs_of(definition)[definition[2]])


def _number_nodes(
    order: list[ValueKey],
    definitions: list[Definition],
    number: dict[ValueKey, int],
    avals: list[Any],
) -> list[MaterializedNode]:
    """Number the values of the nodes; nodes that evaluate alike share their numbers."""
    nodes: list[MaterializedNode] = []
    first: dict[tuple[Any, ...], int] = {}
    for key, definition in zip(order, definitions, strict=True):
        operation = definition[0]
        if operation.transparent:
            number[key] = number[inputs_of(definition)[definition[2]]]
            continue
        if len(definition) == 4:
            only = definition[3]
            if type(only) is Application:
                base = _number_outputs(key, definition, number, first, avals, nodes)
                number[key] = base + definition[2]
                continue
            inputs: tuple[int, ...] = (number[only],)
        elif len(definition) == 5:
            inputs = (number[definition[3]], number[definition[4]])
        else:
            inputs = tuple([number[value] for value in definition[3:]])
        is_swapped = operation.commutative and inputs[0] > inputs[1]
        entry = (operation, *inputs[::-1]) if is_swapped else (operation, *inputs)
        found = first.get(entry)
        if found is None:
            found = first[entry] = len(avals)
            nodes.append(_row(avals, key, definition, inputs))
        number[key] = found
    return nodes


def _number_outputs(
    key: ValueKey,
    definition: Definition,
    number: dict[ValueKey, int],
    first: dict[tuple[Any, ...], int],
    avals: list[Any],
    nodes: list[MaterializedNode],
) -> int:
    """Number all outputs of an operation that has several; returns the number of the first."""
    application: ValueKey = definition[3]
    base = number.get(application)
    if base is None:
        inputs = tuple([number[value] for value in application.inputs])
        base = number[application] = first.setdefault((definition[0], *inputs), len(avals))
        if base == len(avals):
            nodes.append(_row(avals, key, definition, inputs))
    return base


def _row(
    avals: list[Any], key: ValueKey, definition: Definition, inputs: tuple[int, ...]
) -> MaterializedNode:
    """Return the row of a node, whose outputs are numbered next."""
    operation, base = definition[0], len(avals)
    count = operation.output_count
    if count == 1:
        avals.append(key.aval)
        return new_row((operation, inputs, (base,), definition[1], key.source))
    avals += infer(operation, tuple([avals[i] for i in inputs]))
    outputs = tuple(range(base, base + count))
    return new_row((operation, inputs, outputs, definition[1], key.source))


def from_rows(
    inputs: Sequence[tuple[Hashable, Any]],
    rows: Sequence[tuple[Operation, tuple[int, ...], tuple[int, ...], OperationRole, Any]],
    outputs: Sequence[int],
    avals: Sequence[Any],
) -> MaterializedGraph:
    """Assemble a materialized graph; inputs with equal names stay separate."""
    leaves = dict.fromkeys(input_key(name, aval) for name, aval in inputs)
    if len(leaves) < len(inputs):
        leaves = dict.fromkeys(new_leaf(name, aval) for name, aval in inputs)
    return MaterializedGraph([*leaves], [MaterializedNode(*row) for row in rows], outputs, avals)

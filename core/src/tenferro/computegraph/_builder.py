"""Write a graph node by node.

What is recorded or transformed comes as keys, and its graph is collected from these
(``Graph.of``); a builder is for those who write equations themselves. Read next: ``_resolve.py``.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from tenferro.computegraph._derive import derive
from tenferro.computegraph._errors import GraphError
from tenferro.computegraph._graph import External, Graph, Local, Node, duplicate_input
from tenferro.computegraph._keys import ValueKey, input_key
from tenferro.computegraph._operation import Operation
from tenferro.computegraph._roles import PRIMARY, OperationRole


class GraphBuilder:
    """Writes a graph node by node.

    >>> from tenferro.computegraph import GraphBuilder, Operation
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
        self._inputs: list[Local] = []
        self._nodes: list[Node] = []
        self._outputs: list[Local | External] = []

    def input(self, name: Hashable, aval: Any = None) -> Local:
        """Declare the next input by name; raises DuplicateInputError for a second time."""
        return self.declare(input_key(name, aval))

    def declare(self, key: ValueKey) -> Local:
        """Declare an existing key as the next input."""
        if key in self._index:
            raise duplicate_input(key)
        local = self._place(key)
        self._inputs.append(local)
        return local

    def key(self, reference: Local | External) -> ValueKey:
        """Return the key behind a reference."""
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

    def output(self, *values: Local | External | ValueKey) -> None:
        """Append outputs; they may repeat."""
        for value in values:
            if isinstance(value, ValueKey):
                self._outputs.append(self._reference(value))
            else:
                self._outputs.append(value)

    def build(self) -> Graph:
        """Return the finished graph."""
        return Graph(self._keys, self._inputs, self._nodes, self._outputs, self._parents)

    def _reference(self, key: ValueKey) -> Local | External:
        local = self._index.get(key)
        if local is not None:
            return local
        if any([key in p.defined or key in p.input_set for p in self._parents]):
            return External(key)
        raise GraphError(f"{key!r} belongs neither to this graph nor to a parent", value=key)

    def _place(self, key: ValueKey) -> Local:
        local = Local(len(self._keys))
        self._keys.append(key)
        self._index[key] = local
        return local

"""Fragments: closed graphs as values, which are the parameters of loops and branches.

A fragment holds equations over numbered values, no key and no operand: values 0…n-1 are its inputs,
then come the outputs of its equations. Equal fragments are one object. Transparent operations stay
in it, because they carry derivative rules of the user; ``flat`` is the graph without them, for
backends and passes. Roles and places in the user's program are not part of its identity.
Read next: ``_materialize.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property
from threading import RLock
from typing import Any
from weakref import WeakValueDictionary

from tenferro._runtime.fork import after_fork_in_child
from tenferro.computegraph._derive import derive
from tenferro.computegraph._errors import GraphError
from tenferro.computegraph._graph import postorder
from tenferro.computegraph._keys import (
    Definition,
    ValueKey,
    inputs_of,
    new_leaf,
    outputs_of,
)
from tenferro.computegraph._materialize import MaterializedGraph, flatten
from tenferro.computegraph._operation import Operation, infer

#: an operation, the numbers of its inputs
Equation = tuple[Operation, tuple[int, ...]]

_interned: WeakValueDictionary[Hashable, Fragment] = WeakValueDictionary()
_interning = RLock()


def _renew_lock() -> None:
    global _interning
    _interning = RLock()


after_fork_in_child(_renew_lock)


class Fragment:
    """A closed graph; make one with ``fragment`` or ``Fragment.of``."""

    __slots__ = ("__dict__", "__weakref__", "equations", "input_avals", "outputs")

    input_avals: tuple[Any, ...]
    equations: tuple[Equation, ...]
    outputs: tuple[int, ...]

    def __init__(self, *_: object) -> None:
        raise TypeError("make a fragment with `fragment` or `Fragment.of`")

    @classmethod
    def of(
        cls,
        inputs: Sequence[ValueKey],
        outputs: Sequence[ValueKey],
        is_left_out: Callable[[Operation], bool] = lambda operation: False,
    ) -> Fragment:
        """Return the equations between these inputs and outputs.

        ``is_left_out`` names operations with one output that are the identity and not wanted.

        Raises GraphError: if the outputs depend on any other leaf.
        """
        number: dict[ValueKey, int] = {key: i for i, key in enumerate(inputs)}
        given = set(inputs)

        def definition_of(key: ValueKey) -> Definition | None:
            return None if key in given else key.definition

        order, definitions, leaves = postorder(outputs, definition_of)
        for key in leaves:
            if key not in given:
                raise GraphError(f"a closed graph reads {key!r}, which is not among its inputs")
        equations: list[Equation] = []
        count = len(inputs)
        for key, definition in zip(order, definitions, strict=True):
            if key in number:
                continue
            operation = definition[0]
            places = tuple([number[x] for x in inputs_of(definition)])
            if operation.output_count == 1 and is_left_out(operation):
                number[key] = places[0]
                continue
            equations.append((operation, places))
            for output in outputs_of(key, definition):
                number[output] = count
                count += 1
        found = tuple([number[key] for key in outputs])
        return fragment(tuple([key.aval for key in inputs]), tuple(equations), found)

    def apply(self, inputs: Sequence[ValueKey]) -> list[ValueKey]:
        """Derive the equations on these inputs, and return the outputs."""
        if len(inputs) != len(self.input_avals):
            raise GraphError(f"{self!r} takes {len(self.input_avals)} inputs, got {len(inputs)}")
        values = list(inputs)
        for operation, places in self.equations:
            values += derive(operation, [values[i] for i in places])
        return [values[i] for i in self.outputs]

    def inputs_read_by(self, outputs: Iterable[int]) -> set[int]:
        """Return the numbers of the inputs that these outputs depend on."""
        read = {self.outputs[i] for i in outputs}
        first = len(self.avals)
        for operation, places in reversed(self.equations):
            first -= operation.output_count
            if not read.isdisjoint(range(first, first + operation.output_count)):
                read.update(places)
        return {i for i in read if i < first}

    @cached_property
    def avals(self) -> tuple[Any, ...]:
        """The avals of all values."""
        found = list(self.input_avals)
        for operation, places in self.equations:
            found += infer(operation, tuple([found[i] for i in places]))
        return tuple(found)

    @property
    def output_avals(self) -> tuple[Any, ...]:
        """The avals of the outputs."""
        avals = self.avals
        return tuple([avals[i] for i in self.outputs])

    @cached_property
    def flat(self) -> MaterializedGraph:
        """The graph as backends and passes see it: without transparent operations, merged."""
        leaves = [new_leaf(f"x{i}", aval) for i, aval in enumerate(self.input_avals)]
        return flatten(leaves, self.apply(leaves), lambda key: key.definition)

    def flattened(self) -> Fragment:
        """Return ``flat`` as a fragment; to flatten that again would give the same graph."""
        found = fragment_of_graph(self.flat)
        found.__dict__.setdefault("flat", self.flat)
        return found

    @cached_property
    def volatile(self) -> bool:
        """True if a derivative of it runs code of the user."""
        return any([operation.volatile for operation, _ in self.equations])

    @cached_property
    def redirects(self) -> bool:
        """True if the derivative of a value in it is that of another value."""
        return any([operation.redirects for operation, _ in self.equations])

    def __len__(self) -> int:
        return len(self.equations)

    def __repr__(self) -> str:
        count = len(self.equations)
        return f"{{{count} equation{'' if count == 1 else 's'}}}"

    def __reduce__(self) -> tuple[object, ...]:
        return fragment, (self.input_avals, self.equations, self.outputs)


def other_leaves(inputs: Sequence[ValueKey], outputs: Sequence[ValueKey]) -> list[ValueKey]:
    """Return the leaves that the outputs read in addition to these inputs."""
    given = set(inputs)
    *_, leaves = postorder(outputs, lambda key: None if key in given else key.definition)
    return [key for key in leaves if key not in given]


def fragment(
    input_avals: tuple[Any, ...], equations: tuple[Equation, ...], outputs: tuple[int, ...]
) -> Fragment:
    """Return the one fragment of these equations."""
    entry = (input_avals, equations, outputs)
    with _interning:
        found = _interned.get(entry)
        if found is None:
            found = object.__new__(Fragment)
            found.input_avals, found.equations, found.outputs = entry
            _interned[entry] = found
        return found


def fragment_of_graph(graph: MaterializedGraph) -> Fragment:
    """Return a materialized graph as a fragment."""
    count = len(graph.inputs)
    number = {i: i for i in range(count)}
    equations: list[Equation] = []
    for operation, inputs, outputs, *_ in graph.nodes:
        equations.append((operation, tuple([number[i] for i in inputs])))
        for slot in outputs:
            number[slot] = count
            count += 1
    avals = tuple(graph.avals[: len(graph.inputs)])
    return fragment(avals, tuple(equations), tuple([number[i] for i in graph.outputs]))

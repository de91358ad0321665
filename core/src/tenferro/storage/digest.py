"""Digests of what a graph computes, for caches that outlive the process.

Python's ``hash`` changes with the process; a fingerprint does not, nor with hash seeds, memory or
the version of Python. It is of structure alone: see ``fingerprint`` for what is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from tenferro._runtime.collector import CollectorPaused
from tenferro.computegraph._fragment import Fragment
from tenferro.computegraph._graph import Graph, flat_form
from tenferro.computegraph._materialize import MaterializedGraph, flatten
from tenferro.computegraph._operation import Operation
from tenferro.storage.flat import FragmentTable, Writable, flat, operation_version
from tenferro.storage.values import Codecs, ValueWriter, dump


def fingerprint(graph: Writable, *, codecs: Codecs | None = None) -> str:
    """Return a sha256 digest of what a graph computes, equal in every process and Python version.

    It covers operations (class, version, parameters), wiring, the avals of the inputs and the
    outputs. Left out: names of inputs, roles, source lines, and derivative rules of the user in the
    bodies of loops. A closed graph has the fingerprint of the program that it compiles to.

    Raises SerializationError: for a type without a codec.

    >>> from tenferro.computegraph import Graph, Operation
    >>> from tenferro.storage import fingerprint
    >>> from tenferro.computegraph import derive, input_key
    >>> class Negate(Operation):
    ...     key = "doc::negate"
    >>> def negated(name):
    ...     x = input_key(name)
    ...     return Graph.of([x], derive(Negate(), [x]))
    >>> fingerprint(negated("x")) == fingerprint(negated("y"))
    True
    """
    with CollectorPaused():
        return _Digests(codecs).of(graph)


class _Digests:
    """Digests of a graph and of the fragments that it contains, each digested once."""

    def __init__(self, codecs: Codecs | None) -> None:
        self._codecs = codecs
        self._fragments = FragmentTable(lambda fragment: self._digest(fragment.flat))

    def of(self, graph: Writable) -> str:
        """Return the digest of a graph."""
        return self._fragments.complete(lambda: self._digest(graph))

    def _digest(self, graph: Writable) -> str:
        digest = sha256()
        for line in _essence(graph, ValueWriter(self._codecs, {}, self._nested)):
            digest.update(line.encode("ascii"))
            digest.update(b"\n")
        return digest.hexdigest()

    def _nested(self, value: Any) -> object:
        if isinstance(value, Fragment):
            number = self._fragments.number(value)
            return {"fragment": self._fragments.texts[number] if number >= 0 else ""}
        if isinstance(value, Writable):
            return {"graph": fingerprint(value, codecs=self._codecs)}
        return None


def _essence(graph: Writable, write: ValueWriter) -> Iterator[str]:
    """Yield the lines that are digested."""
    form = flat(_merged(graph) if isinstance(graph, Graph) else graph)
    yield "tenferro.computegraph fingerprint 1"
    for aval in form.avals[: len(form.names)]:
        yield f"input {dump(write(aval))}"
    operations: dict[Operation, int] = {}
    for operation, inputs, _ in form.nodes:
        number = operations.get(operation)
        if number is None:
            number = operations[operation] = len(operations)
            yield f"operation {dump(_identity(operation, write))}"
        yield f"{number} {' '.join(map(str, inputs))}"
    yield f"return {' '.join(map(str, form.outputs))}"


def _identity(operation: Operation, write: ValueWriter) -> list[object]:
    """Return what distinguishes operations: a registered key, or where the class is defined."""
    cls = type(operation)
    name = getattr(cls, "key", None)
    if not isinstance(name, str):
        name = f"{cls.__module__}:{cls.__qualname__}"
    parameters = [[field, write(part)] for field, part in sorted(operation.parameters.items())]
    return [name, operation_version(cls), *parameters]


def _merged(graph: Graph) -> MaterializedGraph:
    """Return the materialized form, ignoring known operands."""
    flat_form(graph)  # refuses a graph that is not closed
    given = graph.input_set
    return flatten(
        graph.input_keys,
        graph.output_keys,
        lambda key: None if key in given else key.definition,
    )

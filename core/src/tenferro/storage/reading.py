"""Read a graph from JSON, and refuse whatever no graph can be made of.

Read next: ``values.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

from tenferro.computegraph._canonical import canonical
from tenferro.computegraph._compile import program_from_rows
from tenferro.computegraph._errors import SerializationError
from tenferro.computegraph._fragment import Fragment, fragment
from tenferro.computegraph._graph import FlatNode, Graph, from_flat
from tenferro.computegraph._materialize import from_rows
from tenferro.computegraph._operation import Operation, infer
from tenferro.computegraph._roles import PRIMARY, Linearized, OperationRole
from tenferro.storage.flat import (
    FORMAT,
    SCHEMA,
    WITHOUT_FRAGMENTS,
    Operations,
    Writable,
    operation_name,
    operation_version,
)
from tenferro.storage.npy import StoredArray
from tenferro.storage.values import Codecs, ValueReader, brief, malformed


class Reader:
    """Reads one document, trusting nothing in it."""

    def __init__(
        self,
        operations: Operations,
        codecs: Codecs | None,
        arrays: Mapping[str, StoredArray] | None,
    ) -> None:
        self._operations = operations
        self._value = ValueReader(codecs, arrays, self.document, self._known)
        self._fragments: list[Fragment] = []

    def document(self, document: Any, depth: int = 0) -> Writable:
        """Return the graph in a parsed text."""
        _check_header(document)
        around, self._fragments = self._fragments, []
        try:
            if document["schema"] != WITHOUT_FRAGMENTS:
                for row in _list(document, "fragments"):
                    self._fragments.append(self._fragment(row, depth))
            return self._graph(document, depth)
        finally:
            self._fragments = around

    def _known(self, number: Any) -> Fragment:
        """Return a fragment from the rows above."""
        found: Fragment = _at(self._fragments, number, "fragments")
        return found

    def _fragment(self, row: Any, depth: int) -> Fragment:
        if type(row) is not dict:
            malformed("fragments", row)
        avals = [self._value(item, depth) for item in _list(row, "avals")]
        values = [_at(avals, i, "values") for i in _list(row, "values")]
        operations = [self._operation(item, depth) for item in _list(row, "operations")]
        count = _index(row.get("inputs"), len(values) + 1, "inputs")
        rows = [[*x[:1], 0, *x[1:]] if type(x) is list else x for x in _list(row, "nodes")]
        nodes = _nodes(rows, operations, [PRIMARY], count, len(values))  # 0: the one role
        outputs = [_index(i, len(values), "outputs") for i in _list(row, "outputs")]
        _check_avals(nodes, count, values, "fragment")
        equations = tuple([(operation, inputs) for operation, inputs, _ in nodes])
        return fragment(tuple(values[:count]), equations, tuple(outputs))

    def _graph(self, document: Any, depth: int) -> Writable:
        avals = [self._value(item, depth) for item in _list(document, "avals")]
        names = [self._value(item, depth) for item in _list(document, "inputs")]
        values = [_at(avals, i, "values") for i in _list(document, "values")]
        operations = [self._operation(item, depth) for item in _list(document, "operations")]
        roles = [_role(item) for item in _list(document, "roles")]
        rows = _list(document, "nodes")
        nodes = _nodes(rows, operations, roles, len(names), len(values))
        outputs = [_index(i, len(values), "outputs") for i in _list(document, "outputs")]
        if document["kind"] == "graph":
            return _graph(names, nodes, outputs, values)
        _check_avals(nodes, len(names), values, document["kind"])
        slots = _slots(document, len(names), len(values))
        flat_rows = [(*row, None) for row in _rows(nodes, len(names), slots)]
        placed = dict(zip(slots, values, strict=True))
        parts = [slots[i] for i in outputs], [placed[i] for i in range(len(values))]
        if document["kind"] == "program":
            return program_from_rows(names, flat_rows, *parts)
        inputs = list(zip(names, values, strict=False))
        return from_rows(inputs, flat_rows, *parts)

    def _operation(self, item: Any, depth: int) -> Operation:
        if type(item) is not list or len(item) != 3 or type(item[2]) is not dict:
            malformed("operations", item)
        name, version, parameters = item
        if type(name) is not str or name not in self._operations:
            raise SerializationError(
                f"the operation {brief(name)} is unknown\n"
                f"  hint       pass operations={{{brief(name)}: its class}}",
                operation=name,
            )
        cls = self._operations[name]
        need = operation_version(cls)
        if version != need:
            raise SerializationError(
                f"{name} is of version {brief(version)}, need {need}",
                operation=name,
                version=version,
                need=need,
            )
        return _make(cls, name, {f: self._value(part, depth) for f, part in parameters.items()})


def _make(cls: type[Operation], name: str, values: dict[str, object]) -> Operation:
    got, need = sorted(values), sorted(cls._fields)
    if got != need:
        raise SerializationError(
            f"{name} has the parameters {got}, need {need}", operation=name, got=got, need=need
        )
    try:
        operation: Operation = cls(**values)
    except Exception as error:
        raise SerializationError(
            f"{name} refuses its parameters: {error}", operation=name
        ) from error
    return operation


def _nodes(
    rows: list[Any],
    operations: list[Operation],
    roles: list[OperationRole],
    count: int,
    total: int,
) -> list[FlatNode]:
    nodes: list[FlatNode] = []
    for row in rows:
        if type(row) is not list or len(row) < 2:
            malformed("nodes", row)
        operation: Operation = _at(operations, row[0], "nodes")
        role: OperationRole = _at(roles, row[1], "nodes")
        inputs = tuple([_index(i, count, "nodes") for i in row[2:]])
        need = len(role.active_mask) if isinstance(role, Linearized) else len(inputs)
        if operation.input_count not in (None, len(inputs)) or need != len(inputs):
            malformed("nodes", row)
        nodes.append((operation, inputs, role))
        count += operation.output_count
    if count != total:
        malformed("values", total)  # before a false count of outputs can fill the memory
    return nodes


def _graph(names: list[Any], nodes: list[FlatNode], outputs: list[int], avals: list[Any]) -> Graph:
    try:
        graph = from_flat(list(zip(names, avals, strict=False)), nodes, outputs)
    except Exception as error:  # an operation may raise anything on operands it was not made for
        raise SerializationError(f"the graph cannot be built: {error}", kind="graph") from error
    if [canonical(key.aval) for key in graph.keys] != [canonical(aval) for aval in avals]:
        raise SerializationError("the avals are not those that were written", kind="graph")
    return graph


def _check_avals(nodes: Sequence[FlatNode], inputs: int, avals: Sequence[Any], kind: str) -> None:
    """Raise SerializationError unless operations give the avals that stand in the text."""
    first = inputs
    for operation, operands, _ in nodes:
        try:
            found = infer(operation, tuple([avals[i] for i in operands]))
        except Exception as error:
            fact = f"{operation_name(type(operation))} refuses its operands: {error}"
            raise SerializationError(fact, kind=kind) from error
        written = avals[first : first + len(found)]
        if [*map(canonical, found)] != [*map(canonical, written)]:
            raise SerializationError(
                f"{operation_name(type(operation))} gives {brief(found)}, "
                f"but {brief(tuple(written))} is written",
                kind=kind,
            )
        first += len(found)


def _slots(document: Any, inputs: int, total: int) -> Sequence[int]:
    if "slots" not in document:
        return range(total)
    slots = [_index(i, total, "slots") for i in _list(document, "slots")]
    if slots[:inputs] != [*range(inputs)] or sorted(slots) != [*range(total)]:
        malformed("slots", slots)
    return slots


def _rows(
    nodes: Sequence[FlatNode], first: int, slots: Sequence[int]
) -> Iterator[tuple[Operation, tuple[int, ...], tuple[int, ...], OperationRole]]:
    bounds = pairwise(accumulate((node[0].output_count for node in nodes), initial=first))
    for (operation, inputs, role), (start, stop) in zip(nodes, bounds, strict=True):
        yield operation, tuple([slots[i] for i in inputs]), tuple(slots[start:stop]), role


def _check_header(document: Any) -> None:
    if type(document) is not dict or document.get("format") != FORMAT:
        raise SerializationError(f"this is not a text of {FORMAT}", schema=None, need=SCHEMA)
    schema, kind = document.get("schema"), document.get("kind")
    if type(schema) is not int or not WITHOUT_FRAGMENTS <= schema <= SCHEMA:
        raise SerializationError(
            f"schema {brief(schema)} is not known; this version reads up to {SCHEMA}\n"
            "  hint       read it with the version of tenferro that wrote it",
            schema=schema,
            need=SCHEMA,
        )
    if kind not in ("graph", "materialized", "program"):
        malformed("kind", kind)
    if kind == "program" and not all(type(name) is str for name in _list(document, "inputs")):
        malformed("inputs", document["inputs"])


def _role(item: Any) -> OperationRole:
    if item is None:
        return PRIMARY
    if type(item) is not dict or item.keys() != {"active", "transposed"}:
        malformed("roles", item)
    mask, transposed = item["active"], item["transposed"]
    if type(mask) is not list or any(type(flag) is not bool for flag in [*mask, transposed]):
        malformed("roles", item)
    return Linearized(tuple(mask), transposed)


def _list(document: Any, name: str) -> list[Any]:
    items = document.get(name)
    if type(items) is not list:
        malformed(name, items)
    return items


def _index(item: Any, bound: int, where: str) -> int:
    if type(item) is not int or not 0 <= item < bound:
        malformed(where, item)
    return item


def _at(items: Sequence[Any], position: Any, where: str) -> Any:
    return items[_index(position, len(items), where)]

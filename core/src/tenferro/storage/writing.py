"""Write a graph as lines of JSON.

Read next: ``reading.py``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, MutableMapping
from typing import Any

from tenferro.computegraph._canonical import canonical
from tenferro.computegraph._errors import SerializationError
from tenferro.computegraph._fragment import Fragment
from tenferro.computegraph._operation import Operation
from tenferro.computegraph._roles import PRIMARY, Linearized, OperationRole
from tenferro.storage.flat import (
    FORMAT,
    SCHEMA,
    WITHOUT_FRAGMENTS,
    FlatGraph,
    FragmentTable,
    Operations,
    Writable,
    flat,
    operation_name,
    operation_version,
)
from tenferro.storage.npy import StoredArray
from tenferro.storage.values import Codecs, ValueWriter, dump, parse


class Writer:
    """Writes one document: tables of operations, roles and avals, then equations over them."""

    def __init__(
        self,
        operations: Operations | None,
        codecs: Codecs | None,
        arrays: MutableMapping[str, StoredArray] | None,
    ) -> None:
        self._value = ValueWriter(codecs, arrays, self._nested)
        self._given = operations
        self._names = {cls: name for name, cls in (operations or {}).items()}
        self._classes: dict[str, type[Operation]] = {}
        self._fragments = FragmentTable(self._fragment)

    def document(self, graph: Writable) -> list[str]:
        """Return the lines of the text; a graph among its parameters is a document of its own."""
        around, self._fragments = self._fragments, FragmentTable(self._fragment)
        try:
            return [*self._lines(flat(graph))]
        finally:
            self._fragments = around

    def _lines(self, form: FlatGraph) -> Iterator[str]:
        operations: dict[Operation, int] = {}
        roles: dict[OperationRole, int] = {PRIMARY: 0}
        nodes = []
        for operation, inputs, role in form.nodes:
            row = [operations.setdefault(operation, len(operations))]
            row.append(roles.setdefault(role, len(roles)))
            nodes.append(dump([*row, *inputs]))
        avals: dict[object, int] = {}
        values = [avals.setdefault(canonical(aval), len(avals)) for aval in form.avals]
        kinds = dict(zip(values, form.avals, strict=True))
        written = self._fragments.complete(lambda: [dump(self._operation(o)) for o in operations])
        fragments = self._fragments.texts
        schema = SCHEMA if fragments else WITHOUT_FRAGMENTS
        yield f'{{"format": "{FORMAT}", "schema": {schema}, "kind": "{form.kind}",'
        if fragments:
            yield from _block("fragments", fragments)
        yield from _block("operations", written)
        yield from _block("roles", (dump(_role_item(role)) for role in roles))
        yield from _block("avals", (dump(self._value(kinds[i])) for i in range(len(avals))))
        yield from _block("inputs", (dump(self._input(form.kind, name)) for name in form.names))
        yield from _block("nodes", nodes)
        yield f'"values": {dump(values)},'
        if form.slots is not None:
            yield f'"slots": {dump(form.slots)},'
        yield f'"outputs": {dump(form.outputs)}}}'

    def _input(self, kind: str, name: Hashable) -> object:
        """Return a name; as text if no codec knows it and it is only for readers."""
        try:
            return self._value(name)
        except SerializationError:
            if kind == "graph":  # here names are the identity of the inputs
                raise
            return str(name)

    def _fragment(self, fragment: Fragment) -> str:
        """Return the row of a fragment; its values are numbered as those of a graph."""
        operations: dict[Operation, int] = {}
        nodes = [
            [operations.setdefault(operation, len(operations)), *inputs]
            for operation, inputs in fragment.equations
        ]
        avals: dict[object, int] = {}
        values = [avals.setdefault(canonical(aval), len(avals)) for aval in fragment.avals]
        kinds = dict(zip(values, fragment.avals, strict=True))
        row = {
            "operations": [self._operation(operation) for operation in operations],
            "avals": [self._value(kinds[i]) for i in range(len(avals))],
            "inputs": len(fragment.input_avals),
            "nodes": nodes,
            "values": values,
            "outputs": list(fragment.outputs),
        }
        return dump(row)

    def _nested(self, value: Any) -> object:
        if isinstance(value, Fragment):
            return {"fragment": self._fragments.number(value)}
        if isinstance(value, Writable):
            return {"graph": parse("".join(self.document(value)))}
        return None

    def _operation(self, operation: Operation) -> list[object]:
        cls = type(operation)
        name = self._name(cls)
        if self._classes.setdefault(name, cls) is not cls:
            other = self._classes[name].__qualname__
            raise SerializationError(
                f"{cls.__qualname__} and {other} are both named {name!r}\n"
                "  hint       pass operations={name: class} with two names",
                operation=name,
            )
        parameters = {field: self._value(part) for field, part in operation.parameters.items()}
        return [name, operation_version(cls), parameters]

    def _name(self, cls: type[Operation]) -> str:
        if self._given is None:
            return operation_name(cls)
        if cls not in self._names:
            name = operation_name(cls)
            raise SerializationError(f"no name is given for the operation {name}", operation=name)
        return self._names[cls]


def _role_item(role: OperationRole) -> object:
    if isinstance(role, Linearized):
        return {"active": list(role.active_mask), "transposed": role.transposed}
    return None


def _block(name: str, items: Iterable[str]) -> Iterator[str]:
    lines = [*items]
    yield f'"{name}": ['
    yield from (f"{line}," for line in lines[:-1])
    yield from lines[-1:]
    yield "],"

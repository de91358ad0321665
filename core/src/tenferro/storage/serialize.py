"""Graphs and programs as text: ``to_json`` and ``from_json``.

A text names operations; which class a name means is decided by the caller of ``from_json``, so
loading runs no code from a file. One equation per line, no recursion over depth, memory in
proportion to the text. Arrays are stored next to it (``npy.py``). The fragments that loops and
branches have as parameters stand in one table, each after those that it contains; a text with such
a table is of schema 2, any other of schema 1. Not written: source lines and the operands of inputs.
Read next: ``digest.py``.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from itertools import accumulate, chain, pairwise
from typing import Any, TypeVar

from tenferro._runtime.collector import CollectorPaused
from tenferro._runtime.records import NamedTuple
from tenferro.computegraph._compile import CompiledProgram, from_instructions
from tenferro.computegraph._errors import SerializationError
from tenferro.computegraph._fragment import Fragment, fragment
from tenferro.computegraph._graph import FlatNode, Graph, flat_form, from_flat, leaf_name
from tenferro.computegraph._materialize import MaterializedGraph, from_rows
from tenferro.computegraph._operation import Operation, canonical, infer
from tenferro.computegraph._roles import PRIMARY, Linearized, OperationRole
from tenferro.storage.npy import StoredArray
from tenferro.storage.values import (
    Codecs,
    ValueReader,
    ValueWriter,
    brief,
    dump,
    malformed,
    parse,
)

SCHEMA = 2
_WITHOUT_FRAGMENTS = 1
_FORMAT = "tenferro.computegraph"

Writable = Graph | MaterializedGraph | CompiledProgram
Operations = Mapping[str, type[Operation]]


def to_json(
    graph: Writable,
    *,
    operations: Operations | None = None,
    codecs: Codecs | None = None,
    arrays: MutableMapping[str, StoredArray] | None = None,
) -> str:
    """Write a closed graph, a materialized graph or a program as text.

    An operation is written by the name that ``operations`` gives its class, by default its
    ``key``, or ``name`` where it has none. Arrays among the parameters are put into ``arrays``
    under the sha256 of their npy file; store them next to the text with ``write_npy``.

    Inputs of a program, and of a materialized graph where no codec knows them, are named by text.
    A fragment is written with all its operations; one that contains derivative rules of the user
    cannot be written.

    Raises SerializationError: for a type without a codec, and for two classes of one name.

    >>> class Scale(Operation):
    ...     by: float
    >>> graph = from_flat([("x", None)], [(Scale(2.0), (0,), PRIMARY)], [1])
    >>> again = from_json(to_json(graph), operations={"scale": Scale})
    >>> again.output_keys[0] is graph.output_keys[0]
    True
    """
    with CollectorPaused():
        return "\n".join(_Writer(operations, codecs, arrays).document(graph)) + "\n"


def from_json(
    text: str | bytes,
    *,
    operations: Operations,
    codecs: Codecs | None = None,
    arrays: Mapping[str, StoredArray] | None = None,
) -> Any:
    """Read what ``to_json`` wrote; only the classes in ``operations`` are ever called.

    Raises SerializationError: for another schema, an unknown operation or tag, a missing array,
    a malformed text. Its fields name the culprit.
    """
    with CollectorPaused():
        return _Reader(operations, codecs, arrays).document(parse(text))


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


class _Writer:
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
        schema = SCHEMA if fragments else _WITHOUT_FRAGMENTS
        yield f'{{"format": "{_FORMAT}", "schema": {schema}, "kind": "{form.kind}",'
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


class _Reader:
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
            if document["schema"] != _WITHOUT_FRAGMENTS:
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
        flat_rows = list(_rows(nodes, len(names), slots))
        placed = dict(zip(slots, values, strict=True))
        parts = [slots[i] for i in outputs], [placed[i] for i in range(len(values))]
        if document["kind"] == "program":
            return from_instructions(names, flat_rows, *parts)
        inputs = list(zip(names, values, strict=False))
        return from_rows(inputs, [(*row, None) for row in flat_rows], *parts)

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
    if type(document) is not dict or document.get("format") != _FORMAT:
        raise SerializationError(f"this is not a text of {_FORMAT}", schema=None, need=SCHEMA)
    schema, kind = document.get("schema"), document.get("kind")
    if type(schema) is not int or not _WITHOUT_FRAGMENTS <= schema <= SCHEMA:
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


def _role_item(role: OperationRole) -> object:
    if isinstance(role, Linearized):
        return {"active": list(role.active_mask), "transposed": role.transposed}
    return None


def _role(item: Any) -> OperationRole:
    if item is None:
        return PRIMARY
    if type(item) is not dict or item.keys() != {"active", "transposed"}:
        malformed("roles", item)
    mask, transposed = item["active"], item["transposed"]
    if type(mask) is not list or any(type(flag) is not bool for flag in [*mask, transposed]):
        malformed("roles", item)
    return Linearized(tuple(mask), transposed)


def _block(name: str, items: Iterable[str]) -> Iterator[str]:
    lines = [*items]
    yield f'"{name}": ['
    yield from (f"{line}," for line in lines[:-1])
    yield from lines[-1:]
    yield "],"


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

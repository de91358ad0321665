"""Value keys: interned structural identity of the values of all graphs.

A key is an input (a name and an abstract value) or the output slot of an operation applied to
keys in a role. Equal structure gives the *same object*: hashing and comparing are by identity and
cost nothing. The table holds keys weakly, and a key holds its inputs, so a graph lives as long as
somebody holds its outputs. No recursion: chains of any length are built and freed (CPython 3.13
needs a C stack of 1 MiB in the thread that frees one; threads have 8 MiB by default on Linux).

A key also has room for what upper layers know of it and what is not identity: the operand once it
is known, the open traces it depends on, where it was recorded. Read next: ``_graph.py``.
"""

from __future__ import annotations

from _weakref import _remove_dead_weakref  # type: ignore[attr-defined]  # the atomic removal that `weakref` itself uses
from collections.abc import Hashable, Sequence
from itertools import count
from threading import RLock
from typing import Any
from weakref import ref

from tenferro.computegraph._errors import GraphError
from tenferro.computegraph._gc import STRIDE, watch_growth
from tenferro.computegraph._operation import Operation, canonical, infer
from tenferro.computegraph._roles import PRIMARY, OperationRole

Definition = tuple[Any, ...]  # (operation, role, slot, *input keys); also the key of the table


class _Unknown:
    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __reduce__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()
NO_TRACES: frozenset[Any] = frozenset()
_serials = count()
_next_look = STRIDE  # serial
_retiring = RLock()


class ValueKey:
    """Identity of one value; make one with ``input_key`` or ``derive``."""

    __slots__ = (
        "__weakref__",
        "aval",
        "definition",
        "depth",
        "identity",
        "operand",
        "serial",
        "source",
        "traces",
    )

    aval: Any
    definition: Definition | None  # None: a leaf
    identity: Hashable  # of a leaf: its input key
    operand: Any
    traces: frozenset[Any]
    source: Any
    depth: int  # distance from known values
    serial: int  # creation order

    @property
    def is_input(self) -> bool:
        """Whether this is a leaf."""
        return self.definition is None

    @property
    def is_cut(self) -> bool:
        """Whether a program takes this value as an input, because its operand is known.

        Literals are never taken so: they are part of programs, known or not, and one literal is
        shared by all who need it.
        """
        if self.operand is UNKNOWN:
            return False
        definition = self.definition
        return definition is None or not definition[0].literal

    @property
    def input_key(self) -> Hashable:
        """The name under which a leaf was made."""
        return self.identity

    @property
    def operation(self) -> Operation | None:
        """The operation that defines this value; ``None`` for a leaf."""
        definition = self.definition
        return None if definition is None else definition[0]

    @property
    def role(self) -> OperationRole:
        """The role of the defining node; ``PRIMARY`` for a leaf."""
        definition = self.definition
        return PRIMARY if definition is None else definition[1]

    @property
    def slot(self) -> int:
        """Which output of its operation this value is."""
        definition = self.definition
        return 0 if definition is None else definition[2]

    @property
    def inputs(self) -> tuple[ValueKey, ...]:
        """The keys that the defining operation is applied to."""
        definition = self.definition
        return () if definition is None else definition[3:]

    def __repr__(self) -> str:
        definition = self.definition
        what = str(self.identity) if definition is None else f"{definition[0].name} …"
        suffix = "" if self.aval is None else f": {self.aval}"
        return f"<{what[:80]}{suffix}>"

    def __reduce__(self) -> tuple[object, ...]:
        raise GraphError("a value key cannot be pickled alone; serialize its graph instead")


class _Ref(ref[ValueKey]):
    """A weak reference that knows its place in the table."""

    __slots__ = ("entry",)
    entry: Hashable


_table: dict[Hashable, _Ref] = {}


def _forget(dead: _Ref) -> None:
    _remove_dead_weakref(_table, dead.entry)


def _intern(entry: Hashable, key: ValueKey) -> ValueKey:
    """The key in the table under ``entry``: ``key`` itself unless another thread was faster."""
    reference = _Ref(key, _forget)
    reference.entry = entry
    while True:
        there = _table.setdefault(entry, reference)
        if there is reference:
            return key
        other = there()
        if other is not None:
            return other
        _remove_dead_weakref(_table, entry)


def input_key(identity: Hashable, aval: Any = None) -> ValueKey:
    """The key of an input: one object per (identity, aval) while anybody holds it.

    >>> input_key("x") is input_key("x")
    True
    """
    entry = (canonical(identity), canonical(aval))
    found = _table.get(entry)
    key = None if found is None else found()
    return _intern(entry, new_leaf(identity, aval)) if key is None else key


def new_leaf(identity: Hashable, aval: Any) -> ValueKey:
    """A leaf outside the table, for identities that are unique by construction."""
    key = ValueKey()
    key.aval = aval
    key.definition = None
    key.identity = identity
    key.operand = UNKNOWN
    key.traces = NO_TRACES
    key.source = None
    key.depth = 0
    key.serial = next(_serials)
    return key


def derive(
    operation: Operation, inputs: Sequence[ValueKey], role: OperationRole = PRIMARY
) -> tuple[ValueKey, ...]:
    """The keys of all outputs of an operation applied to keys in a role.

    Raises GraphError: if the number of inputs is not what the operation takes.
    """
    if operation.output_count == 1:
        return (derive_one(operation, inputs, role),)
    return tuple(
        _derive_slot(operation, inputs, role, slot) for slot in range(operation.output_count)
    )


def derive_one(
    operation: Operation, inputs: Sequence[ValueKey], role: OperationRole = PRIMARY
) -> ValueKey:
    """``derive`` for an operation of one output."""
    entry = (operation, role, 0, *inputs)
    found = _table.get(entry)
    if found is not None:
        there = found()
        if there is not None:
            return there
    return _new_derived(operation, inputs, entry, 0)


def derive_at(definition: Definition, aval: Any) -> ValueKey:
    """``derive_one`` where the aval is known: of inputs with the avals of an earlier call."""
    found = _table.get(definition)
    if found is not None:
        there = found()
        if there is not None:
            return there
    depth = 0
    traces = NO_TRACES
    for value in definition[3:]:
        if value.depth > depth:
            depth = value.depth
        if value.traces is not traces and value.traces:
            traces = join_traces(traces, value.traces) if traces else value.traces
    return _new_key(definition, aval, depth + 1, traces)


def _new_key(definition: Definition, aval: Any, depth: int, traces: frozenset[Any]) -> ValueKey:
    """A key that is not in the table yet, put there."""
    key = ValueKey()
    key.aval = aval
    key.definition = definition
    key.identity = None
    key.operand = UNKNOWN
    key.traces = traces if not traces or definition[0].carries(aval) else NO_TRACES
    key.source = None
    key.depth = depth
    key.serial = serial = next(_serials)
    if serial > _next_look:
        _look(serial)
    reference = _Ref(key, _forget)
    reference.entry = definition
    there = _table.setdefault(definition, reference)
    return key if there is reference else _intern(definition, key)


def _look(serial: int) -> None:
    """Tell the collector how many keys there are now."""
    global _next_look
    _next_look = serial + STRIDE
    watch_growth(len(_table))


def _derive_slot(
    operation: Operation, inputs: Sequence[ValueKey], role: OperationRole, slot: int
) -> ValueKey:
    entry = (operation, role, slot, *inputs)
    found = _table.get(entry)
    key = None if found is None else found()
    return _new_derived(operation, inputs, entry, slot) if key is None else key


def _new_derived(
    operation: Operation, inputs: Sequence[ValueKey], definition: Definition, slot: int
) -> ValueKey:
    needed = operation.input_count
    if needed != len(inputs) and needed is not None:
        raise GraphError(
            f"{operation.name} takes {needed} inputs, got {len(inputs)}", operation=operation
        )
    if len(inputs) == 1:
        value = inputs[0]
        given: tuple[Any, ...] = (value.aval,)
        depth, traces = value.depth, value.traces
    else:
        given, depth, traces = _joined(inputs)
    memo = operation.__dict__.get("_inferred")
    avals = None if memo is None else memo.get(given)
    aval = (infer(operation, given) if avals is None else avals)[slot]
    return _new_key(definition, aval, depth + 1, traces)


def _joined(inputs: Sequence[ValueKey]) -> tuple[tuple[Any, ...], int, frozenset[Any]]:
    """Avals, greatest depth and open traces of several keys."""
    depth = 0
    traces = NO_TRACES
    given = []
    for value in inputs:
        given.append(value.aval)
        if value.depth > depth:
            depth = value.depth
        if value.traces is not traces and value.traces:
            traces = join_traces(traces, value.traces) if traces else value.traces
    return tuple(given), depth, traces


def join_traces(left: frozenset[Any], right: frozenset[Any]) -> frozenset[Any]:
    """The open traces of both sets, and sealed ones: what depends on a closed one is lost."""
    joined = left | right
    if all(trace.open for trace in joined):
        return joined if len(joined) > len(right) else right
    return frozenset(t for t in joined if t.open or getattr(t, "sealed", ""))


def retire(key: ValueKey) -> None:
    """Turn an evaluated key into a leaf in place and drop its history.

    Its operand must be stored already, because readers walk concurrently. A literal has no history
    to drop and stays what it is.
    """
    with _retiring:  # two threads that retire one key must not both clear its place in the table
        definition = key.definition
        if definition is None or definition[0].literal:
            return
        key.identity = ("value", key.serial)
        key.definition = None
        key.depth = 0
        there = _table.get(definition)
        if there is not None and there() is key:
            _table.pop(definition, None)
    del definition  # frees the history, outside the lock


def table_size() -> int:
    """How many keys are interned now; for tests and diagnostics."""
    return len(_table)

"""Value keys: interned structural identity of the values of all graphs.

A key is an input (a name and an abstract value) or the output slot of an operation applied to keys
in a role. Equal structure gives the *same object*: hashing and comparing are by identity and cost
nothing. A key holds its inputs strongly (an operation with several outputs holds them once, in its
``Application``), so a graph lives as long as its outputs are referenced. Its newest input holds it
weakly, so the intern table is spread over the keys. No recursion: chains of any length are built
and freed (CPython 3.13 needs a C stack of 1 MiB in the thread that frees one).
A key also has room for facts other than its identity: operand, open traces, where it was recorded.
Read next: ``_graph.py``.
"""

from __future__ import annotations

import gc
from collections.abc import Hashable, Sequence
from itertools import count
from threading import RLock
from typing import Any
from weakref import ref

from tenferro._runtime.collector import STRIDE, watch_growth
from tenferro._runtime.fork import after_fork_in_child
from tenferro.computegraph._errors import GraphError
from tenferro.computegraph._interning import HAS_GIL, IN_TABLE, VALUES, Users, enter, known
from tenferro.computegraph._operation import Operation, canonical, infer
from tenferro.computegraph._roles import PRIMARY, OperationRole

# (operation, role, slot, *input keys), or (operation, role, slot, application) unless the operation
# has one output; also the key of the table. Read the inputs by `inputs_of`.
Definition = tuple[Any, ...]


class _Unknown:
    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __reduce__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()
NO_TRACES: frozenset[Any] = frozenset()
SHARED_SERIAL = 2**62  # from here on: numbers that many graphs share, and what is made of these
_serials = count()
_next_look = STRIDE  # serial
_retiring = RLock()


def _renew_lock() -> None:
    global _retiring
    _retiring = RLock()


after_fork_in_child(_renew_lock)


class ValueKey:
    """Identity of one value; make one with ``input_key`` or ``derive``."""

    __slots__ = (
        "__weakref__",
        "_users",
        "aval",
        "definition",
        "depth",
        "identity",
        "operand",
        "serial",
        "source",
        "traces",
    )

    _users: Users
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
        """True for a leaf."""
        return self.definition is None

    @property
    def is_cut(self) -> bool:
        """True if a program takes this value as an input, because its operand is known.

        Literals are never inputs: they are part of programs, known or not, and one literal
        object is shared by all its readers.
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
        """Number of this value among the outputs of its operation."""
        definition = self.definition
        return 0 if definition is None else definition[2]

    @property
    def inputs(self) -> tuple[ValueKey, ...]:
        """The keys that the defining operation is applied to."""
        definition = self.definition
        return () if definition is None else inputs_of(definition)

    def __repr__(self) -> str:
        definition = self.definition
        what = str(self.identity) if definition is None else f"{definition[0].name} …"
        suffix = "" if self.aval is None else f": {self.aval}"
        return f"<{what[:80]}{suffix}>"

    def __reduce__(self) -> tuple[object, ...]:
        raise GraphError("a value key cannot be pickled alone; serialize its graph instead")


class Application(ValueKey):
    """An operation with several outputs, applied to keys in a role; made by ``apply_operation``.

    Its definition is (operation, role, ``_ALL_OUTPUTS``, inputs), its aval a tuple of the outputs'
    avals. It is interned as keys are, but it is not a value: no graph shows it, and ``postorder``
    does not list it. Its outputs keep it alive.
    """

    __slots__ = ()

    @property
    def inputs(self) -> tuple[ValueKey, ...]:
        """The keys that the operation is applied to."""
        inputs: tuple[ValueKey, ...] = self.definition[3]  # type: ignore[index]  # never a leaf
        return inputs

    @property
    def outputs(self) -> tuple[ValueKey, ...]:
        """The keys of all outputs."""
        return tuple(map(self.output, range(len(self.aval))))

    @property
    def living_outputs(self) -> list[ValueKey]:
        """The outputs that something refers to and that are not leaves by now."""
        users = self._users
        if users is None:
            return []
        found = [known(users, self._definition_of(slot)) for slot in range(len(self.aval))]
        return [key for key in found if key is not None]

    def output(self, slot: int) -> ValueKey:
        """Intern one output."""
        definition = self._definition_of(slot)
        users = self._users
        there: ValueKey | None = None if users is None else known(users, definition)
        if there is None:
            there = _new_key(definition, self.aval[slot], self.depth, self.traces, self, users)
        return there

    def _definition_of(self, slot: int) -> Definition:
        operation, role, _, _ = self.definition  # type: ignore[misc]  # never a leaf
        return (operation, role, slot, self)


_ALL_OUTPUTS = -1


def inputs_of(definition: Definition) -> tuple[ValueKey, ...]:
    """Return the keys that an operation is applied to, in time that the outputs share."""
    if len(definition) == 4:
        only = definition[3]
        if type(only) is Application:
            return only.inputs
    return definition[3:]


def outputs_of(key: ValueKey, definition: Definition) -> tuple[ValueKey, ...]:
    """Return all outputs of the operation that makes a key."""
    if definition[0].output_count == 1:
        return (key,)
    application: Application = definition[3]
    return application.outputs


def _anchor_of(definition: Definition) -> ValueKey:
    """Return the newest input, which holds the value of this definition weakly."""
    if len(definition) == 5:
        x: ValueKey = definition[3]
        y: ValueKey = definition[4]
        return x if x.serial > y.serial else y
    return _newest(definition[3:])


def _newest(inputs: Sequence[ValueKey]) -> ValueKey:
    """Return the input that was made last; a stand-in if there is none."""
    found, serial = _NO_INPUT, -1
    for value in inputs:
        if value.serial > serial:
            found, serial = value, value.serial
    return found


def input_key(identity: Hashable, aval: Any = None) -> ValueKey:
    """Return the key of an input: one object per (identity, aval) as long as it is referenced.

    >>> input_key("x") is input_key("x")
    True
    """
    entry = (canonical(identity), canonical(aval))
    key: ValueKey | None = VALUES.get(entry)
    return VALUES.intern(entry, new_leaf(identity, aval)) if key is None else key


def new_leaf(identity: Hashable, aval: Any) -> ValueKey:
    """Make a leaf outside the table, for identities that are unique by construction."""
    key = ValueKey()
    key.aval = aval
    key.definition = None
    key.identity = identity
    key.operand = UNKNOWN
    key.traces = NO_TRACES
    key.source = None
    key.depth = 0
    key.serial = next(_serials)
    key._users = None
    return key


_NO_INPUT = new_leaf(None, None)  # instead of an input for values that have none
_NO_INPUT._users = IN_TABLE


def derive(
    operation: Operation, inputs: Sequence[ValueKey], role: OperationRole = PRIMARY
) -> tuple[ValueKey, ...]:
    """Return the keys of all outputs of an operation applied to keys in a role.

    Raises GraphError: if the number of inputs is not what the operation takes.
    """
    if operation.output_count == 1:
        return (derive_one(operation, inputs, role),)
    return apply_operation(operation, inputs, role).outputs


def apply_operation(
    operation: Operation, inputs: Sequence[ValueKey], role: OperationRole = PRIMARY
) -> Application:
    """Intern the application of an operation that does not have exactly one output.

    Raises GraphError: if the number of inputs is not what the operation takes.
    """
    inputs = tuple(inputs)
    definition = (operation, role, _ALL_OUTPUTS, inputs)
    anchor = _newest(inputs)
    users = anchor._users
    there: Any = None if users is None else known(users, definition)
    if there is None:
        if operation.input_count not in (None, len(inputs)):
            raise _wrong_count(operation, len(inputs))
        given, depth, traces = _joined(inputs)
        avals = infer(operation, given)
        there = _new_key(definition, avals, depth + 1, traces, anchor, users, Application)
    application: Application = there
    return application


def _wrong_count(operation: Operation, count: int) -> GraphError:
    """Make the error for a number of inputs that the operation does not take."""
    return GraphError(
        f"{operation.name} takes {operation.input_count} inputs, got {count}", operation=operation
    )


def derive_again(definition: Definition, found: dict[ValueKey, ValueKey]) -> ValueKey | None:
    """Derive a value again with other inputs; ``None`` if none of its inputs is replaced.

    ``found`` maps keys to what replaces them. Applications are added to it, so that the outputs of
    one operation are not looked into one by one.
    """
    operation, role, slot = definition[:3]
    inputs: tuple[ValueKey, ...] = definition[3:]
    if operation.output_count == 1:
        if not any([x in found for x in inputs]):
            return None
        return derive_one(operation, [found.get(x, x) for x in inputs], role)
    application: Any = inputs[0]
    if application not in found:
        inputs, other = application.inputs, application
        if any([x in found for x in inputs]):
            other = apply_operation(operation, [found.get(x, x) for x in inputs], role)
        found[application] = other
    replaced: Any = found[application]
    return None if replaced is application else replaced.output(slot)


def derive_at(definition: Definition, aval: Any) -> ValueKey:
    """``derive_one`` where the aval is known: of inputs with the avals of an earlier call."""
    if len(definition) == 5:
        anchor: ValueKey = definition[3]
        other: ValueKey = definition[4]
        depth, traces = anchor.depth, anchor.traces
        if other.depth > depth:
            depth = other.depth
        if other.traces is not traces and other.traces:
            traces = join_traces(traces, other.traces) if traces else other.traces
        if other.serial > anchor.serial:
            anchor = other
    elif len(definition) == 4:
        anchor = definition[3]
        depth, traces = anchor.depth, anchor.traces
    else:
        anchor = _anchor_of(definition)
        _, depth, traces = _joined(definition[3:])
    users = anchor._users
    if users is not None:
        there: ValueKey | None = known(users, definition)
        if there is not None:
            return there
    return _new_key(definition, aval, depth + 1, traces, anchor, users)


def _new_key(
    definition: Definition,
    aval: Any,
    depth: int,
    traces: frozenset[Any],
    anchor: ValueKey,
    users: Users,
    kind: type[ValueKey] = ValueKey,
) -> ValueKey:
    """Make a key and intern it."""
    key = kind()
    key.aval = aval
    key.definition = definition
    key.identity = key.source = key._users = None
    key.operand = UNKNOWN
    if traces and kind is ValueKey and not definition[0].carries(aval):
        traces = NO_TRACES
    key.traces = traces
    key.depth = depth
    key.serial = serial = next(_serials)
    if serial > _next_look:
        _look(key)
    if users is None and HAS_GIL:  # as `enter`, and most often
        reference = ref(key)
        anchor._users = anchor._users or reference
        if anchor._users is reference:
            return key
    return enter(key, definition, anchor, users)


def _look(key: ValueKey) -> None:
    """Show the collector one of many keys."""
    global _next_look
    _next_look = key.serial + STRIDE
    watch_growth(ref(key))


def derive_one(
    operation: Operation, inputs: Sequence[ValueKey], role: OperationRole = PRIMARY
) -> ValueKey:
    """``derive`` for an operation that has one output."""
    definition = (operation, role, 0, *inputs)
    count = len(inputs)
    if count == 2:
        anchor, other = inputs
        if other.serial > anchor.serial:
            anchor = other
    else:
        anchor = inputs[0] if count == 1 else _anchor_of(definition)
    users = anchor._users
    if users is not None:
        there: ValueKey | None = known(users, definition)
        if there is not None:
            return there
    needed = operation.input_count
    if needed != count and needed is not None:
        raise _wrong_count(operation, count)
    if count == 1:
        given: tuple[Any, ...] = (anchor.aval,)
        depth, traces = anchor.depth, anchor.traces
    else:
        given, depth, traces = _joined(inputs)
    memo = operation.__dict__.get("_inferred") if given else None
    avals = None if memo is None else memo.get(given)
    aval = (infer(operation, given) if avals is None else avals)[0]
    return _new_key(definition, aval, depth + 1, traces, anchor, users)


def _joined(inputs: Sequence[ValueKey]) -> tuple[tuple[Any, ...], int, frozenset[Any]]:
    """Return the avals, the greatest depth and the joint open traces of several keys."""
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
    """Return the open traces of both sets, and sealed ones; closed ones are dropped."""
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
        VALUES.discard(definition, key)
    del definition  # frees the history, outside the lock


def table_size() -> int:
    """Count the interned keys; for tests and diagnostics, since it visits all objects."""
    leaves = [entry for entry in VALUES.entries() if len(entry) == 2]
    keys = [each for each in gc.get_objects() if type(each) is ValueKey]
    return len(leaves) + len([key for key in keys if key.definition is not None])

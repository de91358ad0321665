"""Value keys: interned structural identity of the values of all graphs, and facts about them.

A key is an input (a name and an abstract value) or the output slot of an operation applied to keys
in a role. Equal structure gives the *same object*: hashing and comparing are by identity and cost
nothing. A key holds its inputs strongly (several outputs hold them once, in an ``Application``), so
a graph lives as long as its outputs are referenced. Its newest input holds it weakly, so the intern
table is spread over the keys. An evaluated key becomes a leaf in place (``retire``): it drops its
inputs, and an equal key made later is another object. No recursion: chains of any length are built
and freed (CPython 3.13 needs a C stack of 1 MiB there). Read next: ``_derive.py``.
"""

from __future__ import annotations

import gc
from collections.abc import Hashable
from itertools import count
from threading import RLock
from typing import Any
from weakref import ref

from tenferro._runtime.collector import STRIDE, watch_growth
from tenferro._runtime.fork import after_fork_in_child
from tenferro.computegraph._canonical import canonical
from tenferro.computegraph._errors import GraphError
from tenferro.computegraph._interning import HAS_GIL, VALUES, Users, enter, known
from tenferro.computegraph._operation import Operation
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
LENT: set[Any] = set()  # the memos that calls have now, of all threads
SHARED_SERIAL = 2**62  # first serial of numbers that graphs share, and of what reads only these
_serials = count()
_next_sample = STRIDE  # serial of the next key that the collector is shown
_retiring = RLock()


def _renew_lock() -> None:
    global _retiring
    _retiring = RLock()


after_fork_in_child(_renew_lock)


class ValueKey:
    """Identity of one value; make one with ``input_key``, or ``derive`` of ``_derive.py``."""

    __slots__ = (
        "__weakref__",
        "_users",
        "aval",
        "definition",
        "depth",
        "identity",
        "memo",
        "noted",
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
    memo: Any  # what remembers the values that are made of it; None for most keys
    noted: Any  # by the last transform that met it, and weakly; None for most keys
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

    Its definition is (operation, role, -1, inputs), its aval a tuple of the outputs' avals. It is
    interned as keys are, but it is not a value: no graph shows it, and ``postorder`` does not list
    it. Its outputs keep it alive.
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
            there = new_key(definition, self.aval[slot], self.depth, self.traces, self, users)
        return there

    def _definition_of(self, slot: int) -> Definition:
        operation, role, _, _ = self.definition  # type: ignore[misc]  # never a leaf
        return (operation, role, slot, self)


def inputs_of(definition: Definition) -> tuple[ValueKey, ...]:
    """Return the keys that an operation is applied to."""
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


def input_key(identity: Hashable, aval: Any = None) -> ValueKey:
    """Return the key of an input: one object per (identity, aval) as long as it is referenced.

    >>> from tenferro.computegraph import input_key
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
    key.source = key.memo = key.noted = None
    key.depth = 0
    key.serial = next(_serials)
    key._users = None
    return key


def new_key(
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
    key.identity = key.source = key.noted = key._users = None
    key.memo = anchor.memo
    if LENT and key.memo is None:  # the newest input may be a number that graphs share
        key.memo = _memo_of(definition)
    key.operand = UNKNOWN
    if traces and kind is ValueKey and not definition[0].carries(aval):
        traces = NO_TRACES
    key.traces = traces
    key.depth = depth
    key.serial = serial = next(_serials)
    if serial > _next_sample:
        _show_to_collector(key)
    if users is None and HAS_GIL:  # the common case of `enter`, inlined
        reference = ref(key)
        anchor._users = anchor._users or reference
        if anchor._users is reference:
            return key
    return enter(key, definition, anchor, users)


def _memo_of(definition: Definition) -> Any:
    """Return the memo of an input."""
    last = definition[-1]
    for value in last if type(last) is tuple else definition[3:]:
        if value.memo is not None:
            return value.memo
    return None


def _show_to_collector(key: ValueKey) -> None:
    """Let the collector watch one of ``STRIDE`` keys."""
    global _next_sample
    _next_sample = key.serial + STRIDE
    watch_growth(ref(key))


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

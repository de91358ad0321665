"""Memo of a recorded function: the values that its last calls made, found again by how they came.

A transform without ``jit`` runs the user's function at each call. From the second call on it gives
the function the same leaves, with other operands, and the values that operations made of them are
kept. An operation on kept values then is a look-up: by its name, its operands and its numbers. A
look-up that finds nothing records the value, and what it records is found the next time, so that
another path through the function costs no more than it did.

A transform that the function applies to such values gets the same pins, or placeholders of
examples, at each call: a `Nested` for each transform, in the order in which a call applies them.
What the transform emits is found by the values that it reads.

Only values are remembered whose recording looked at no operand. A call may look at values
(``if x > 0``, ``table[index]`` of NumPy): they are computed, and noted in the memo until the call
ends, while their keys stay unknown, since keys serve later calls. So a number that the function
reads can reach the recording in two ways alone: as an array that the call captures, which is read
anew each time, and as the branch that it takes. A memo belongs to one call at a time;
``transforms/recording/memos.py`` lends it, and ends it where anybody kept one of its values.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays.handle.held_keys import HeldKeys, keys_in
from tenferro.computegraph import UNKNOWN, MaterializedGraph, ValueKey, new_leaf
from tenferro.computegraph._keys import NO_TRACES, SHARED_SERIAL
from tenferro.primitives._handle import Handle

Entry = tuple[Any, ...]  # a function, and what it was called with
MAX_ENTRIES = 8192
MAX_SEEN = 32  # values that a call has looked at before; further looks are not remembered
_VARIES = -1
_NUMBERS = frozenset((int, float, bool))
_INTEGERS = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
_BARE = frozenset((str, type, type(None), type(Ellipsis)))


class MemoLeaf(ValueKey):
    """A leaf that gets another operand at each call; its memo counts who reads it."""

    __slots__ = ("held",)
    held: Any

    @property
    def operand(self) -> Any:
        """The operand of the present call."""
        self.memo.looks += 1
        return self.held

    @operand.setter
    def operand(self, operand: Any) -> None:
        self.held = operand


def memo_leaf(identity: Hashable, aval: Any, traces: frozenset[Any], memo: Memo) -> MemoLeaf:
    """Make a leaf of a memo."""
    leaf = MemoLeaf()
    leaf.aval, leaf.identity, leaf.traces, leaf.memo = aval, identity, traces, memo
    leaf.definition = leaf.source = leaf._users = None
    leaf.depth, leaf.serial, leaf.held = 0, new_leaf(None, None).serial, UNKNOWN
    memo.leaves += 1
    return leaf


class Nested(NamedTuple):
    """Pins of one transform inside of a remembered function, and the trace that is open then.

    ``number`` counts the transforms of a call. Two of one call never share pins: what the first one
    leaves behind must be constant for the second one.
    """

    number: int
    trace: Any
    pins: list[ValueKey]


def held_by(key: ValueKey) -> Any:
    """Return the operand of a key, or UNKNOWN; this does not count as a look."""
    if type(key) is MemoLeaf:
        return key.held
    if key.operand is UNKNOWN and key.memo is not None:
        return key.memo.seen_values.get(key, UNKNOWN)
    return key.operand


def looked_at(key: ValueKey) -> Any:
    """Return the operand of a key that is known; its memo counts that it was read."""
    operand = key.operand
    if operand is UNKNOWN and key.memo is not None:
        key.memo.looks += 1
        return key.memo.seen_values.get(key, UNKNOWN)
    return operand


class Memo:
    """The values that one function recorded, by the calls that made them.

    ``looks`` counts reads of operands. ``is_spoiled``: a kept value was computed, and belongs to
    the present call. ``recordings`` holds the signatures of results, ``derivatives`` what nested
    transforms made of their values. ``traces`` are those of values that depend on the leaves,
    ``all_traces`` those of nested transforms too. ``forms`` are calls without their numbers, with
    the call of the function that had each first, or `_VARIES`. ``moves``: positions are captured
    now. ``seen_values`` are the values that the present call has looked at; those in ``cut`` depend
    on no open trace, so that programs take them as inputs. ``programs`` are the graphs that looks
    have run, and the values that these compute.
    """

    __slots__ = (
        "_captured", "_held_keys", "_nested", "_nested_count", "_seen", "all_traces", "calls",
        "cut", "derivatives", "entries", "forms", "is_spoiled", "leaves", "looks", "moves",
        "programs", "recordings", "seen_values", "traces",
    )  # fmt: skip

    def __init__(self, traces: frozenset[Any]) -> None:
        self.entries: dict[Entry, tuple[ValueKey, Any]] = {}
        self.forms: dict[Entry, int] = {}
        self.recordings: dict[Entry, Any] = {}
        self.derivatives: dict[Entry, Sequence[ValueKey]] = {}
        self.programs: dict[Entry, tuple[MaterializedGraph, Sequence[ValueKey]]] = {}
        self._nested: dict[Entry, Nested] = {}
        self._nested_count = 0  # in the present call
        self._captured: dict[Any, list[MemoLeaf]] = {}  # by aval, in the order of their capture
        self._seen: dict[Hashable, tuple[MemoLeaf, Any]] = {}  # in the present call
        self.seen_values: dict[ValueKey, Any] = {}
        self.cut: dict[ValueKey, None] = {}
        self._held_keys = HeldKeys()
        self.traces = self.all_traces = traces
        self.leaves = self.looks = self.calls = 0
        self.is_spoiled = self.moves = False

    def end(self) -> None:
        """Forget everything, and keep nothing from now on."""
        self.is_spoiled = True
        self.seen_values.clear()
        self.cut.clear()
        self.entries.clear()
        self.forms.clear()
        self.recordings.clear()
        self.derivatives.clear()
        self.programs.clear()
        self._nested.clear()
        self._captured.clear()
        self._seen.clear()
        self._held_keys.clear()

    @property
    def size(self) -> int:
        """Number of entries and leaves."""
        recorded = len(self.entries) + len(self.forms) + len(self.recordings)
        made = len(self.derivatives) + len(self.programs) + len(self._nested)
        return recorded + made + self.leaves

    @property
    def held(self) -> Iterator[ValueKey]:
        """The keys that entries hold, as often as they do."""
        for entry, (result, _) in self.entries.items():
            yield from keys_in(entry)
            yield result
        for form in self.forms:
            yield from keys_in(form)
        for entry, (_, leaves) in self.recordings.items():
            yield from keys_in(entry)
            yield from leaves
        for entry, results in self.derivatives.items():
            yield from keys_in(entry)
            yield from results
        for entry, (graph, outputs) in self.programs.items():
            yield from keys_in(entry)
            yield from graph.inputs
            yield from outputs
        for entry, nested in self._nested.items():
            yield from keys_in(entry)
            yield from nested.pins

    def varies(self, form: Entry) -> bool:
        """Return True if an earlier call of the function had other numbers in a call of this form.

        Such a number becomes a leaf that each call binds, so that the operation and all later ones
        are found whatever its value is.
        """
        first = self.forms.setdefault(form, self.calls)
        if first != _VARIES and first != self.calls:
            self.forms[form] = first = _VARIES
        return first == _VARIES

    @property
    def captured(self) -> Iterator[MemoLeaf]:
        """All leaves of arrays that were captured."""
        return chain.from_iterable(self.captured_leaves)

    @property
    def captured_leaves(self) -> Iterable[list[MemoLeaf]]:
        """The leaves of arrays that were captured, by their avals."""
        return self._captured.values()

    def seen(self, token: Hashable) -> tuple[MemoLeaf, Any] | None:
        """Return the leaf of an array that this call has captured, and the array's owner."""
        found = self._seen.get(token)
        self.looks += found is not None
        return found

    def capture(
        self, token: Hashable, owner: Any, aval: Any, operand: Any, name: Hashable, newest: bool
    ) -> MemoLeaf:
        """Bind the next leaf of an aval to a captured array.

        The leaves follow one another as in the last call. ``newest``: the leaf counts as newer than
        all others, as small arrays do that graphs share. What a function captures on its own is a
        look: if the function were not called, the leaf would not be bound.
        """
        leaves = self._captured.setdefault((aval, newest), [])
        taken = self._seen.get((aval, newest))
        place = 0 if taken is None else taken[1]
        if place == len(leaves):
            leaf = memo_leaf(name, aval, NO_TRACES, self)
            leaf.serial += SHARED_SERIAL if newest else 0
            leaves.append(leaf)
        leaf = leaves[place]
        leaf.held = operand
        self.looks += 1
        self._seen[aval, newest] = leaf, place + 1
        if token is not None:
            self._seen[token] = leaf, owner
        return leaf

    def look(self, key: ValueKey, operand: Any, is_cut: bool) -> None:
        """Note the value of a key for the present call."""
        self.seen_values[key] = operand
        if is_cut:
            self.cut[key] = None

    def entry_of_look(self, key: ValueKey) -> Entry | None:
        """Return what names a look of the present call; None if it has looked at many values."""
        return (key, *self.seen_values) if len(self.seen_values) <= MAX_SEEN else None

    def keep_program(
        self, key: ValueKey, graph: MaterializedGraph, outputs: Sequence[ValueKey]
    ) -> None:
        """Keep what a look has run, if it reads and computes values of this memo alone."""
        entry = self.entry_of_look(key)
        is_own = all([leaf.memo is self or is_constant(leaf) for leaf in graph.inputs])
        if entry is not None and is_own and all([value.memo is self for value in outputs]):
            self.programs[entry] = graph, outputs

    def times_held(self) -> Mapping[int, int]:
        """Return how often this memo holds each key, by the key's id.

        Other references to a key are those of a handle, of a pending value or of a nested
        transform.
        """
        return self._held_keys.counts(self.entries, self.forms)

    def list_values(self, values: Sequence[ValueKey]) -> None:
        """Note that a list holds these values until the memo ends."""
        self._held_keys.list_values(values)

    def end_call(self) -> None:
        """Forget what this call captured and looked at, and how many transforms it applied."""
        self._seen.clear()
        self._nested_count = 0
        self.seen_values.clear()
        self.cut.clear()

    def owns(self, key: ValueKey) -> bool:
        """Return True if a value depends on leaves of this memo and on nothing else that varies."""
        traces = key.traces
        return key.memo is self and (traces is self.traces or traces <= self.all_traces)

    def nested(self, what: Entry, new_trace: Callable[[], Any]) -> Nested:
        """Return what the next transform of this call follows: ``what`` names it and its values."""
        self._nested_count += 1
        entry = (self._nested_count, *what)
        found = self._nested.get(entry)
        if found is None:
            found = Nested(self._nested_count, new_trace(), [])
            if not self.is_spoiled:
                self._nested[entry] = found
                self.all_traces |= {found.trace}
        found.trace.open = True
        return found

    def keep(self, entry: Entry, looks: int, result: Any, cls: type[Handle]) -> None:
        """Keep a result, unless its recording read an operand or it depends on another trace."""
        if type(result) is not cls or result.flow or looks != self.looks or self.is_spoiled:
            return
        key = result.key
        if key.definition is None or not key.traces <= self.all_traces:
            return
        if key.operand is UNKNOWN and len(self.entries) < MAX_ENTRIES:
            self.entries[entry] = key, bool(getattr(result, "is_taken", False))


def entry_of(what: Hashable, memo: Memo, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Return the entry of a call; None if something in it cannot be compared."""
    found = [what]
    for x in args:
        if not _add(found, x, memo):
            return None
    for name, x in kwargs.items():
        found.append(name)
        if not _add(found, x, memo):
            return None
    return tuple(found)


def entry_of_index(key: ValueKey, index: Any) -> Any:
    """Return the entry of ``x[index]``; None if the index has more than integers and slices.

    It is the entry that ``entry_of`` makes, in a third of the time: programs read many elements.
    """
    found: list[Any] = ["getitem", key]
    items: Any = (index,)
    if type(index) is tuple:
        found += (tuple, len(index))
        items = index
    for item in items:
        kind = type(item)
        if kind is int:
            found += (int, item or "0")
        elif item is None or item is Ellipsis:
            found.append(item)
        elif kind is not slice or not _add_slice(found, item):
            return None
    return tuple(found)


def _add_slice(found: list[Any], item: slice) -> bool:
    """Add a slice to an entry; return False if a bound is not an integer."""
    found.append(slice)
    for bound in (item.start, item.stop, item.step):
        if bound is None:
            found.append(None)
        elif type(bound) is int:
            found += (int, bound or "0")
        else:
            return False
    return True


def _add(found: list[Any], x: Any, memo: Memo) -> bool:
    """Add an argument to an entry; return False if it cannot be compared."""
    if isinstance(x, Handle):
        key = x.key
        if x.flow or (key.memo is not memo and not is_constant(key)):
            return False
        found.append(key)
        return True
    kind = type(x)
    if kind in _BARE:
        found.append(x)
    elif kind in _NUMBERS:
        found += (kind, x if x else repr(x))  # there are two zeros
    elif kind is tuple or kind is list:
        found += (kind, len(x))
        return all([_add(found, item, memo) for item in x])
    elif kind is slice:
        found.append(kind)
        return all([_add(found, item, memo) for item in (x.start, x.stop, x.step)])
    elif kind.__module__ == "numpy" and kind.__name__ in _INTEGERS:
        found += (kind, int(x))
    else:
        return False
    return True


def is_constant(key: ValueKey) -> bool:
    """Return True if a value of no memo is the same at each call of a function."""
    return key.memo is None and not key.traces


def memo_of(args: Sequence[Any]) -> Memo | None:
    """Return the memo of the first array among arguments that has one, or in the lists there."""
    for x in args:
        if isinstance(x, Handle):
            if x.key.memo is not None:
                memo: Memo = x.key.memo
                return memo
        elif type(x) is list or type(x) is tuple:
            found = memo_of(x)
            if found is not None:
                return found
    return None

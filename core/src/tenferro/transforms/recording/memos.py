"""Memos of functions that transforms run again and again, lent to one call at a time.

The first call of a function on arguments of some avals leaves a mark, the second one makes a memo,
the later ones use it. All functions that one definition makes share it. If they record anew into it
call after call, it fails, and each variant has a memo of its own: see `name_of_variant`. A call
that stores one of its values in a key while it records leaves no mark: with a memo, it would end
the memo. At its end a call checks that nothing else holds a value of the memo: a value that
somebody kept must not see the operands of the next call. Then the operands are let go of, so that
memos hold no data of the user, and the memo waits for the next call.
Read next: ``arrays/handle/memo.py``.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

from tenferro.arrays.handle.convert import aval_of_operand
from tenferro.arrays.handle.memo import Memo, MemoLeaf, memo_leaf
from tenferro.backend._snapshots import is_numpy
from tenferro.computegraph import UNKNOWN, ValueKey
from tenferro.computegraph._interning import HAS_GIL
from tenferro.computegraph._keys import LENT, NO_TRACES
from tenferro.primitives._aval import Aval
from tenferro.tidu import Trace, in_rule

MAX_MEMOS = 64
MAX_CALLED = 4096  # functions whose calls are remembered
MAX_VALUES = 32768  # of all memos together
MAX_CONSTANT_BYTES = 65536  # of arrays that are closed over; a memo holds their copies
_MAX_FAILURES = 12  # of calls in a row; such a name has no memo any more
MAX_VARIANTS = 32  # of a function whose memo failed, with memos of their own
MAX_REFUSED = 512  # calls of further variants, after which others may get memos
_MAX_CAPTURED = 32  # values that are looked at to name the function that captures them
_STATIC = frozenset((int, bool, str, type(None)))
_LEAST_TO_COLLECT = 12  # values; a collection of new objects costs as much as recording some
_GREW = 3  # failures that count for a call that recorded much anew
_LOST = 4  # failures that count for a call that ended its memo


class Lent:
    """The memo of a function: its leaves, and the number of references to each of its values."""

    __slots__ = (
        "codes", "counts", "failures", "first_size", "followed", "has_grown", "memo", "others",
        "refused", "size", "trace", "values", "variants",
    )  # fmt: skip

    def __init__(self, codes: Sequence[object]) -> None:
        self.codes = codes  # held, so that their ids stay their own
        self.failures = 0
        self.variants: set[Hashable] = set()  # names of memos instead of this one, once it failed
        self.refused = 0  # calls of other variants
        self.memo: Memo | None = None
        self.forget()

    def forget(self, lost: bool = False) -> None:
        """End the memo; its values stay what they are, where somebody holds them."""
        self.failures += _LOST if lost else 0
        self.has_grown = False
        if self.memo is not None:
            LENT.discard(self.memo)
            self.memo.end()
        self.memo = None
        self.followed: list[MemoLeaf] = []
        self.others: dict[Hashable, MemoLeaf] = {}
        self.values: list[ValueKey] = []
        self.counts: list[int] = []
        self.size = self.first_size = 0

    def begin(self) -> None:
        """Open the trace of another call."""
        if self.memo is None:
            self.trace = Trace()
            self.memo = Memo(frozenset((self.trace,)))
        self.trace.open = True
        self.memo.calls += 1
        LENT.add(self.memo)

    def follow(self, name: Hashable, aval: Aval) -> MemoLeaf:
        """Make the next leaf that a derivative follows."""
        assert self.memo is not None
        self.followed.append(memo_leaf(name, aval, self.memo.traces, self.memo))
        return self.followed[-1]

    def other(self, place: Hashable, name: Hashable, aval: Aval) -> MemoLeaf:
        """Return the leaf of an operand that no derivative follows."""
        leaf = self.others.get((place, aval))
        if leaf is None:
            assert self.memo is not None
            leaf = self.others[place, aval] = memo_leaf(name, aval, NO_TRACES, self.memo)
        return leaf

    @property
    def arguments(self) -> Iterator[MemoLeaf]:
        """The leaves of arguments."""
        return chain(self.followed, self.others.values())

    def end_call(self) -> bool:
        """End a call; return True if the memo serves others, and let go of the operands then."""
        memo = self.memo
        assert memo is not None
        memo.end_call()
        before, size = self.size, memo.size
        if memo.is_spoiled or ((size != before or not self.values) and not self._count(size)):
            return False
        if not (self._is_alone() or self._is_alone_without_cycles(1 if before == 0 else 0)):
            return False
        for leaves in (self.followed, self.others.values(), *memo.captured_leaves):
            for leaf in leaves:
                leaf.held = UNKNOWN
        self.trace.evaluated, self.trace.converted = (), ""
        self._judge(size - before if before else 0)
        return True

    def _judge(self, grown: int) -> None:
        """Forget a memo that grows with every call; it begins anew if it grows by little."""
        is_little = 4 * grown < self.first_size
        self.failures = self.failures + (1 if is_little else _GREW) if grown else 0
        if self.failures >= _MAX_FAILURES:
            self.forget()
            if is_little:  # the rest of it helps, and is as small again as it was at first
                self.failures = 0

    def _is_alone(self) -> bool:
        """Return True if nothing else refers to a value."""
        return list(map(sys.getrefcount, self.values)) == self.counts

    def _is_alone_without_cycles(self, generation: int) -> bool:
        """Return True if only cycles of the last call refer to values.

        An inner function that calls itself is such a cycle. It is new, so this costs little.
        """
        if len(self.values) < _LEAST_TO_COLLECT or not gc.isenabled():
            return False
        gc.collect(generation)
        return self._is_alone()

    def _count(self, size: int) -> bool:
        """Count the references to the values; return False if too much is closed over."""
        memo: Any = self.memo
        counts = _references_within([*self.arguments, *memo.captured, *memo.held])
        others = [key for key in counts if key.memo is not memo and key.definition is None]
        if sum([getattr(key.operand, "nbytes", 0) for key in others]) > MAX_CONSTANT_BYTES:
            return False
        self.first_size = self.first_size or size
        self.size = size
        self.has_grown = True
        self.values = [key for key in counts if key.memo is memo]
        memo.list_values(self.values)
        self.counts = [counts[key] + _OUTSIDE for key in self.values]
        return True


def _references_within(held: Iterable[ValueKey]) -> dict[ValueKey, int]:
    """Count how often each key is held, or is an input of another one."""
    counts: dict[ValueKey, int] = {}
    waiting = [held]
    while waiting:
        for key in waiting.pop():
            count = counts.get(key, 0)
            counts[key] = count + 1
            if not count and key.definition is not None:
                last = key.definition[-1]  # the inputs of an application are one tuple
                waiting.append(last if type(last) is tuple else key.definition[3:])
    return counts


def _references() -> int:
    """Count the references to an object that only a list holds, as ``end_call`` sees them."""
    values = [object()]
    return next(map(sys.getrefcount, values))


_OUTSIDE = _references()


class Pool:
    """Memos that are not lent, the least recently used first."""

    def __init__(self) -> None:
        self._waiting: dict[Hashable, Lent] = {}
        self._called: set[Hashable] = set()

    def take(self, name: Hashable) -> Lent | None:
        """Return the memo of a function that ran before, if it may help."""
        try:
            found = self._waiting.pop(name, None)
        except TypeError:  # a structure without a hash
            return None
        if found is not None and found.failures >= _MAX_FAILURES:
            self.put(name, found)
            return None
        return found

    def variant(self, named: Any, function: Any, others: Iterable[Any]) -> Any:
        """Return what names a function and the variant of it that is called, if its memo failed.

        None if there are too many variants; ``named`` if the memo has not failed.
        """
        try:
            failed = self._waiting.get(named[0])
        except TypeError:  # a structure without a hash
            return None
        if failed is None or failed.failures < _MAX_FAILURES:
            return named
        variant = name_of_variant(named, function, others)
        if variant[0] in failed.variants:
            return variant
        if len(failed.variants) < MAX_VARIANTS:
            failed.variants.add(variant[0])
            return variant
        failed.refused += 1
        if failed.refused == MAX_REFUSED:  # others may be in use by now
            failed.refused = 0
            failed.variants.clear()
        return None

    def mark(self, name: Hashable, codes: Sequence[object]) -> None:
        """Note that a function ran, so that its next call makes a memo."""
        try:
            is_new = name not in self._waiting
        except TypeError:
            return
        if is_new:
            self.put(name, Lent(codes))

    def is_first(self, name: Hashable) -> bool:
        """Return True at the first call of a function, as far as calls are remembered."""
        try:
            if name in self._called:
                return False
        except TypeError:  # a structure without a hash
            return False
        if len(self._called) >= MAX_CALLED:
            self._called.clear()
        self._called.add(name)
        return True

    def put(self, name: Hashable, lent: Lent) -> None:
        """Let a memo wait for the next call, and drop old ones if there are too many."""
        LENT.discard(lent.memo)
        other = self._waiting.pop(name, None)
        self._waiting[name] = lent
        if other is not None:
            other.forget()
        if lent.has_grown:
            lent.has_grown = False
            self._drop()
        elif len(self._waiting) > MAX_MEMOS:  # the others are within bounds
            self._drop_oldest()

    def _drop(self) -> None:
        """Drop the oldest memos until the others are within bounds."""
        waiting = list(self._waiting.items())
        values = sum([len(lent.values) for _, lent in waiting])
        for count, (name, lent) in enumerate(waiting):
            if len(waiting) - count <= MAX_MEMOS and values <= MAX_VALUES:
                return
            values -= len(lent.values)
            if self._waiting.pop(name, None) is lent:  # no other thread has taken it
                lent.forget()

    def _drop_oldest(self) -> None:
        """Drop the memo that waits the longest."""
        for name in [*self._waiting][:1]:
            oldest = self._waiting.pop(name, None)
            if oldest is not None:  # no other thread has taken it
                oldest.forget()

    @property
    def waiting(self) -> list[Lent]:
        """The memos that no call has, the least recently used first."""
        return list(self._waiting.values())

    def clear(self) -> None:
        """Forget everything."""
        self._called.clear()
        while self._waiting:
            self._waiting.popitem()[1].forget()


MEMOS = Pool()


def name_of(
    function: Any, argnums: Sequence[Hashable], trees: Sequence[tuple[list[Any], Any]]
) -> Any:
    """Return the name of a function's memo for such arguments, and its codes; None without one.

    Only floating numbers and NumPy arrays of them are bound to leaves. A wrapper, such as a
    derivative of a function, has another name than the function that it wraps.
    """
    if not HAS_GIL or in_rule():
        return None
    kinds: list[Any] = []
    for leaves, spec in trees:
        kinds.append(spec)
        for leaf in leaves:
            if type(leaf) is float:
                kinds.append(float)
                continue
            if not is_numpy(leaf):
                return None
            aval = aval_of_operand(leaf)
            if not aval.dtype.is_inexact:
                return None
            kinds.append(aval)
    codes = [_code_of(function)]
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
        codes.append(_code_of(function))
    return (*map(id, codes), None, *argnums, *kinds), codes


def name_of_variant(named: Any, function: Any, others: Iterable[Any]) -> Any:
    """Return a name that depends on what a function captures, too, and its codes.

    ``lambda x: loss(x, n)`` is one definition for every ``loss`` and every number of steps ``n``. A
    program that makes it of one after the other would record anew into one memo each time. What
    counts are functions, whole numbers, texts and the avals of arrays, captured or among
    ``others``, the arguments that no derivative follows; ``named`` is what `name_of` has returned.
    """
    codes: list[object] = []
    kinds: list[Hashable] = []
    for value in chain(others, _captured(function)):
        if type(value) in _STATIC:
            kinds.append(value)
        elif is_numpy(value):
            kinds.append(aval_of_operand(value))
        elif callable(value):
            codes.append(_code_of(value))
    name, held = named
    return ((*map(id, codes), None, *kinds, name), [*held, *codes])


def _captured(function: Any) -> list[Any]:
    """Return what a function, or what it wraps or calls so, holds in closures and partials."""
    found: list[Any] = []
    waiting = [function]
    while waiting and len(found) < _MAX_CAPTURED:
        outer = waiting.pop()
        held = [_content(cell) for cell in getattr(outer, "__closure__", None) or ()]
        held.append(getattr(outer, "__wrapped__", None))
        if isinstance(outer, partial):
            held += [outer.func, *outer.args, *outer.keywords.values()]
        inner = [each for each in held if not any([each is known for known in found])]
        found += inner
        waiting += [each for each in inner if callable(each)]
    return found[:_MAX_CAPTURED]


def _content(cell: Any) -> Any:
    """Return what a cell holds; None before its variable is bound."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _code_of(function: Any) -> object:
    """Return what all functions that one definition makes have in common."""
    return getattr(function, "__code__", None) or type(function)

"""Operands of the user, lent to a transform until it returns.

A function may write into its arguments (``buf[0] = 1``), as it may without a transform; each value
that it recorded keeps what it read. `Loans` says how, and takes the memo of a function that was
recorded before. Read next: ``recording/arguments.py``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from threading import local
from typing import TYPE_CHECKING, Any
from weakref import ref

from tenferro.arrays import Array, borrowing
from tenferro.arrays.evaluation.evaluate import newest_leaf_read
from tenferro.arrays.handle.array import SCALARS
from tenferro.arrays.handle.convert import Borrowed, aval_of_operand, snapshot
from tenferro.arrays.handle.memo import Memo, Nested
from tenferro.backend._protection import protect, release
from tenferro.backend._snapshots import is_numpy, snapshots
from tenferro.computegraph import ValueKey, new_leaf
from tenferro.primitives._aval import Aval
from tenferro.primitives._source import raised_at, source_text
from tenferro.tidu import Trace, in_rule, pinned_leaf
from tenferro.transforms.errors import BorrowedWriteError
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.memos import MEMOS, Lent, name_of

if TYPE_CHECKING:
    from tenferro.arrays.handle.reads import Reads
    from tenferro.transforms.recording.arguments import Name

_SCALARS = frozenset(SCALARS)
Tree = tuple[list[Any], Any]  # leaves, and the structure around them

MAX_COPIED_BYTES = 65536  # a larger operand is protected against writes instead


class Loans:
    """Operands of the user that keys hold until a transform returns.

    A NumPy array of up to 64 KiB is copied. A larger one is borrowed: until the transform returns
    it is read-only, and an attempt to write through it becomes a `BorrowedWriteError`. Its flag
    does not cover other arrays on the same memory: a function that writes through a base or
    another view, made before, changes what was recorded. Arrays whose flag could not be set again
    are copied whatever their size, as are operands of other libraries that something can write to.

    A value that is still alive at the end, in a list of losses or in a pullback, gets a copy of its
    own. With ``keeps`` the transform hands out such values, and its recordings use no memo: a value
    that outlives the call would end the memo for every transform of the function.
    """

    __slots__ = ("_keeps", "_keys", "_memo", "_name", "_protected", "_unmarked", "reads")

    def __init__(self, *, keeps: bool = False) -> None:
        self._keeps = keeps
        self._keys: list[ref[ValueKey]] = []
        self._memo: Lent | None = None
        self._name: Any = None
        self._unmarked: tuple[Any, int] | None = None  # a name, and when recording began
        self.reads: Reads | None = None  # of a function's first call
        self._protected: list[Any] = []

    def memo_of(
        self,
        function: Any,
        argnums: Sequence[Hashable],
        trees: Sequence[Tree],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Lent | None:
        """Return what earlier calls of a function recorded, until these loans end.

        A thread has one memo at a time, which serves nested transforms too: see ``nested``.
        """
        if running.lent is not None:
            return None
        named = name_of(function, argnums, trees)
        if named is None:
            return None
        if self._keeps:
            self.reads = {} if MEMOS.is_first(named[0]) else None
            return None
        found = MEMOS.take(named[0])
        if found is None:
            others = [x for i, x in enumerate(args) if i not in argnums]
            named = MEMOS.variant(named, function, [*others, *(kwargs or {}).values()])
            if named is None:
                return None
            found = MEMOS.take(named[0])
        if found is None:
            self._unmarked = named, new_leaf(None, None).serial
            self.reads = {} if MEMOS.is_first(named[0]) else None
        else:
            self._memo, self._name = found, named[0]
            found.begin()
            running.lent = found
        return found

    def nested(self, names: Sequence[str], trees: Sequence[Tree]) -> Nested | None:
        """Return what this transform follows if a remembered function applies it to its values.

        A transform of values that the memo does not hold is recorded anew by each call, so the memo
        ends then. It also ends if this transform hands out values.
        """
        if running.lent is None:
            return None
        memo = running.lent.memo
        assert memo is not None
        leaves = [leaf for found, _ in trees for leaf in found]
        if not self._keeps and not in_rule() and all([_is_found_again(x, memo) for x in leaves]):
            entry = (*names, *[spec for _, spec in trees], *[leaf.key for leaf in leaves])
            try:
                return memo.nested(entry, Trace)
            except TypeError:  # a structure without a hash
                pass
        memo.is_spoiled = True
        return None

    def nested_batch(self, trees: Any) -> Nested | None:
        """Return the placeholders of a batch if a remembered function maps over its values."""
        if running.lent is None or in_rule():
            return None
        memo = running.lent.memo
        assert memo is not None
        leaves = [x for x in _tree.flatten(trees)[0] if type(x) not in _SCALARS and not is_numpy(x)]
        if not all([_is_found_again(x, memo) for x in leaves]):
            return None
        return memo.nested(("vmap",), lambda: Trace(sealed="vmap"))

    def batch_memo_of(
        self, function: Any, how: Hashable, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> None:
        """Find what earlier calls of a function that is mapped recorded.

        The function counts as nested in the memo, which has no leaves that a derivative follows.
        """
        trees = [_tree.flatten(arg) for arg in (*args, *kwargs.values())]
        found = self.memo_of(function, ("vmap", how, len(args), *kwargs), trees)
        if found is not None:
            found.trace.open = False

    def remembering(self) -> AbstractContextManager[None]:
        """Let the memo, or the reads of a first call, see the arrays that a function captures."""
        if self._memo is None and self.reads is None:
            return nullcontext()
        memo = None if self._memo is None else self._memo.memo
        return borrowing(Borrowed(memo=memo, reads=self.reads))

    def mark(self) -> None:
        """Note a first recording, after which the next call of the function gets a memo.

        A function that stored values of its own leaves in keys gets none.
        """
        if self._unmarked is None:
            return
        named, serial = self._unmarked
        if newest_leaf_read() < serial:
            MEMOS.mark(*named)

    def leaf(self, place: Hashable, name: Name, aval: Aval) -> ValueKey:
        """Return a leaf for an operand such as a direction; with a memo, that of earlier calls."""
        if self._memo is None:
            return new_leaf(name, aval)
        return self._memo.other(place, name, aval)

    def lend(self, key: ValueKey, operand: Any) -> None:
        """Let the key hold the operand, or a copy of it."""
        key.operand = held = self.hold(operand)
        if held is operand and type(operand) not in _SCALARS and is_numpy(operand):
            if key.memo is None or self._memo is None:  # else its memo tells what is left behind
                self._keys.append(ref(key))

    def hold(self, operand: Any) -> Any:
        """Return a small operand as a copy; protect a large one until the end and return it."""
        if type(operand) in _SCALARS:
            return operand
        writeable = getattr(getattr(operand, "flags", None), "writeable", None)
        if writeable is None:
            return snapshot(operand)
        if operand.nbytes <= MAX_COPIED_BYTES:
            return operand.copy("K") if writeable else snapshot(operand)
        if protect(operand):
            self._protected.append(operand)
        elif writeable:
            return snapshot(operand)
        return operand

    def __enter__(self) -> Loans:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: Any) -> None:
        if self._memo is not None:
            running.lent = None
            self._give_back(self._memo, error)
        if not self._protected and not self._keys:
            return
        for operand in self._protected:
            release(operand)
        alive = [key for key in [reference() for reference in self._keys] if key is not None]
        if alive:
            for key, operand in zip(alive, snapshots([k.operand for k in alive]), strict=True):
                key.operand = operand
        if self._protected and is_refused_write(error):
            raise written(self._protected, traceback) from error

    def _give_back(self, lent: Lent, error: BaseException | None) -> None:
        """Let the memo wait for the next call; end it if this call left something behind."""
        if error is not None or not lent.end_call():
            self._keys += [ref(leaf) for leaf in lent.arguments if is_numpy(leaf.held)]
            lent.forget(lost=True)
        MEMOS.put(self._name, lent)


def _is_found_again(leaf: Any, memo: Memo) -> bool:
    """Return True if the next call of the remembered function finds a leaf by its key."""
    return type(leaf) is Array and not leaf.flow and memo.owns(leaf.key)


def is_refused_write(error: BaseException | None) -> bool:
    """Return whether NumPy, or a library that takes its buffers, refused to write."""
    refused = isinstance(error, ValueError) and not isinstance(error, BorrowedWriteError)
    return refused and "read-only" in str(error)


def written(arrays: Sequence[Any], traceback: Any) -> BorrowedWriteError:
    """Make the error for a refused write, at the user's line."""
    avals = tuple(dict.fromkeys(aval_of_operand(x) for x in arrays))
    error = BorrowedWriteError(
        "a function wrote into a read-only array while a transform ran it\n"
        f"  got        a write; arguments {', '.join(map(str, avals))} are read-only until the "
        "transform returns\n"
        f"  need       arguments of more than {MAX_COPIED_BYTES // 1024} KiB that are only read\n"
        "  hint       write into a copy: `x = x.copy()`, or make a new value: `x = np.where(...)`",
        avals=avals,
    )
    line = source_text(raised_at(traceback))
    if line is not None:
        error.add_note(f"  from       {line}")
    return error


class _Running(local):
    """The memo of the outermost function that this thread records, if it has one."""

    lent: Lent | None = None


running = _Running()


def nested_body(name: str, leaves: Sequence[Hashable]) -> Nested | None:
    """Return what the body of a loop follows if a remembered function records it.

    ``leaves`` describe the inputs of the body, whose pins later calls have, too.
    """
    if running.lent is None or in_rule():
        return None
    memo = running.lent.memo
    if memo is None or memo.is_spoiled:
        return None
    return memo.nested((name, *leaves), lambda: Trace(abstract=True, sealed=name))


def remembered_leaf(name: Name, aval: Aval, trace: Trace) -> ValueKey:
    """Make a placeholder on which ``trace`` is open, for all calls of the remembered function."""
    assert running.lent is not None
    key = pinned_leaf(name, aval, trace)
    key.memo = running.lent.memo
    return key


def other(nested: Nested, number: int, name: Name, aval: Aval) -> ValueKey:
    """Return the leaf of an operand that a nested transform takes and does not follow.

    ``number`` counts these operands: two of them may have the same name.
    """
    assert running.lent is not None
    return running.lent.other((nested.number, number), name, aval)

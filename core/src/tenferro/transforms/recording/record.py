"""Run a user's function on arrays that a transform follows.

Arguments that are differentiated get fresh identities: a fresh input for an operand, a pin for an
Array, which may belong to an outer transform. Other operands are read where the function uses
them. Arrays come as handles of their own, so that assignment to one never changes the caller's.

A function may write into its arguments (``buf[0] = 1``), as it may without a transform; each value
that it recorded keeps what it read. `Loans` says how. Read next: ``recording/run_or_record.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from threading import local
from types import FunctionType
from typing import TYPE_CHECKING, Any
from weakref import ref

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array, as_array, borrowing, evaluate_keys, is_traced
from tenferro.arrays.errors import UnknownOperandError, at_user_line
from tenferro.arrays.evaluation.evaluate import newest_leaf_read
from tenferro.arrays.handle.array import SCALARS, evaluable
from tenferro.arrays.handle.convert import (
    Borrowed,
    aval_of_operand,
    is_operand,
    quick_to_compare,
    snapshot,
)
from tenferro.arrays.handle.memo import Memo, MemoLeaf, Nested
from tenferro.arrays.handle.traces import refuse_leaked_value
from tenferro.arrays.handle.weak import WeakName, value_of
from tenferro.backend._protection import protect, release
from tenferro.backend._snapshots import is_numpy, snapshots
from tenferro.computegraph import UNKNOWN, ValueKey, new_leaf
from tenferro.primitives._aval import Aval
from tenferro.primitives._source import raised_at, source_text
from tenferro.tidu import Trace, in_rule, pin, pinned_leaf
from tenferro.transforms.errors import ArgumentNumberError, BorrowedWriteError
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.memos import MEMOS, Lent, name_of

if TYPE_CHECKING:
    from tenferro.arrays.handle.reads import Reads

_SCALARS = frozenset(SCALARS)
Tree = tuple[list[Any], Any]  # leaves, and the structure around them


class Name(NamedTuple):
    """The name of a fresh input: readable, unique by its serial."""

    text: str
    serial: int

    def __str__(self) -> str:
        return self.text


MAX_COPIED_BYTES = 65536  # a larger operand is protected against writes instead


class Loans:
    """Operands of the user that keys hold until a transform returns.

    A NumPy array of up to 64 KiB is copied. A larger one is borrowed: until the transform returns
    it is read-only, and an attempt to write through it becomes a `BorrowedWriteError`. Its flag
    does not cover other arrays on the same memory: a function that writes through a base or
    another view, made before, changes what was recorded. Arrays whose flag could not be set again
    are copied whatever their size, as are operands of other libraries that something can write to.

    What is still alive at the end, in a list of losses or in a pullback, gets a copy of its own.
    With ``keeps`` the transform hands out such values: recordings have no memo then, because their
    end would end it, for all other transforms of the function.
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
        self, function: Any, argnums: Sequence[Hashable], trees: Sequence[Tree]
    ) -> Lent | None:
        """Return what earlier calls of a function recorded, until these loans end.

        A thread has one memo at a time, which serves nested transforms too: see ``nested``.
        """
        if _running.lent is not None:
            return None
        named = name_of(function, argnums, trees)
        if named is None:
            return None
        if self._keeps:
            self.reads = {} if MEMOS.is_first(named[0]) else None
            return None
        found = MEMOS.take(named[0])
        if found is None:
            self._unmarked = named, new_leaf(None, None).serial
            self.reads = {} if MEMOS.is_first(named[0]) else None
        else:
            self._memo, self._name = found, named[0]
            found.begin()
            _running.lent = found
        return found

    def nested(self, names: Sequence[str], trees: Sequence[Tree]) -> Nested | None:
        """Return what this transform follows if a remembered function applies it to its values.

        What is recorded on other values would be recorded anew by each call, so the memo ends then.
        It ends too if this transform hands out values.
        """
        if _running.lent is None:
            return None
        memo = _running.lent.memo
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
        if _running.lent is None or in_rule():
            return None
        memo = _running.lent.memo
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
        borrowed = Borrowed()
        borrowed.memo = None if self._memo is None else self._memo.memo
        borrowed.reads = self.reads
        return borrowing(borrowed)

    def mark(self) -> None:
        """Mark a function that has recorded, unless values of its own leaves were computed."""
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
            _running.lent = None
            self._give_back(self._memo, error)
        for operand in self._protected:
            release(operand)
        alive = [key for key in [reference() for reference in self._keys] if key is not None]
        if alive:
            for key, operand in zip(alive, snapshots([k.operand for k in alive]), strict=True):
                key.operand = operand
        if self._protected and _is_refused_write(error):
            raise _written(self._protected, traceback) from error

    def _give_back(self, lent: Lent, error: BaseException | None) -> None:
        """Let the memo wait for the next call; end it if this call left something behind."""
        if error is not None or not lent.end_call():
            self._keys += [ref(leaf) for leaf in lent.arguments if is_numpy(leaf.held)]
            lent.forget(lost=True)
        MEMOS.put(self._name, lent)


def _is_refused_write(error: BaseException | None) -> bool:
    """Return whether NumPy, or a library that takes its buffers, refused to write."""
    refused = isinstance(error, ValueError) and not isinstance(error, BorrowedWriteError)
    return refused and "read-only" in str(error)


def _written(arrays: Sequence[Any], traceback: Any) -> BorrowedWriteError:
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


_running = _Running()


class Aux:
    """Auxiliary result of a function; Arrays in it are computed with the value."""

    def __init__(self, tree: Any) -> None:
        self._tree = tree
        self._leaves: list[Any] = []
        self._spec: Any = None
        if tree is not None:
            self._leaves, self._spec = _tree.flatten(tree)
        self._places = [i for i, leaf in enumerate(self._leaves) if isinstance(leaf, Array)]
        self.keys = [self._leaves[i].key for i in self._places]

    @staticmethod
    def of(tree: Any) -> Aux:
        """Make the auxiliary result of a tree; ``None`` has a shared one."""
        return NO_AUX if tree is None else Aux(tree)

    def with_values(self, values: Sequence[Any]) -> Any:
        """Return the tree with these values in the places of its Arrays."""
        if not values:
            return self._tree
        leaves = list(self._leaves)
        for i, value in zip(self._places, values, strict=True):
            leaves[i] = value
        return _tree.unflatten(self._spec, leaves)


NO_AUX = Aux(None)


class Recording(NamedTuple):
    """Record of a function's run on followed arguments."""

    wrt: list[ValueKey]  # one per leaf of the followed arguments
    specs: list[Any]  # their structures, one per followed argument
    outputs: list[Any]  # leaves of the result
    out_spec: Any
    aux: Aux
    plain: bool  # no argument was an Array: results leave as operands
    trace: Trace  # open while the function ran


def record(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    argnums: Sequence[int],
    loans: Loans,
    has_aux: bool = False,
) -> Recording:
    """Call the function with the chosen arguments followed; the caller ends the ``loans``."""
    names = parameter_names(function, len(args))
    trees = [_tree.flatten(args[i]) for i in check_argnums(argnums, len(args))]
    memo = loans.memo_of(function, argnums, trees)
    nested = None if memo is not None else loans.nested([names[i] for i in argnums], trees)
    again = memo or nested
    trace = Trace() if again is None else again.trace
    followed = list(args)
    wrt: list[ValueKey] = []
    borrowed = Borrowed()
    borrowed.memo = None if memo is None else memo.memo
    borrowed.reads = loans.reads
    plain = True
    for i, (leaves, spec) in zip(argnums, trees, strict=True):
        if nested is not None:
            keys = pins_of(nested, len(wrt), leaves, spec, names[i])
        else:
            keys = followed_keys(leaves, spec, names[i], len(wrt), trace, loans, memo)
        plain = plain and (memo is not None or not any([isinstance(x, Array) for x in leaves]))
        wrt += keys
        followed[i] = _tree.unflatten(spec, [Array(key) for key in keys])
    specs = [spec for _, spec in trees]
    lender, call = (memo, 0) if nested is None else (_running.lent, nested.number)
    for i, arg in enumerate(args):
        if i not in argnums and not borrow(arg, names[i], borrowed, loans, lender, (call, i)):
            plain, followed[i] = False, with_own_handles(arg)
    for name, arg in kwargs.items():
        if not borrow(arg, name, borrowed, loans, lender, (call, name)):
            plain, kwargs = False, {**kwargs, name: with_own_handles(arg)}
    try:
        if borrowed or memo is not None or loans.reads is not None:
            with borrowing(borrowed):
                result = function(*followed, **kwargs)
        else:
            result = function(*followed, **kwargs)
    finally:
        trace.open = False
    loans.mark()
    result, aux = split_aux(result, has_aux)
    outputs, out_spec = _tree.flatten(result)
    auxiliary = Aux.of(aux)
    _refuse_leaked(outputs, auxiliary)
    return Recording(wrt, specs, outputs, out_spec, auxiliary, plain, trace)


def _refuse_leaked(outputs: Sequence[Any], aux: Aux) -> None:
    """Raise LeakedArrayError if an array of a traced call that is over is among results."""
    for key in [*[x.key for x in outputs if isinstance(x, Array)], *aux.keys]:
        refuse_leaked_value(key)


def split_aux(result: Any, has_aux: bool) -> tuple[Any, Any]:
    """Split a result into the value and the auxiliary result."""
    if not has_aux:
        return result, None
    if not isinstance(result, tuple) or len(result) != 2:
        raise TypeError("has_aux=True needs a function that returns a pair (value, aux)")
    return result[0], result[1]


def _is_found_again(leaf: Any, memo: Memo) -> bool:
    """Return True if the next call of the remembered function finds a leaf by its key."""
    return type(leaf) is Array and not leaf.flow and memo.owns(leaf.key)


def nested_body(name: str, leaves: Sequence[Hashable]) -> Nested | None:
    """Return what the body of a loop follows if a remembered function records it.

    ``leaves`` describe the inputs of the body, whose pins later calls have, too.
    """
    if _running.lent is None or in_rule():
        return None
    memo = _running.lent.memo
    if memo is None or memo.is_spoiled:
        return None
    return memo.nested((name, *leaves), lambda: Trace(abstract=True, sealed=name))


def remembered_leaf(name: Name, aval: Aval, trace: Trace) -> ValueKey:
    """Make a placeholder on which ``trace`` is open, for all calls of the remembered function."""
    assert _running.lent is not None
    key = pinned_leaf(name, aval, trace)
    key.memo = _running.lent.memo
    return key


def other(nested: Nested, number: int, name: Name, aval: Aval) -> ValueKey:
    """Return the leaf of an operand that a nested transform takes and does not follow.

    ``number`` counts these operands: two of them may have the same name.
    """
    assert _running.lent is not None
    return _running.lent.other((nested.number, number), name, aval)


def followed_keys(
    leaves: Sequence[Any],
    spec: Any,
    name: str,
    start: int,
    trace: Trace,
    loans: Loans,
    memo: Lent | None,
) -> list[ValueKey]:
    """Return the keys of one argument; with a memo, those that its first call made."""
    known = [] if memo is None else memo.followed[start : start + len(leaves)]
    if known:
        return [bound(key, x, loans) for key, x in zip(known, leaves, strict=True)]
    labels = _tree.paths_in(spec, name)
    pairs = zip(leaves, labels, strict=True)
    try:
        return [follow(leaf, label, trace, loans, memo) for leaf, label in pairs]
    except UnknownOperandError as error:
        refused = next((i for i, leaf in enumerate(leaves) if leaf is error.fields["value"]), 0)
        error.add_note(f"  leaf       {labels[refused]}")
        raise


def pins_of(
    nested: Nested, start: int, leaves: Sequence[Array], spec: Any, name: str
) -> list[ValueKey]:
    """Return the pins of one argument of a nested transform; the first call makes them."""
    pins = nested.pins
    if len(pins) == start:
        for leaf, label in zip(leaves, _tree.paths_in(spec, name), strict=True):
            pins.append(pinned(leaf, label, nested.trace, leaf.key.memo))
    return pins[start : start + len(leaves)]


def pinned(leaf: Array, label: str, trace: Trace, memo: Memo | None = None) -> ValueKey:
    """Pin an Array under a name of its own."""
    key = pin(leaf.key, trace, memo)
    serial, name = trace.id.serial, leaf.key.identity
    if isinstance(name, WeakName):
        key.identity = name._replace(text=label, serial=serial)
    else:
        key.identity = Name(label, serial)
    return key


def follow(leaf: Any, label: str, trace: Trace, loans: Loans, memo: Lent | None = None) -> ValueKey:
    """Make a fresh identity for one argument; with a memo, for later calls too."""
    if memo is not None:
        serial = trace.id.serial
        if type(leaf) is float:
            first = memo.follow(WeakName(label, serial), as_array(leaf).aval)
        else:
            first = memo.follow(Name(label, serial), aval_of_operand(leaf))
        return bound(first, leaf, loans)
    if isinstance(leaf, Array):
        make_known(leaf)
        return pinned(leaf, label, trace)
    if isinstance(leaf, Aval):
        trace.abstract = True
        return pinned_leaf(Name(label, trace.id.serial), leaf, trace)
    if type(leaf) in _SCALARS:
        aval = as_array(leaf).aval
        key = pinned_leaf(WeakName(label, trace.id.serial, value_of(leaf)), aval, trace)
    else:
        key = pinned_leaf(Name(label, trace.id.serial), aval_of_operand(leaf), trace)
    loans.lend(key, leaf)
    if not key.aval.dtype.is_inexact:
        key.traces = frozenset()
    return key


def bound(leaf: MemoLeaf, operand: Any, loans: Loans) -> MemoLeaf:
    """Let a leaf hold the operand of this call, or a copy of it."""
    leaf.held = operand if type(operand) is float else loans.hold(operand)
    return leaf


def make_known(array: Array) -> None:
    """Evaluate a pending argument on which no transform is open, if its leaves are known."""
    key = array.key
    if key.operand is UNKNOWN and not is_traced(key) and evaluable(key):
        evaluate_keys([key])


def borrow(
    tree: Any,
    name: str,
    borrowed: Borrowed,
    loans: Loans,
    memo: Lent | None = None,
    place: Hashable = None,
) -> bool:
    """Name the operands of an argument that is not followed; say if none is an Array.

    What is neither a NumPy array nor immutable gets no name: it is copied where it is used.
    """
    if type(tree) in _SCALARS or isinstance(tree, str):
        return True
    plain = True
    for number, leaf in enumerate(_tree.flatten(tree)[0]):
        if isinstance(leaf, Array):
            make_known(leaf)
            plain = False
        elif type(leaf) not in _SCALARS and (aval := _aval_of(leaf)) is not None:
            if memo is not None and is_numpy(leaf):
                key: ValueKey = memo.other((place, number), Name(name, id(leaf)), aval)
            else:
                key = new_leaf(Name(name, id(leaf)), aval)
            key.operand = quick_to_compare(leaf, MAX_COPIED_BYTES)
            if key.operand is None:
                loans.lend(key, leaf)
            if key.operand is leaf or is_numpy(leaf):
                borrowed[id(leaf)] = key, leaf
    return plain


def _aval_of(leaf: Any) -> Aval | None:
    """Return the aval of an operand; None for other leaves, and for dtypes that are not known."""
    if not is_operand(leaf):
        return None
    try:
        return aval_of_operand(leaf)
    except TypeError:
        return None


def has_dtype(leaf: Any) -> bool:
    """Return True if tenferro knows the dtype of a leaf; others, such as strings, are passed
    through.
    """
    try:
        aval_of_operand(leaf)
    except TypeError:
        return False
    return True


def with_own_handles(tree: Any) -> Any:
    """Return the argument with new handles of its Arrays, so that the caller's are not assigned
    into.
    """
    if type(tree) in _SCALARS or is_operand(tree):
        return tree
    leaves, spec = _tree.flatten(tree)
    if not any([isinstance(leaf, Array) for leaf in leaves]):
        return tree
    own = [Array(x.key, x.flow) if isinstance(x, Array) else x for x in leaves]
    return _tree.unflatten(spec, own)


def parameter_names(function: Any, count: int) -> list[str]:
    """Return the names of the positional parameters, for the inputs of printed graphs."""
    given = getattr(function, "argument_names", None)
    if given is not None:
        return list(given)
    inner = function
    while hasattr(inner, "__wrapped__"):
        inner = inner.__wrapped__
    code = getattr(inner, "__code__", None)
    first = 0 if type(inner) is FunctionType else int(hasattr(inner, "__self__"))
    names = list(code.co_varnames[first : code.co_argcount]) if code is not None else []
    if len(names) == count:
        return names
    return (names + [f"x{i}" for i in range(len(names), count)])[:count]


def check_argnums(argnums: Sequence[int], count: int) -> Sequence[int]:
    """Check that the numbers are distinct, and return them."""
    if len(argnums) == len(set(argnums)):
        return argnums
    text = f"an argument is chosen twice\n  got        argnums={tuple(argnums)}\n"
    text += "  need       distinct arguments"
    raise at_user_line(ArgumentNumberError(text, argnums=tuple(argnums), count=count))

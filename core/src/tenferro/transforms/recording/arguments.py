"""Arguments of a recorded function: fresh identities of those that a transform follows.

An operand that is differentiated gets a fresh input, an Array a pin, since it may belong to an
outer transform. Other operands are read where the function uses them. Arrays come as handles of
their own, so that assignment to one never changes the caller's. Read next:
``recording/record.py``.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from types import FunctionType
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array, as_array, evaluate_keys, is_traced
from tenferro.arrays.errors import UnknownOperandError, at_user_line
from tenferro.arrays.handle.array import SCALARS, evaluable
from tenferro.arrays.handle.convert import (
    Borrowed,
    aval_of_operand,
    is_operand,
    quick_to_compare,
)
from tenferro.arrays.handle.memo import Memo, MemoLeaf, Nested
from tenferro.arrays.handle.weak import WeakName, value_of
from tenferro.backend._snapshots import is_numpy
from tenferro.computegraph import UNKNOWN, ValueKey, new_leaf
from tenferro.primitives._aval import Aval
from tenferro.tidu import Trace, pin, pinned_leaf
from tenferro.transforms.errors import ArgumentNumberError
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.loans import MAX_COPIED_BYTES, Loans
from tenferro.transforms.recording.memos import Lent

_SCALARS = frozenset(SCALARS)


class Name(NamedTuple):
    """The name of a fresh input: readable, unique by its serial."""

    text: str
    serial: int

    def __str__(self) -> str:
        return self.text


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


def own_handle(leaf: Any) -> Any:
    """Return another handle on the value of an Array, and other leaves as they are.

    A function that assigns into its argument then leaves the Array of its caller as it was.
    """
    return Array(leaf.key, leaf.flow) if isinstance(leaf, Array) else leaf


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

"""Run a user's function on arrays that a transform follows.

``arguments.py`` makes what the function receives, and ``loans.py`` keeps operands that it may write
into as they were read. Read next: ``recording/run_or_record.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.arrays import Array, borrowing
from tenferro.arrays.handle.convert import Borrowed
from tenferro.arrays.handle.traces import refuse_leaked_value
from tenferro.computegraph import ValueKey
from tenferro.tidu import Trace
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.arguments import (
    borrow,
    check_argnums,
    followed_keys,
    parameter_names,
    pins_of,
    with_own_handles,
)
from tenferro.transforms.recording.loans import Loans, running


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
    trees = [_tree.flatten(args[i]) for i in check_argnums(argnums, len(args))]
    memo = loans.memo_of(function, argnums, trees, args, kwargs)
    is_found_again = memo is not None and memo.followed and len(argnums) == len(args)
    names = [""] * len(args) if is_found_again else parameter_names(function, len(args))
    nested = None if memo is not None else loans.nested([names[i] for i in argnums], trees)
    again = memo or nested
    trace = Trace() if again is None else again.trace
    followed = list(args)
    wrt: list[ValueKey] = []
    borrowed = Borrowed(memo=None if memo is None else memo.memo, reads=loans.reads)
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
    lender, call = (memo, 0) if nested is None else (running.lent, nested.number)
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

"""``cond`` and ``switch``: a branch chosen by a value that is not known while it is recorded.

Read next: ``while_loop.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro.arrays import Array
from tenferro.arrays.handle.weak import is_counter
from tenferro.computegraph import Fragment
from tenferro.primitives import constant, convert
from tenferro.primitives._primitive import bind_all
from tenferro.primitives.control import Switch
from tenferro.tidu import is_pin
from tenferro.transforms.control.body import (
    Recorded,
    delivered,
    finished,
    fits,
    given_arrays,
    held,
    highest,
    is_number,
    leaf_of,
    outer_array,
    output,
    read_from_outside,
    record_body,
)
from tenferro.transforms.control.unrolled import is_unrolling, known_value
from tenferro.transforms.errors import check_function, refused_body
from tenferro.transforms.recording import tree as _tree
from tenferro.transforms.recording.effects import perform
from tenferro.transforms.recording.unrolled import as_number

ANY_OR_ALL = "write `condition.any()` or `condition.all()`"
_PER_ELEMENT = "write `np.where(condition, a, b)` to choose for each element"

__all__ = ["cond", "switch"]


def cond(
    pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any
) -> Any:
    """Return ``true_fun(*operands)`` where ``pred`` holds, else ``false_fun(*operands)``.

    Both functions are recorded, on values that are not known; one of them runs. Under ``vmap`` with
    a condition that differs between examples, each function runs on the examples that take it: no
    nan comes from the one that is not taken, in values or in derivatives.

    Parameters
    ----------
    pred : array of rank 0
        The condition: a bool, or a number, which counts as True unless it is 0.
    true_fun, false_fun : callable
        Functions of the operands. Their results agree in structure, shapes and dtypes; the dtype of
        a Python number yields to the other's.
    *operands : pytree of arrays
        Arguments of both. They may read other values, too.

    Returns
    -------
    pytree of arrays
        The result of the function that is taken.

    Raises
    ------
    BodyError
        If the results differ, or ``pred`` is not of rank 0.

    Examples
    --------
    >>> import numpy as np
    >>> import tenferro as tn
    >>> def root(x):
    ...     return tn.cond(x > 0, np.sqrt, lambda x: 0.0 * x, x)
    >>> float(tn.grad(root)(4.0)), float(tn.grad(root)(-1.0))
    (0.25, 0.0)
    """
    check_function(true_fun, "cond")
    check_function(false_fun, "cond")
    (index,), _, _, plain = given_arrays((pred,), "pred")
    if index.shape:
        hint = f"{_PER_ELEMENT}; otherwise\n             {ANY_OR_ALL}"
        got, need = str(index.aval), "bool[]"
        raise refused_body("cond", "the condition is not a scalar", got, need, hint=hint)
    index = convert(convert(index, "bool"), "int32")
    return chosen("cond", index, (false_fun, true_fun), operands, plain)


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """Return ``branches[index](*operands)``; an index beyond the ends takes the first or the last.

    Parameters
    ----------
    index : integer array of rank 0
        Number of the branch.
    branches : sequence of callables
        Functions of the operands. Their results agree in structure, shapes and dtypes.
    *operands : pytree of arrays
        Arguments of all branches.

    Returns
    -------
    pytree of arrays
        The result of the branch that is taken.

    Raises
    ------
    BodyError
        If there is no branch, results differ, or ``index`` is not an integer of rank 0.

    Examples
    --------
    >>> import numpy as np
    >>> import tenferro as tn
    >>> float(tn.switch(2, [np.sin, np.cos, np.exp], 0.0))
    1.0
    """
    branches = tuple(branches)
    for branch in branches:
        check_function(branch, "switch")
    if not branches:
        raise refused_body("switch", "there are no branches", "none", "at least one function")
    (number,), _, _, plain = given_arrays((index,), "index")
    if number.shape or not number.dtype.is_integer:
        got = str(number.aval)
        raise refused_body("switch", "the index is not an integer of rank 0", got, "i64[]")
    return chosen("switch", convert(number, "int32"), branches, operands, plain)


def chosen(
    name: str, index: Array, functions: Sequence[Callable[..., Any]], operands: Any, plain: bool
) -> Any:
    """Record all branches, and bind the choice among them."""
    arrays, spec, paths, operands_plain = given_arrays(operands, "operands")
    number = known_value(index) if is_unrolling() else None
    if number is not None:
        taken = functions[min(max(int(number), 0), len(functions) - 1)]
        pairs = zip(arrays, paths, strict=True)
        given = [as_number(x, path, is_counter(x)) if is_number(x) else x for x, path in pairs]
        flat, found_spec = _tree.flatten(taken(*_tree.unflatten(spec, given)))
        found_values = [output(name, y) for y in flat]
        results = finished(found_values, arrays, plain and operands_plain, [], name)
        return _tree.unflatten(found_spec, results)
    leaves = [leaf_of(x, path) for x, path in zip(arrays, paths, strict=True)]

    def recorded(function: Callable[..., Any]) -> Recorded:
        call = lambda values: function(*_tree.unflatten(spec, values))  # noqa: E731
        return record_body(name, call, leaves, has_effects=True)

    found = [recorded(function) for function in functions]
    results = _agreeing(name, found)
    _perform(found, index, arrays)
    consts: dict[Any, None] = {}
    for branch, outputs in zip(found, results, strict=True):
        consts.update(dict.fromkeys(read_from_outside(branch, [y.key for y in outputs], False)))
    bodies = tuple(
        [
            Fragment.of([*consts, *branch.inputs], [y.key for y in outputs], is_pin)
            for branch, outputs in zip(found, results, strict=True)
        ]
    )
    if not results[0]:
        return _tree.unflatten(found[0].spec, [])
    outer = [outer_array(key) for key in consts]
    values = bind_all(Switch(bodies), index, *outer, *arrays)
    return _tree.unflatten(found[0].spec, delivered(values, plain and operands_plain, outer, name))


def _perform(branches: Sequence[Recorded], index: Array, arrays: Sequence[Array]) -> None:
    """Let the effects of the branch that is taken happen, by a choice of their own."""
    if all([branch.effect is None for branch in branches]):
        return
    none = constant(False, "bool", ()).key
    tokens = [none if branch.effect is None else branch.effect for branch in branches]
    consts: dict[Any, None] = {}
    for branch, token in zip(branches, tokens, strict=True):
        consts.update(dict.fromkeys(read_from_outside(branch, [token], False)))
    bodies = [
        Fragment.of([*consts, *branch.inputs], [token], is_pin)
        for branch, token in zip(branches, tokens, strict=True)
    ]
    outer = [outer_array(key) for key in consts]
    found = bind_all(Switch(tuple(bodies)), index, *outer, *arrays)
    perform([token.key for token in found])


def _agreeing(name: str, branches: Sequence[Recorded]) -> list[list[Array]]:
    """Return the results of the branches, numbers in the dtype that the other branches have.

    Raises BodyError: if results differ in structure, shape or dtype.
    """
    first = branches[0]
    for branch in branches[1:]:
        if not _tree.same_structure(branch.spec, first.spec):
            got, need = _tree.describe(branch.spec), _tree.describe(first.spec)
            raise refused_body(name, "the branches return different structures", got, need)
    columns = []
    for column in zip(*[branch.outputs for branch in branches], strict=True):
        like = highest(column).aval
        for y in column:
            if not fits(y, like):
                fact = "the branches return different shapes or dtypes"
                same = y.shape == like.shape
                hint = "convert what a branch returns: `x.astype(…)`" if same else ""
                raise refused_body(name, fact, str(y.aval), str(like), hint=hint)
        columns.append([held(y, like) for y in column])
    return [[column[i] for column in columns] for i in range(len(branches))]

"""Work of a loop's body that reads rows and no carry: done for all rows at once, before the loop.

A step that is interpreted costs a call per operation, so what needs no carry costs less as one
operation over all rows; its derivative then is one, too. Only small rows gain: large ones are
faster in the cache, one by one, and all of them at once take memory. Compilers of whole programs
pay nothing per operation, so for them the body stays as it is. Read next: ``body.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from tenferro.arrays import Array
from tenferro.computegraph import Definition, ValueKey, inputs_of, outputs_of, postorder
from tenferro.primitives._aval import Aval
from tenferro.tidu import is_pin
from tenferro.transforms.control.body import Recorded
from tenferro.transforms.recording.rolling import is_interpreted

__all__ = ["before_loop"]

_LEAST_STEPS = 64
_MOST_ELEMENTS = 1024  # of a value, for one row
_MOST_BYTES = 2**24  # of a value, for all rows
_VIEWS = frozenset(("reshape", "reverse", "slice", "transpose"))
#: They cost little in the body, and all rows of them may be large.
_COPIES = frozenset(("broadcast_in_dim", "constant", "iota", "table"))
#: They raise an error for some values, call the user's code, or run as long as one example needs.
_STAYING = ("callback", "control", "linalg")


def before_loop(
    recorded: Recorded,
    outputs: Sequence[ValueKey],
    carried: int,
    rows: list[Array],
    steps: int,
    store: object,
) -> tuple[Recorded, list[Array]]:
    """Return the body without what it computes of rows alone, and its rows with that.

    ``carried`` is the number of carries, the first inputs of the body; ``store`` is what the user
    said of memory: unless it is "auto", nothing moves.
    """
    if store != "auto" or steps < _LEAST_STEPS or not carried or not rows or recorded.effect:
        return recorded, rows
    found = _found(recorded, outputs, carried, steps)
    if not found or not is_interpreted():
        return recorded, rows
    leaves = recorded.inputs[carried:]
    batch = import_module("tenferro.transforms.batching.batch").batch
    made = batch(found, dict(zip(leaves, rows, strict=True)), steps)
    more = [Array(y.key, y.flow) for y in made if y is not None]
    assert len(more) == len(found)  # each depends on a row
    read = _leaves(outputs, {*recorded.inputs, *found})
    kept = [i for i, leaf in enumerate(leaves) if leaf in read]
    inputs = [*recorded.inputs[:carried], *[leaves[i] for i in kept], *found]
    return recorded._replace(inputs=inputs), [*[rows[i] for i in kept], *more]


def _found(
    recorded: Recorded, outputs: Sequence[ValueKey], carried: int, steps: int
) -> list[ValueKey]:
    """Return the values that the rest of the body, or a result, reads of the work on rows."""
    order, definitions, _ = postorder(outputs, recorded.definitions_inside())
    if any([definition[0].volatile for definition in definitions]):
        return []  # functions that bring their derivative must show what they close over
    moving, staying = {*recorded.inputs[carried:]}, {*recorded.inputs[:carried]}
    movable = []
    for key, definition in zip(order, definitions, strict=True):
        given, made = inputs_of(definition), outputs_of(key, definition)
        if not staying.isdisjoint(given):
            staying.update(made)
        elif not moving.isdisjoint(given):  # else it reads no row, and is an invariant or a literal
            if _may_move(definition, made, steps):
                moving.update(made)
                movable.append((key, definition))
            else:
                staying.update(made)
    return _read_values(order, definitions, outputs, movable)


def _may_move(definition: Definition, made: Sequence[ValueKey], steps: int) -> bool:
    """Return True for an operation that may run on all rows, and whose results are small."""
    operation = definition[0]
    if is_pin(operation):
        return True
    module = type(operation).__module__
    is_own = getattr(operation, "key", "").startswith("std::")
    if not is_own or any([f".{name}" in module for name in _STAYING]):
        return False
    return all([_is_small(y.aval, steps) for y in made])


def _is_small(aval: Aval, steps: int) -> bool:
    size = aval.size
    return size <= _MOST_ELEMENTS and size * steps * aval.dtype.itemsize <= _MOST_BYTES


def _read_values(
    order: Sequence[ValueKey],
    definitions: Sequence[Definition],
    outputs: Sequence[ValueKey],
    movable: Sequence[tuple[ValueKey, Definition]],
) -> list[ValueKey]:
    """Return the values at the border, without views of rows, which the body makes as well.

    There are none where they are more than the operations that leave the body.
    """
    moving = {key for key, _ in movable}
    read = {*outputs}
    for key, definition in zip(order, definitions, strict=True):
        if key not in moving:
            read.update(inputs_of(definition))
    worked = _worked(movable)
    found: list[ValueKey] = []
    count = 0
    for key, definition in reversed(movable):
        border = [y for y in outputs_of(key, definition) if y in read]
        if border and key not in worked:
            read.update(inputs_of(definition))
            continue
        found += border
        count += key in worked
    return found if len(found) <= count else []


def _worked(movable: Sequence[tuple[ValueKey, Definition]]) -> set[ValueKey]:
    """Return the values that cost something, and views of these."""
    found: set[ValueKey] = set()
    for key, definition in movable:
        name = definition[0].name
        if name in _VIEWS or is_pin(definition[0]):
            if found.isdisjoint(inputs_of(definition)):
                continue
        elif name in _COPIES:
            continue
        found.update(outputs_of(key, definition))
    return found


def _leaves(outputs: Sequence[ValueKey], inputs: set[ValueKey]) -> set[ValueKey]:
    """Return the inputs that the outputs read, where these are what to stop at."""

    def definition_of(key: ValueKey) -> Definition | None:
        return None if key in inputs else key.definition

    *_, leaves = postorder(outputs, definition_of)
    return {*leaves}

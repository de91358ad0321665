"""Derive keys: an operation applied to keys gives the keys of its outputs, each interned once.

``derive`` is for any operation; ``derive_one`` for those with one output, which nearly all have;
``derive_at`` where the aval is known; ``derive_again`` where inputs are replaced. All look among
the users of the newest input first, and infer avals only for a value that was not there.
Read next: ``_materialize.py``; ``_graph.py`` shows values as graphs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenferro.computegraph._errors import GraphError
from tenferro.computegraph._interning import IN_TABLE, known
from tenferro.computegraph._keys import (
    NO_TRACES,
    Application,
    Definition,
    ValueKey,
    new_key,
    new_leaf,
)
from tenferro.computegraph._operation import Operation, infer
from tenferro.computegraph._roles import PRIMARY, OperationRole

_ALL_OUTPUTS = -1  # the slot in the definition of an `Application`
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
    return new_key(definition, aval, depth + 1, traces, anchor, users)


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
    return new_key(definition, aval, depth + 1, traces, anchor, users)


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
        there = new_key(definition, avals, depth + 1, traces, anchor, users, Application)
    application: Application = there
    return application


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


def _wrong_count(operation: Operation, count: int) -> GraphError:
    """Make the error for a number of inputs that the operation does not take."""
    return GraphError(
        f"{operation.name} takes {operation.input_count} inputs, got {count}", operation=operation
    )


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
    for trace in joined:
        if not trace.open:
            break
    else:
        return joined if len(joined) > len(right) else right
    return frozenset(t for t in joined if t.open or getattr(t, "sealed", ""))

"""Templates: what a derivative rule emitted once, as steps that are emitted again on other values.

A step names its inputs by their places among the values so far: first those that the rule is given,
then the outputs of the steps. ``replay`` emits the steps, simplified and ordered as the rule itself
would have done; graphs do not show whether a rule was called or replayed.
Read next: ``_record_template.py``, which makes templates; ``_rule_cache.py``, which keeps them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import Linearized, OperationRole, ValueKey, derive_at
from tenferro.tidu._emit import emit
from tenferro.tidu._value import NO_FLOW, Sweep

# Places of values, and the names of the operations that let a reader of such a value be simplified;
# a literal always may.
Watched = tuple[tuple[int, tuple[str, ...]], ...]


SAME: Any = object()  # instead of an aval


class RecordedEquation(NamedTuple):
    """One equation: places of its inputs among the values so far; the outputs follow these."""

    operation: Any
    places: tuple[int, ...]
    role: OperationRole
    swapped_role: OperationRole | None  # the role if the operands change places, where they may
    aval: Any  # ``SAME`` if it is that of the inputs of the rule, whichever that is
    mask: tuple[bool, ...] | None  # inputs through which flow runs; None: no flow
    watched: Watched  # inputs that decide if the step is simplified
    is_plain: bool  # whether nothing else decides


class Template(NamedTuple):
    """Steps over the values that a rule is given, and a function that picks the results from all.

    ``watched`` lists the given values that decide if a step is simplified; it is ``None``
    where that has to be asked at each step.
    """

    steps: tuple[RecordedEquation, ...]
    pick: Callable[[list[Any]], Sequence[Any]]
    watched: Watched | None


def replay(template: Template, values: list[Any], sweep: Sweep, same: Any) -> Sequence[Any]:
    """Emit all steps and return the results; ``values`` are what the rule is given.

    ``same`` is the aval of the first input.
    """
    steps, pick, watched = template
    if watched is None or (watched and _may_simplify(values, watched)):
        _replay_asking(template, values, sweep, same)
        steps = ()
    for operation, places, role, swapped_role, aval, mask, _, _ in steps:
        aval = same if aval is SAME else aval
        if len(places) == 2:
            x, y = values[places[0]], values[places[1]]
            if swapped_role is not None and x.serial > y.serial:
                x, y, role, mask = y, x, swapped_role, mask and mask[::-1]
            key = derive_at((operation, role, 0, x, y), aval)
        elif len(places) == 1:
            key = derive_at((operation, role, 0, values[places[0]]), aval)
        else:
            key = derive_at((operation, role, 0, *[values[i] for i in places]), aval)
        values.append(key)
        if mask is not None:
            sweep.nodes[key] = mask
            if key.source is None:
                key.source = sweep.source
    return pick(values)


def _replay_asking(template: Template, values: list[Any], sweep: Sweep, same: Any) -> None:
    """Replay a template, and ask at each step whether the values simplify it."""
    for step in template.steps:
        operation, places, role, swapped_role, aval, mask, watched, is_plain = step
        if not is_plain or _may_simplify(values, watched):
            values += _emitted(operation, [values[i] for i in places], role, sweep)
            continue
        given = [values[i] for i in places]
        if swapped_role is not None and given[0].serial > given[1].serial:
            given, role, mask = given[::-1], swapped_role, mask and mask[::-1]
        key = derive_at((operation, role, 0, *given), same if aval is SAME else aval)
        values.append(key)
        if mask is not None:
            sweep.nodes[key] = mask
            if key.source is None:
                key.source = sweep.source


def _may_simplify(values: list[ValueKey], watched: Watched) -> bool:
    """Return True if the operation that made one of the values could simplify a step."""
    for i, names in watched:
        definition = values[i].definition
        if definition is not None:
            maker = definition[0]
            if maker.literal or (names and maker.name in names):
                return True
    return False


def _emitted(
    operation: Any, keys: Sequence[ValueKey], role: OperationRole, sweep: Sweep
) -> list[ValueKey]:
    """Emit a step by ``emit`` and return its outputs."""
    cls, flow = sweep.space.value, (sweep,)
    mask = role.active_mask if isinstance(role, Linearized) else (False,) * len(keys)
    pairs = zip(keys, mask, strict=True)
    values = [cls(key, flow if active else NO_FLOW) for key, active in pairs]
    return [value.key for value in emit(operation, values, cls)]


def is_fixed(operation: Any) -> bool:
    """Return False for an operation that may hold objects of the user, which no cache may keep."""
    return bool(getattr(operation, "fixed_rules", False))


def one_aval(inputs: Sequence[ValueKey]) -> Any:
    """Return the aval of all inputs; ``None`` if they differ."""
    aval = inputs[0].aval
    for key in inputs:
        if key.aval is not aval:
            return None
    return aval

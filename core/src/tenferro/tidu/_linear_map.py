"""A recorded map as a linear one: no derivative is taken, its linearity is checked.

What a user's rule does with tangents is recorded on fresh identities like anything else. Emitting
the equations again, with flow in those places, finds out whether they are linear, and gives the
nodes that apply the map to other tangents or turn it around. Read next: ``_pin.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro._runtime import CollectorPaused
from tenferro.computegraph import (
    Application,
    Definition,
    Operation,
    ValueKey,
    apply_operation,
    inputs_of,
    postorder,
)
from tenferro.tidu._context import EMPTY_CONTEXT, ADContext
from tenferro.tidu._emit import RuleBuilder, emit, sweeping
from tenferro.tidu._errors import NotLinearError
from tenferro.tidu._linear_space import LinearSpace
from tenferro.tidu._linearization import Linearization
from tenferro.tidu._value import Sweep, Value

Found = dict[ValueKey, Value]


def linear_map(
    outputs: Sequence[ValueKey],
    places: Sequence[ValueKey],
    *,
    space: LinearSpace,
    operation: Operation | None = None,
    context: ADContext | None = None,
    is_zero: Callable[[ValueKey], bool] | None = None,
) -> Linearization:
    """Return the recorded map from ``places`` to the outputs, which can be applied and transposed.

    Outputs that do not depend on the places count as zero. ``operation`` is named in errors.
    ``is_zero`` says of a fixed value whether it is a constant of value 0, which may be added.

    Raises NotLinearError: if the map is not linear.
    """
    rules = context or EMPTY_CONTEXT
    with CollectorPaused():
        sweep = Sweep(space, transposed=False, kept=True)
        sweep.operation = operation
        seeds: list[Value | None] = [space.value(key, (sweep,)) for key in places]
        found: Found = {key: space.value(key, (sweep,)) for key in places}
        with sweeping(sweep, rules) as rule:
            results: dict[ValueKey, Sequence[Value]] = {}
            for key, definition in depending(outputs, places):
                found[key] = _emit_again(definition, found, results, rule, is_zero)
        values = [found.get(key) for key in outputs]
        ends = [value if value is not None and value.flow else None for value in values]
        return Linearization(
            sweep, seeds, ends, rules, lambda: {v.key: k for k, v in found.items()}
        )


def depending(
    outputs: Sequence[ValueKey], places: Sequence[ValueKey]
) -> list[tuple[ValueKey, Definition]]:
    """Return the equations between the places and the outputs, dependencies first."""
    stop = set(places)
    oldest = min([key.serial for key in places], default=0)  # what is older depends on no place

    taken: dict[ValueKey, Application] = {}

    def definition_of(key: ValueKey) -> Definition | None:
        return None if key in stop or key.serial < oldest else _in_flow(key.definition, taken)

    order, definitions, _ = postorder(outputs, definition_of)
    nodes = []
    met: set[ValueKey] = set()  # applications
    for item in zip(order, definitions, strict=True):
        inputs = item[1][3:]
        if item[1][0].output_count != 1 and inputs[0] not in met:
            met.update(inputs)
            if not stop.isdisjoint(inputs_of(item[1])):
                stop.update(inputs)
        if not stop.isdisjoint(inputs):
            stop.add(item[0])
            nodes.append(item)
    return nodes


def _in_flow(
    definition: Definition | None, taken: dict[ValueKey, Application]
) -> Definition | None:
    """Return the definition with the operation that flow passes through."""
    take = None if definition is None else getattr(definition[0], "as_linear", None)
    if take is None or definition is None:
        return definition
    _, role, slot = definition[:3]
    if definition[0].output_count == 1:
        operation, inputs = take(definition[3:])
        return (operation, role, slot, *inputs)
    application = definition[3]
    if application not in taken:
        operation, inputs = take(application.inputs)
        taken[application] = apply_operation(operation, inputs, role)
    flowing = taken[application]
    return (flowing.operation, role, slot, flowing)


def _emit_again(
    definition: Definition,
    found: Found,
    results: dict[ValueKey, Sequence[Value]],
    rule: RuleBuilder,
    is_zero: Callable[[ValueKey], bool] | None,
) -> Value:
    """Emit one output of an equation; all its outputs are emitted once."""
    operation, _, slot = definition[:3]
    if operation.transparent and not hasattr(operation, "groups"):
        return found[inputs_of(definition)[slot]]  # a pin
    if operation.output_count == 1:
        return _emit_all(operation, definition[3:], found, rule, is_zero)[0]
    application = definition[3]
    if application not in results:
        results[application] = _emit_all(operation, application.inputs, found, rule, is_zero)
    return results[application][slot]


def _emit_all(
    operation: Any,
    inputs: Sequence[ValueKey],
    found: Found,
    rule: RuleBuilder,
    is_zero: Callable[[ValueKey], bool] | None,
) -> Sequence[Value]:
    """Emit all outputs of an equation."""
    values = [found[key] if key in found else rule.value(key) for key in inputs]
    unread = getattr(operation, "unread", ())
    if any([values[i].flow for i in unread]):  # a barrier: nothing flows from what it waits for
        operation = operation.without_unread()
        values = [value for i, value in enumerate(values) if i not in unread]
    try:
        return emit(operation, values, rule.space.value)
    except NotLinearError:
        others = values if is_zero is None else _with_zeros(values, rule, is_zero)
        if all([a is b for a, b in zip(others, values, strict=True)]):
            raise
        return emit(operation, others, rule.space.value)


def _with_zeros(
    values: list[Value], rule: RuleBuilder, is_zero: Callable[[ValueKey], bool]
) -> list[Value]:
    """Replace each constant that is known to be 0 by the zero of the space."""
    return [
        value if value.flow or not is_zero(value.key) else rule.zeros(value.key.aval)
        for value in values
    ]

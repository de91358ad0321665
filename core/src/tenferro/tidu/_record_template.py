"""Record templates: run a derivative rule once, on fresh leaves, and keep what it emits as steps.

The rule sees values that only have avals, so that what it emits is right for all values of these
avals. There is no template of a rule that fails or is wrong, and none of one that emits a pin, an
operation that belongs to the user, or reads a value that it was not given: such a rule is called
each time. Read next: ``_rule_cache.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from tenferro.computegraph import (
    Definition,
    Linearized,
    OperationRole,
    ValueKey,
    inputs_of,
    is_literal,
    new_leaf,
    outputs_of,
    postorder,
)
from tenferro.tidu._emit import RuleBuilder, alone
from tenferro.tidu._linear_space import LinearSpace
from tenferro.tidu._template import (
    SAME,
    RecordedEquation,
    Template,
    Watched,
    is_fixed,
    one_aval,
)
from tenferro.tidu._value import FlowInput, Residual, Sweep, Value

_MUST_BE_NONE = object()  # the aval of a result that a rule must not return
_NOTHING = 0  # place of a result that does not exist; `None` is the first of the values


def template_of_jvp(
    operation: Any,
    space: LinearSpace,
    inputs: Sequence[ValueKey],
    outputs: Sequence[ValueKey],
    tangents_in: Sequence[Any],
) -> Template | None:
    """Make the template of a JVP rule; it is given inputs, outputs and the tangents that flow."""
    if not is_fixed(operation):
        return None
    carried = [operation.carries(key.aval) for key in outputs]
    if not any(carried):
        return Template((), _picker([_NOTHING] * len(outputs)), ())
    sweep = Sweep(space, transposed=False)
    primals = [_fresh(space, key.aval) for key in inputs]
    results = [_fresh(space, key.aval) for key in outputs]
    tangent_of = space.tangent_aval
    tangents = [
        None if t is None else _fresh(space, tangent_of(key.aval), sweep)
        for key, t in zip(inputs, tangents_in, strict=True)
    ]
    given = [*primals, *results, *[t for t in tangents if t is not None]]
    needs = [tangent_of(key.aval) for key in outputs]
    same = _same_aval(operation, inputs)
    return _traced(
        sweep, given, needs, same, lambda rule: operation.jvp(rule, primals, results, tangents)
    )


def template_of_transpose(
    operation: Any,
    space: LinearSpace,
    inputs: Sequence[ValueKey],
    active: tuple[bool, ...],
    cotangents: Sequence[ValueKey | None],
) -> Template | None:
    """Make the template of a transpose rule; it is given the cotangents and the inputs."""
    if not is_fixed(operation):
        return None
    sweep = Sweep(space, transposed=True)
    cts = [None if ct is None else _fresh(space, ct.aval, sweep) for ct in cotangents]
    given = [_fresh(space, key.aval) for key in inputs]  # those that do not flow are seen
    seen = [
        FlowInput(value.aval) if flows else Residual(value)
        for value, flows in zip(given, active, strict=True)
    ]
    needs = [k.aval if flows else _MUST_BE_NONE for k, flows in zip(inputs, active, strict=True)]
    places = [_fresh(space, None) if ct is None else ct for ct in cts] + given
    same = _same_aval(operation, inputs)
    return _traced(sweep, places, needs, same, lambda rule: operation.transpose(rule, cts, seen))


def template_of_sum(space: LinearSpace, transposed: bool, aval: Any) -> Template | None:
    """Make the template of x + y."""
    sweep = Sweep(space, transposed)
    x, y = _fresh(space, aval, sweep), _fresh(space, aval, sweep)
    same = _same_aval(space, [x.key])
    found = _traced(sweep, [x, y], [aval], same, lambda rule: [space.add(x, y)])
    return None if found is None or not found.steps else found


def _same_aval(operation: Any, inputs: Sequence[ValueKey]) -> Any:
    """Return the one aval of all inputs if the rules do not look at all of it, else ``None``."""
    return None if getattr(operation, "rules_look_at", None) is None else one_aval(inputs)


def _fresh(space: LinearSpace, aval: Any, *flow: Sweep) -> Value:
    return space.value(new_leaf("given", aval), flow)


def _traced(
    sweep: Sweep,
    given: Sequence[Value],
    needs: Sequence[Any],
    same: Any,
    call: Callable[[RuleBuilder], Sequence[Any]],
) -> Template | None:
    """Make the template of one call of a rule; ``None`` if the rule fails or is wrong.

    Such a rule is then called as it is, and the error says for which values.
    """
    try:
        with alone(sweep) as rule:
            emitted = call(rule)
    except Exception:
        return None
    ends: list[ValueKey | None] = [None] * len(needs)
    if len(emitted) != len(needs):
        return None
    for i, (value, need) in enumerate(zip(emitted, needs, strict=True)):
        if value is None:
            continue
        if not isinstance(value, Value) or value.key.aval != need:
            return None
        if sweep in value.flow:
            ends[i] = value.key
        elif not sweep.space.is_zero(value.key):
            return None
    return _steps([value.key for value in given], ends, same)


def _steps(
    given: Sequence[ValueKey], ends: Sequence[ValueKey | None], same: Any
) -> Template | None:
    """Return the equations between the given values and the results, in emission order.

    If the template is to serve other avals than ``same``, no equation has parameters, which may
    depend on the aval, or another aval.
    """
    place = {key: i for i, key in enumerate(given, _NOTHING + 1)}
    wanted = [key for key in ends if key is not None]
    order, definitions, leaves = postorder(
        wanted, lambda key: None if key in place else key.definition
    )
    if any([leaf not in place for leaf in leaves]):
        return None  # it reads a value that it was not given
    made = list(zip(order, definitions, strict=True))
    if not _can_be_replayed(made, given[0].serial if given else 0, same):
        return None
    steps = []
    makers: list[Any] = [None for _ in (None, *given)]
    for key, definition in sorted(made, key=lambda item: item[0].serial):
        if key not in place:
            outputs = outputs_of(key, definition)
            aval = key.aval if same is None else SAME
            steps.append(_step(definition, aval, place))
            for output in outputs:
                place[output] = len(place) + 1
                makers.append(definition[0])
    pick = _picker([_NOTHING if key is None else place[key] for key in ends])
    return Template(tuple(steps), pick, _watched_by_all(steps, makers))


def _can_be_replayed(made: Sequence[tuple[ValueKey, Definition]], first: int, same: Any) -> bool:
    """Return True if the equations mean the same for other operands.

    ``first`` is the serial number of the first given value; ``same`` as in `_steps`.
    """
    if any([d[0].transparent or d[0].volatile for _, d in made]):
        return False  # pins are new each time, and so is what is the user's
    if same is not None and any([k.aval is not same or d[0].parameters for k, d in made]):
        return False
    # an older value, made of literals alone, may come at any place in the order of emission
    return all([k.serial >= first or d[0].literal for k, d in made])


def _picker(places: Sequence[int]) -> Callable[[list[Any]], Sequence[Any]]:
    """Return a function, written in C, that picks the values at some places."""
    if len(places) > 1:
        return itemgetter(*places)
    return itemgetter(slice(places[0], places[0] + 1) if places else slice(0))


def _watched_by_all(steps: Sequence[RecordedEquation], makers: Sequence[Any]) -> Watched | None:
    """Return the given values that decide if a step is simplified; ``None`` if others do, too."""
    found: dict[int, set[str]] = {}
    for step in steps:
        if not step.is_plain:
            return None
        for i, names in step.watched:
            if makers[i] is None:
                found.setdefault(i, set()).update(names)
            elif makers[i].name in names:
                return None
    return tuple([(i, tuple(names)) for i, names in found.items()])


def _step(definition: Definition, aval: Any, place: dict[ValueKey, int]) -> RecordedEquation:
    operation, role = definition[0], definition[1]
    inputs: tuple[ValueKey, ...] = inputs_of(definition)
    triggers: tuple[str, ...] | None = operation.simplify_triggers
    names = () if operation.simplify is None or triggers is None else triggers
    watches = operation.simplify is not None or operation.commutative  # literals come last
    given = inputs if watches else ()
    watched = tuple([(place[key], names) for key in given if not is_literal(key)])
    mask = role.active_mask if isinstance(role, Linearized) else None
    swapped_role: OperationRole | None = None
    if operation.commutative and len(watched) == 2:
        swapped_role = role
        if isinstance(role, Linearized):
            swapped_role = Linearized(role.active_mask[::-1], role.transposed)
    is_plain = operation.output_count == 1
    is_plain = is_plain and (operation.simplify is None or triggers is not None)
    places = tuple([place[key] for key in inputs])
    return RecordedEquation(operation, places, role, swapped_role, aval, mask, watched, is_plain)

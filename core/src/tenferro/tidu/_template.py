"""Templates: what a rule emits, kept for the next operation that looks alike.

Rules are deterministic in the operation, the avals and the active inputs. So a rule is run once, on
fresh leaves, and what it emitted is kept as a list of steps; for other values the steps are
emitted again. Each step is simplified and put in order as the rule itself would have been, so
that graphs do not show which way they came. Only vocabularies that say so (``fixed_rules``) are
treated like this, and only where no rules of the caller and no outer pass take part.
Read next: ``_flowing.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import (
    Definition,
    Linearized,
    OperationRole,
    ValueKey,
    derive_at,
    inputs_of,
    new_leaf,
    outputs_of,
    postorder,
)
from tenferro.tidu._context import EMPTY_CONTEXT
from tenferro.tidu._emit import RuleBuilder, alone, emit
from tenferro.tidu._linear_space import LinearSpace
from tenferro.tidu._value import NO_FLOW, Linear, Pass, Residual, Value

_LIMIT = 4096  # templates of each kind
jvp_templates: dict[tuple[Any, ...], Template | None] = {}
transpose_templates: dict[tuple[Any, ...], Template | None] = {}
_sums: dict[tuple[Any, ...], Template | None] = {}
MISSING: Any = object()
_NOTHING = object()  # the aval of a result that must not be there


# Places of values, and the names of the operations that let a reader of such a value be simplified;
# a literal always may.
Watched = tuple[tuple[int, tuple[str, ...]], ...]


class Step(NamedTuple):
    """One equation: places of its inputs among the values so far; the outputs follow these."""

    operation: Any
    places: tuple[int, ...]
    role: OperationRole
    turned: OperationRole | None  # the role if the operands change places, where they may
    aval: Any
    mask: tuple[bool, ...] | None  # inputs through which flow runs; None: no flow
    watched: Watched  # inputs that decide if the step is simplified
    is_plain: bool  # whether nothing else decides


class Template(NamedTuple):
    """Steps over the values that a rule is given, and the results: (position, place).

    ``watched`` lists the given values that decide if a step is simplified; it is ``None``
    where that has to be asked at each step.
    """

    steps: tuple[Step, ...]
    results: tuple[tuple[int, int], ...]
    watched: Watched | None


def takes_templates(rule: RuleBuilder) -> bool:
    """Return True if operations, avals and active inputs alone decide what rules emit."""
    return rule.context is EMPTY_CONTEXT and not rule.enclosing


def replay(template: Template, values: list[Any], run: Pass) -> None:
    """Append the values of all steps to ``values``, which begins with what the rule is given."""
    watched = template.watched
    if watched is None or (watched and _may_simplify(values, watched)):
        _replay_asking(template, values, run)
        return
    for operation, places, role, turned, aval, mask, _, _ in template.steps:
        if len(places) == 2:
            x, y = values[places[0]], values[places[1]]
            if turned is not None and x.serial > y.serial:
                x, y, role, mask = y, x, turned, mask and mask[::-1]
            key = derive_at((operation, role, 0, x, y), aval)
        elif len(places) == 1:
            key = derive_at((operation, role, 0, values[places[0]]), aval)
        else:
            key = derive_at((operation, role, 0, *[values[i] for i in places]), aval)
        values.append(key)
        if mask is not None:
            run.nodes[key] = mask
            if key.source is None:
                key.source = run.source


def _replay_asking(template: Template, values: list[Any], run: Pass) -> None:
    """Replay a template, and ask at each step whether the values simplify it."""
    for step in template.steps:
        operation, places, role, turned, aval, mask, watched, is_plain = step
        if not is_plain or _may_simplify(values, watched):
            values += _emitted(operation, [values[i] for i in places], role, run)
            continue
        given = [values[i] for i in places]
        if turned is not None and given[0].serial > given[1].serial:
            given, role, mask = given[::-1], turned, mask and mask[::-1]
        key = derive_at((operation, role, 0, *given), aval)
        values.append(key)
        if mask is not None:
            run.nodes[key] = mask
            if key.source is None:
                key.source = run.source


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
    operation: Any, keys: Sequence[ValueKey], role: OperationRole, run: Pass
) -> list[ValueKey]:
    """Emit a step by ``emit`` and return its outputs."""
    cls, flow = run.space.value, (run,)
    mask = role.active_mask if isinstance(role, Linearized) else (False,) * len(keys)
    pairs = zip(keys, mask, strict=True)
    values = [cls(key, flow if active else NO_FLOW) for key, active in pairs]
    return [value.key for value in emit(operation, values, cls)]


def jvp_template(
    entry: tuple[Any, ...],
    inputs: Sequence[ValueKey],
    outputs: Sequence[ValueKey],
    incoming: Sequence[Any],
) -> Template | None:
    """Make what the JVP rule emits; it is given inputs, outputs and the tangents that flow.

    ``entry`` names it among ``jvp_templates``: the operation and the space come first.
    """
    operation, space = entry[:2]
    if not _is_fixed(operation):  # it may hold what is the user's, which is not kept alive here
        return None
    found = _of_jvp(operation, space, inputs, outputs, incoming)
    return _keep(jvp_templates, entry, found)


def _of_jvp(
    operation: Any,
    space: LinearSpace,
    inputs: Sequence[ValueKey],
    outputs: Sequence[ValueKey],
    incoming: Sequence[Any],
) -> Template | None:
    carried = [operation.carries(key.aval) for key in outputs]
    if not (any(carried) and any([t is not None for t in incoming])):
        return Template((), (), ())
    run = Pass(space, transposed=False)
    primals = [_fresh(space, key.aval) for key in inputs]
    results = [_fresh(space, key.aval) for key in outputs]
    tangent_of = space.tangent_aval
    tangents = [
        None if t is None else _fresh(space, tangent_of(key.aval), run)
        for key, t in zip(inputs, incoming, strict=True)
    ]
    given = [*primals, *results, *[t for t in tangents if t is not None]]
    needs = [tangent_of(key.aval) for key in outputs]
    return _traced(run, given, needs, lambda rule: operation.jvp(rule, primals, results, tangents))


def transpose_template(
    entry: tuple[Any, ...],
    inputs: Sequence[ValueKey],
    cotangents: Sequence[ValueKey | None],
    mask: tuple[bool, ...],
) -> Template | None:
    """Make what the transpose rule emits; it is given the cotangents and the inputs.

    ``entry`` names it among ``transpose_templates``: the operation and the space come first.
    """
    operation, space = entry[:2]
    if not _is_fixed(operation):
        return None
    found = _of_transpose(operation, space, inputs, cotangents, mask)
    return _keep(transpose_templates, entry, found)


def _of_transpose(
    operation: Any,
    space: LinearSpace,
    inputs: Sequence[ValueKey],
    cotangents: Sequence[ValueKey | None],
    mask: tuple[bool, ...],
) -> Template | None:
    run = Pass(space, transposed=True)
    cts = [None if ct is None else _fresh(space, ct.aval, run) for ct in cotangents]
    given = [_fresh(space, key.aval) for key in inputs]  # those that do not flow are seen
    seen = [
        Linear(value.aval) if active else Residual(value)
        for value, active in zip(given, mask, strict=True)
    ]
    needs = [k.aval if active else _NOTHING for k, active in zip(inputs, mask, strict=True)]
    places = [_fresh(space, None) if ct is None else ct for ct in cts] + given
    return _traced(run, places, needs, lambda rule: operation.transpose(rule, cts, seen))


def _is_fixed(operation: Any) -> bool:
    return bool(getattr(operation, "fixed_rules", False))


def adder(run: Pass) -> Callable[[ValueKey, ValueKey], ValueKey]:
    """``space.add`` for the keys of two values that flow in this pass and in no other."""
    space = run.space
    cls, plain, transposed = space.value, space.add, run.transposed
    flow = (run,)

    def add(x: ValueKey, y: ValueKey) -> ValueKey:
        entry = (space, transposed, x.aval)
        template = _sums.get(entry, MISSING)
        if template is MISSING:
            template = _keep(_sums, entry, _sum_template(space, transposed, x.aval))
        if template is None:
            return plain(cls(x, flow), cls(y, flow)).key
        values = [x, y]
        replay(template, values, run)
        found: ValueKey = values[template.results[0][1]]
        return found

    return add


def _sum_template(space: LinearSpace, transposed: bool, aval: Any) -> Template | None:
    run = Pass(space, transposed)
    x, y = _fresh(space, aval, run), _fresh(space, aval, run)
    found = _traced(run, [x, y], [aval], lambda rule: [space.add(x, y)])
    return found if found is not None and len(found.results) == 1 else None


def _keep(
    table: dict[tuple[Any, ...], Template | None], entry: tuple[Any, ...], found: Template | None
) -> Template | None:
    if len(table) >= _LIMIT:
        table.clear()
    table[entry] = found
    return found


def _fresh(space: LinearSpace, aval: Any, *flow: Pass) -> Value:
    return space.value(new_leaf("given", aval), flow)


def _traced(
    run: Pass,
    given: Sequence[Value],
    needs: Sequence[Any],
    call: Callable[[RuleBuilder], Sequence[Any]],
) -> Template | None:
    """Make the template of one call of a rule; ``None`` if the rule fails or is wrong.

    Such a rule is then called as it is, and the error says for which values.
    """
    try:
        with alone(run) as rule:
            emitted = call(rule)
    except Exception:
        return None
    ends = []
    if len(emitted) != len(needs):
        return None
    for i, (value, need) in enumerate(zip(emitted, needs, strict=True)):
        if value is None:
            continue
        if not isinstance(value, Value) or value.key.aval != need:
            return None
        if run in value.flow:
            ends.append((i, value.key))
        elif not run.space.is_zero(value.key):
            return None
    return _steps([value.key for value in given], ends)


def _steps(given: Sequence[ValueKey], ends: Sequence[tuple[int, ValueKey]]) -> Template | None:
    """Return the equations between the given values and the results, in emission order."""
    place = {key: i for i, key in enumerate(given)}
    order, definitions, leaves = postorder(
        [key for _, key in ends], lambda key: None if key in place else key.definition
    )
    if any([leaf not in place for leaf in leaves]):
        return None  # it reads a value that it was not given
    if any([d[0].transparent or d[0].volatile for d in definitions]):
        return None  # pins are new each time, and so is what is the user's
    steps = []
    makers: list[Any] = [None for _ in given]
    made = zip(order, definitions, strict=True)
    for key, definition in sorted(made, key=lambda item: item[0].serial):
        if key not in place:
            outputs = outputs_of(key, definition)
            steps.append(_step(definition, outputs, place))
            for output in outputs:
                place[output] = len(place)
                makers.append(definition[0])
    results = tuple([(i, place[key]) for i, key in ends])
    return Template(tuple(steps), results, _watched_by_all(steps, makers))


def _watched_by_all(steps: Sequence[Step], makers: Sequence[Any]) -> Watched | None:
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


def _step(definition: Definition, outputs: Sequence[ValueKey], place: dict[ValueKey, int]) -> Step:
    operation, role = definition[0], definition[1]
    inputs: tuple[ValueKey, ...] = inputs_of(definition)
    beside: tuple[str, ...] | None = operation.simplified_beside
    names = () if operation.simplify is None or beside is None else beside
    watches = operation.simplify is not None or operation.commutative  # literals come last
    given = inputs if watches else ()
    watched = tuple([(place[key], names) for key in given if not _is_literal(key)])
    mask = role.active_mask if isinstance(role, Linearized) else None
    turned: OperationRole | None = None
    if operation.commutative and len(watched) == 2:
        turned = role
        if isinstance(role, Linearized):
            turned = Linearized(role.active_mask[::-1], role.transposed)
    is_plain = operation.output_count == 1
    is_plain = is_plain and (operation.simplify is None or beside is not None)
    places = tuple([place[key] for key in inputs])
    aval = outputs[0].aval
    return Step(operation, places, role, turned, aval, mask, watched, is_plain)


def _is_literal(key: ValueKey) -> bool:
    return key.definition is not None and key.definition[0].literal

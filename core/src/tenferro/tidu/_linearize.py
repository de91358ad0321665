"""The forward sweep: emit tangents of outputs from tangents of inputs.

``push`` is the one algorithm. ``linearize`` runs it on fresh seeds and keeps what was emitted as a
linear graph next to a residual graph; ``pushforward`` (in ``_derive.py``) runs it on given
tangents. The traversal is over the resolved logical DAG, iterative, dependencies first; rules are
called only for operations that the outputs need and that depend on ``wrt``. Read next:
``_linear_transpose.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress
from operator import attrgetter
from typing import Any
from weakref import WeakKeyDictionary

from tenferro._runtime import CollectorPaused
from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import (
    Definition,
    Graph,
    Local,
    Operation,
    ResolvedView,
    Resolver,
    ValueKey,
    inputs_of,
    outputs_of,
    postorder,
)
from tenferro.tidu._context import ADContext
from tenferro.tidu._emit import RuleBuilder, sweeping
from tenferro.tidu._errors import DuplicateWrtError, RuleResultError
from tenferro.tidu._flowing import Tangents
from tenferro.tidu._linear_space import NO_TANGENT, LinearSpace
from tenferro.tidu._primitive import missing_rule
from tenferro.tidu._seed import tangent_leaf
from tenferro.tidu._template import (
    MISSING,
    jvp_template,
    jvp_templates,
    replay,
)
from tenferro.tidu._value import LinearNodes, Pass, Value

_aval_of = attrgetter("aval")
NODES: WeakKeyDictionary[Graph, LinearNodes] = WeakKeyDictionary()  # of linear graphs


class LinearInput(NamedTuple):
    """An input of a linear graph: the value whose tangent it is, and where it is.

    A cotangent has no ``key``: holding the value it belongs to would keep the tangent sweep alive.
    """

    key: ValueKey | None
    local: Local


class LinearizedGraph(NamedTuple):
    """A strictly linear graph and the residual graph that it reads from.

    ``tangent_inputs`` stand in the order of ``wrt`` (``None``: no tangent exists),
    ``tangent_outputs`` in the order of the outputs (``None``: nothing flows).
    """

    linear: Graph
    residual: Graph
    tangent_inputs: tuple[LinearInput | None, ...]
    tangent_outputs: tuple[Local | None, ...]
    space: LinearSpace | None = None  # kept, because a graph of wires alone names no vocabulary

    def __str__(self) -> str:
        return f"linear {self.linear}\nresidual {self.residual}"


def linearize(
    view: Resolver,
    outputs: Sequence[ValueKey],
    wrt: Sequence[ValueKey],
    *,
    context: ADContext | None = None,
) -> LinearizedGraph:
    """Return the derivative of outputs with respect to ``wrt``, as a linear graph on fresh seeds.

    Raises DuplicateWrtError: if a value is named twice in ``wrt``.
    Raises MissingRuleError, NotLinearError, RuleResultError: if a rule is missing or wrong.
    """
    check_wrt(wrt)
    with CollectorPaused():
        plan = plan_sweep(view, outputs, wrt)
        run = Pass(plan.space, transposed=False, kept=True) if plan.space else None
        if run is None:
            return _wires(plan, outputs, wrt)
        seeds = fresh_tangents(wrt, run)
        with sweeping(run, context) as rule:
            tangents = push(plan, wrt, seeds, rule)
        results = [tangents.of(key) for key in outputs]
        del plan, tangents, rule  # a graph needs its memory more than they do now
        return assemble(run, view, list(wrt), seeds, results)


def check_wrt(wrt: Sequence[ValueKey]) -> None:
    """Raise DuplicateWrtError if a value is named twice."""
    if len(set(wrt)) == len(wrt):
        return
    for second, key in enumerate(wrt):
        first = list(wrt).index(key)
        if first != second:
            raise DuplicateWrtError(
                f"wrt names {key!r} twice, at positions {first} and {second}",
                value=key,
                positions=(first, second),
            )


class SweepPlan(NamedTuple):
    """Plan of a sweep: the values between ``wrt`` and the outputs, in topological order.

    Some of it may not depend on ``wrt``: nothing flows there. ``space`` is that of an operation
    that does.
    """

    keys: list[ValueKey]
    definitions: list[Definition]
    space: LinearSpace | None


def plan_sweep(view: Resolver, outputs: Sequence[ValueKey], wrt: Sequence[ValueKey]) -> SweepPlan:
    """Find what has to be swept: what the outputs are made of, back to ``wrt``."""
    stop = set(wrt)
    oldest = min([key.serial for key in wrt], default=0)  # what is older depends on none of them
    lookup = view.definition

    def definition_of(key: ValueKey) -> Definition | None:
        found = None if key in stop or key.serial < oldest else lookup(key)
        return found if found is None or found[0].carries(key.aval) else None

    order, definitions, _ = postorder(outputs, definition_of)
    active = stop
    still: set[ValueKey] = set()  # applications
    for key, definition in zip(order, definitions, strict=True):
        inputs = definition[3:]
        if definition[0].output_count != 1:
            if inputs[0] in still:
                continue
            still.update(inputs)
            inputs = inputs_of(definition)
        if not active.isdisjoint(inputs):
            space: LinearSpace | None = getattr(definition[0], "space", None)
            if space is not None:
                return SweepPlan(order, definitions, space)
            active.add(key)
    return SweepPlan(order, definitions, None)


def fresh_tangents(wrt: Sequence[ValueKey], run: Pass) -> list[Value | None]:
    """Make a fresh active seed for each value; ``None`` if no tangent exists."""
    seeds: list[Value | None] = []
    for key in wrt:
        aval = run.space.tangent_aval(key.aval)
        if aval is NO_TANGENT:
            seeds.append(None)
        else:
            leaf = tangent_leaf(key, aval, run.id)
            run.seeds.add(leaf)
            seeds.append(run.space.value(leaf, (run,)))
    return seeds


def push(
    plan: SweepPlan,
    wrt: Sequence[ValueKey],
    seeds: Sequence[Value | None],
    rule: RuleBuilder,
) -> Tangents:
    """Emit tangents for the nodes of the plan; returns those of all values where any flows."""
    flowing = Tangents(rule, wrt, seeds)
    swept: set[ValueKey] = set()  # applications
    run, get, value_of = rule.run, flowing.handles.get, rule.reader()
    is_still = flowing.handles.keys().isdisjoint
    replayed = _replaying(flowing)
    for key, definition in zip(plan.keys, plan.definitions, strict=True):
        operation, inputs = definition[0], definition[3:]
        produced: tuple[ValueKey, ...] = (key,)
        if operation.output_count != 1:
            if inputs[0] in swept:
                continue
            swept.update(inputs)
            inputs = inputs_of(definition)
        if is_still(inputs):
            continue
        incoming = [*map(get, inputs)]
        if operation.output_count != 1:
            produced = outputs_of(key, definition)
        run.source = key.source
        if replayed is not None and replayed(operation, inputs, produced, incoming):
            continue
        tangents = [*map(flowing.value, incoming)]
        carried = any([operation.carries(k.aval) for k in produced])
        if not carried or not any([t is not None for t in tangents]):
            continue
        run.operation = operation
        emitted = rule.context.jvp(operation)(
            rule, [value_of(k) for k in inputs], [value_of(k) for k in produced], tangents
        )
        _store(flowing, produced, emitted, operation)
    return flowing


def _replaying(flowing: Tangents) -> Callable[..., bool] | None:
    """Return a function that emits tangents by templates; ``None`` if none may be used.

    A template is for an operation, the avals of its inputs, and those of them that are active.
    """
    if not flowing.is_bare:
        return None
    run, space, tangents = flowing.rule.run, flowing.rule.space, flowing.handles
    known = jvp_templates.get

    def replayed(
        operation: Any,
        inputs: tuple[ValueKey, ...],
        produced: tuple[ValueKey, ...],
        incoming: list[ValueKey | None],
    ) -> bool:
        entry: tuple[Any, ...]
        if None in incoming:
            entry = (operation, space, *map(_aval_of, inputs), *[t is None for t in incoming])
            tangents_in = [t for t in incoming if t is not None]
        else:
            entry = (operation, space, *map(_aval_of, inputs))
            tangents_in = incoming  # type: ignore[assignment]  # there is no None
        template = known(entry, MISSING)
        if template is MISSING:
            template = jvp_template(entry, inputs, produced, incoming)
        if template is None:
            return False
        values = [*inputs, *produced, *tangents_in]
        replay(template, values, run)
        for i, place in template.results:
            tangents[produced[i]] = values[place]
        return True

    return replayed


def _store(
    flowing: Tangents,
    produced: Sequence[ValueKey],
    emitted: Sequence[Value | None],
    operation: Operation,
) -> None:
    """Keep what a rule emitted, after a check of its form."""
    rule = flowing.rule
    if len(emitted) != len(produced):
        raise wrong_result(operation, rule, f"{len(emitted)} tangents", f"{len(produced)}")
    for key, tangent in zip(produced, emitted, strict=True):
        if tangent is None:
            continue
        check_emitted(tangent, rule.space.tangent_aval(key.aval), operation, rule)
        if rule.run in tangent.flow:
            flowing.handles[key] = flowing.handle(tangent)


def check_emitted(value: Value, need: Any, operation: Operation, rule: RuleBuilder) -> None:
    """Raise RuleResultError unless an emitted value has the aval and the flow it must have."""
    if not isinstance(value, Value):
        raise wrong_result(operation, rule, repr(value), "a value or None")
    if value.key.aval != need:
        raise wrong_result(operation, rule, str(value.key.aval), str(need))
    if rule.run not in value.flow and not rule.space.is_zero(value.key):
        got = f"a constant {value.key.aval}"
        raise wrong_result(operation, rule, got, "a value that carries flow")


def wrong_result(operation: Operation, rule: RuleBuilder, got: str, need: str) -> RuleResultError:
    """Make the error for a rule that returned a wrong result."""
    key = getattr(operation, "key", "") or operation.name
    return RuleResultError(
        f"{key}: its {rule.run.rule} rule returned a wrong result\n"
        f"  got        {got}\n  need       {need}",
        primitive=key,
        rule=rule.run.rule,
        got=got,
        need=need,
    )


def assemble(
    run: Pass,
    view: Resolver,
    wrt: Sequence[ValueKey | None],
    seeds: Sequence[Value | None],
    results: Sequence[Value | None],
) -> LinearizedGraph:
    """Assemble the linear graph of a pass and the residual graph that it reads from."""
    parents = view.graphs if isinstance(view, ResolvedView) else ()
    keys = [t.key for t in seeds if t is not None]
    live = live_nodes(run, results)
    made, equations = live.keys, live.definitions
    if any([definition[0].output_count != 1 for definition in equations]):
        made = [key for node in live.each() for key in node.outputs]
    own = {*keys, *made}
    external = [key for definition in equations for key in inputs_of(definition) if key not in own]
    del own
    residual = Graph.of((), [*dict.fromkeys(external)], parents)
    ends = [None if t is None else t.key for t in results]
    linear = Graph.over(
        keys, made, equations, [k for k in ends if k is not None], (residual, *parents)
    )
    NODES[linear] = live
    wanted = {*ends}
    place = {key: Local(i) for i, key in enumerate(linear.keys) if key in wanted}
    given = iter(linear.inputs)
    return LinearizedGraph(
        linear,
        residual,
        tuple(
            [
                None if t is None else LinearInput(key, next(given))
                for key, t in zip(wrt, seeds, strict=True)
            ]
        ),
        tuple([None if key is None else place[key] for key in ends]),
        run.space,
    )


def live_nodes(run: Pass, results: Sequence[Value | None]) -> LinearNodes:
    """Return the recorded nodes that the results need, in the order of emission."""
    needed = {t.key for t in results if t is not None}
    live = LinearNodes([], [], [])
    for key, mask in reversed(run.nodes.items()):
        definition: Any = key.definition
        if key in needed:
            needed.remove(key)  # whoever needs it came before
        elif definition[0].output_count == 1 or needed.isdisjoint(outputs_of(key, definition)):
            continue
        live.keys.append(key)
        live.definitions.append(definition)
        live.masks.append(mask)
        needed.update(compress(inputs_of(definition), mask))
    for column in live:
        column.reverse()
    return live


def _wires(
    plan: SweepPlan, outputs: Sequence[ValueKey], wrt: Sequence[ValueKey]
) -> LinearizedGraph:
    """Return the derivative if no primitive lies between ``wrt`` and the outputs.

    An output that is itself in ``wrt``, or a pin of it, still has the identity as its derivative;
    its tangent aval is its own aval, because no vocabulary says otherwise.
    """
    run_id = Pass(None, transposed=False).id  # type: ignore[arg-type]
    seeds = [tangent_leaf(key, key.aval, run_id) for key in wrt]
    wires = {key: Local(i) for i, key in enumerate(wrt)}
    inputs = tuple([LinearInput(key, local) for key, local in wires.items()])
    still: set[ValueKey] = set()  # applications
    for key, definition in zip(plan.keys, plan.definitions, strict=True):
        if definition[3:] and definition[3] in still:
            continue
        if wires.keys().isdisjoint(inputs_of(definition)):
            still.update(definition[3:] if definition[0].output_count != 1 else ())
            continue
        if not definition[0].transparent:
            raise missing_rule(definition[0], "jvp")
        wires[key] = wires[inputs_of(definition)[definition[2]]]
    found = tuple([wires.get(key) for key in outputs])
    linear = Graph.over(seeds, (), (), [seeds[local] for local in found if local is not None])
    return LinearizedGraph(linear, Graph.of((), ()), inputs, found)

"""The forward sweep: emit the tangents of outputs from the tangents of inputs.

``plan_sweep`` finds the equations between ``wrt`` and the outputs, and ``push`` asks the JVP rule
of each, dependencies first. Nothing recurses. ``linearize_keys`` runs the sweep on fresh seeds,
``pushforward`` on given tangents. Read next: ``_pull.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import (
    Definition,
    Resolver,
    ValueKey,
    inputs_of,
    outputs_of,
    postorder,
)
from tenferro.tidu._apply_rules import CalledRules, Flowing
from tenferro.tidu._errors import DuplicateWrtError
from tenferro.tidu._linear_space import NO_TANGENT, LinearSpace
from tenferro.tidu._seed import tangent_leaf
from tenferro.tidu._value import Sweep, Value

Tangents = dict[ValueKey, Flowing]


class SweepPlan(NamedTuple):
    """Equations between ``wrt`` and the outputs in topological order, each by its first output.

    Some may not depend on ``wrt``: nothing flows there. ``space`` is the linear space of one that
    does; ``None`` if no operation names any.
    """

    keys: list[ValueKey]
    definitions: list[Definition]
    space: LinearSpace | None


def push(plan: SweepPlan, tangents: Tangents, rules: CalledRules) -> None:
    """Add the tangents of all values that depend on those which have one.

    For each y = f(x):   dy = f'(x) dx
    """
    sweep, tangent_of, jvp = rules.sweep, tangents.get, rules.jvp
    nothing_flows_in = tangents.keys().isdisjoint
    for key, definition in zip(plan.keys, plan.definitions, strict=True):
        operation, inputs = definition[0], definition[3:]
        outputs: tuple[ValueKey, ...] = (key,)
        if operation.output_count != 1:
            inputs, outputs = inputs_of(definition), outputs_of(key, definition)
        if nothing_flows_in(inputs):
            continue
        sweep.source = key.source
        found = jvp(operation, inputs, outputs, [*map(tangent_of, inputs)])
        for y, dy in zip(outputs, found):  # noqa: B905 - checked, and faster
            if dy is not None:
                tangents[y] = dy


def plan_sweep(view: Resolver, outputs: Sequence[ValueKey], wrt: Sequence[ValueKey]) -> SweepPlan:
    """Find the equations that a sweep visits: all that the outputs need, back to ``wrt``.

    Raises DuplicateWrtError: if a value is named twice in ``wrt``.
    """
    _check_distinct(wrt)
    stop = set(wrt)
    oldest = min([key.serial for key in wrt], default=0)  # what is older depends on none of them
    lookup = view.definition

    def definition_of(key: ValueKey) -> Definition | None:
        found = None if key in stop or key.serial < oldest else lookup(key)
        return found if found is None or found[0].carries(key.aval) else None

    order, definitions, _ = postorder(outputs, definition_of)
    if any([definition[0].output_count != 1 for definition in definitions]):
        order, definitions = _each_application_once(order, definitions)
    for key, definition in zip(order, definitions, strict=True):
        if not stop.isdisjoint(inputs_of(definition)):
            space: LinearSpace | None = getattr(definition[0], "space", None)
            if space is not None:
                return SweepPlan(order, definitions, space)
            stop.update(outputs_of(key, definition))
    return SweepPlan(order, definitions, None)


def _each_application_once(
    keys: list[ValueKey], definitions: list[Definition]
) -> tuple[list[ValueKey], list[Definition]]:
    """Drop the second and later outputs of operations that have several."""
    seen: set[ValueKey] = set()  # applications
    firsts = []
    for i, definition in enumerate(definitions):
        if definition[0].output_count == 1:
            firsts.append(i)
        elif definition[3] not in seen:
            seen.add(definition[3])
            firsts.append(i)
    return [keys[i] for i in firsts], [definitions[i] for i in firsts]


def _check_distinct(wrt: Sequence[ValueKey]) -> None:
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


def fresh_tangents(wrt: Sequence[ValueKey], sweep: Sweep) -> list[Value | None]:
    """Make a fresh active seed for each value; ``None`` if no tangent exists."""
    seeds: list[Value | None] = []
    for key in wrt:
        aval = sweep.space.tangent_aval(key.aval)
        if aval is NO_TANGENT:
            seeds.append(None)
        else:
            leaf = tangent_leaf(key, aval, sweep.id)
            sweep.seeds.add(leaf)
            seeds.append(sweep.space.value(leaf, (sweep,)))
    return seeds

"""Linearization of values, without graph objects: this is what ``tn.grad`` runs.

Keys hold their own history, so outputs and ``wrt`` are enough: ``linearize_keys`` sweeps forward
once, on fresh seeds, and the ``Linearization`` that it returns applies the derivative to tangents
or transposes it onto cotangents. ``pullback`` is both in one call; ``pushforward`` pushes given
tangents through the forward sweep, without seeds. All leave their results as further values of the
graph they extend, so they nest. The graph forms (``_graph_forms.py``) show the same sweeps as
graphs. Read next: ``_pin.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

from tenferro._runtime import CollectorPaused
from tenferro.computegraph import Definition, KeyView, Resolver, ValueKey, inputs_of, outputs_of
from tenferro.tidu._apply_rules import CalledRules, Primals
from tenferro.tidu._context import EMPTY_CONTEXT, ADContext
from tenferro.tidu._emit import RuleBuilder, emit, sweeping
from tenferro.tidu._flow_names import cotangents_of, name_tangents
from tenferro.tidu._linear_space import LinearSpace
from tenferro.tidu._pull import pull
from tenferro.tidu._push import Tangents, fresh_tangents, plan_sweep, push
from tenferro.tidu._rule_cache import rules_of
from tenferro.tidu._value import LinearNode, LinearNodes, Sweep, Value, is_kept
from tenferro.tidu._wires import WIRES, check_wires

_KEYS = KeyView()


def pullback(
    outputs: Sequence[ValueKey],
    wrt: Sequence[ValueKey],
    cotangents: Sequence[Value | None],
    *,
    space: LinearSpace,
    view: Resolver = _KEYS,
    context: ADContext | None = None,
) -> list[Value | None]:
    """Pull cotangents of the outputs back to ``wrt``; ``None`` where nothing flows."""
    linear = linearize_keys(outputs, wrt, space=space, view=view, context=context)
    return linear.transpose(cotangents)


def pushforward(
    outputs: Sequence[ValueKey],
    wrt: Sequence[ValueKey],
    tangents: Sequence[Value | None],
    *,
    space: LinearSpace,
    view: Resolver = _KEYS,
    context: ADContext | None = None,
) -> list[Value | None]:
    """Push tangents of ``wrt`` forward to the outputs; ``None`` where nothing flows."""
    with CollectorPaused():
        plan = plan_sweep(view, outputs, wrt)
        sweep = Sweep(space, transposed=False)
        seeds = [None if t is None else _enter(t, sweep) for t in tangents]
        with sweeping(sweep, context) as rule:
            rules = rules_of(rule)
            found = _starting(wrt, seeds, rules)
            push(plan, found, rules)
            name_tangents(found, rules.leave)
        return [_leave(rules.leave(found.get(key)), sweep) for key in outputs]


def linearize_keys(
    outputs: Sequence[ValueKey],
    wrt: Sequence[ValueKey],
    *,
    space: LinearSpace | None = None,
    view: Resolver = _KEYS,
    context: ADContext | None = None,
) -> Linearization:
    """Sweep forward once on fresh seeds; the result applies the derivative or its transpose.

    ``space`` is that of the operations in between, if it is not given.

    Raises DuplicateWrtError: if a value is named twice in ``wrt``.
    Raises MissingRuleError, NotLinearError, RuleResultError: if a rule is missing or wrong.
    """
    with CollectorPaused():
        plan = plan_sweep(view, outputs, wrt)
        sweep = Sweep(space or plan.space or WIRES, transposed=False, kept=True)
        seeds = fresh_tangents(wrt, sweep)
        with sweeping(sweep, context) as rule:
            rules = rules_of(rule)
            tangents = _starting(wrt, seeds, rules)
            push(plan, tangents, rules)
            name_tangents(tangents, rules.leave)
        ends = [rules.leave(tangents.get(key)) for key in outputs]
        primals = _belonging(tangents, rules)
        return Linearization(sweep, seeds, ends, context or EMPTY_CONTEXT, primals)


def _starting(
    wrt: Sequence[ValueKey], seeds: Sequence[Value | None], rules: CalledRules
) -> Tangents:
    """Return the table of tangents as it is before the sweep."""
    pairs = zip(wrt, seeds, strict=True)
    return {key: rules.enter(seed) for key, seed in pairs if seed is not None}


def _belonging(tangents: Tangents, rules: CalledRules) -> Primals:
    """Return a function that looks up the value to which a tangent belongs."""
    leave = rules.leave
    return lambda: {leave(t).key: key for key, t in tangents.items()}  # type: ignore[union-attr]


class Linearization:
    """The derivative of outputs with respect to ``wrt``, swept once and applied many times.

    ``nodes`` are linear equations from ``seeds``, one per ``wrt``, to ``ends``, one per output;
    ``None`` stands where nothing flows.
    """

    __slots__ = ("_context", "_primals", "ends", "nodes", "seeds", "space")

    def __init__(
        self,
        sweep: Sweep,
        seeds: Sequence[Value | None],
        ends: Sequence[Value | None],
        context: ADContext = EMPTY_CONTEXT,
        primals: Primals = dict,
    ) -> None:
        self.space = sweep.space
        self.seeds = seeds
        self.ends = ends
        self.nodes = _live_nodes(sweep, ends)
        self._context = context
        self._primals = primals  # of tangents; only rules that are called, not replayed, ask

    @property
    def residuals(self) -> tuple[ValueKey, ...]:
        """The values that it reads from the primal program."""
        fixed: dict[ValueKey, None] = {}
        for _, definition, mask in zip(*self.nodes, strict=True):
            for key, active in zip(inputs_of(definition), mask, strict=True):
                if not active:
                    fixed[key] = None
        return tuple(fixed)

    @property
    def reached(self) -> tuple[bool, ...]:
        """For each output, whether anything flows there."""
        return tuple([end is not None for end in self.ends])

    def between(
        self, starts: Sequence[ValueKey | None], ends: Sequence[ValueKey | None]
    ) -> Linearization:
        """Return the part of the map that takes some of its values, distinct ones, to others.

        What flows into a start from elsewhere is not a part of it. Flow that comes from no start
        counts as zero.
        """
        sweep = Sweep(self.space, transposed=False, kept=True)
        given = {key for key in starts if key is not None}
        flowing = {*given}
        for node in self.nodes.each():
            pairs = zip(node.inputs, node.active_mask, strict=True)
            if any([active and key in flowing for key, active in pairs]):
                made = [key for key in node.outputs if key not in given]
                flowing.update(made)
                if made:
                    sweep.nodes[node.key] = node.active_mask
        value = self.space.value
        return Linearization(
            sweep,
            [None if key is None else value(key, (sweep,)) for key in starts],
            [value(key, (sweep,)) if key in flowing else None for key in ends],
            self._context,
            self._primals,
        )

    def apply(self, tangents: Sequence[Value | None]) -> list[Value | None]:
        """Emit the linear nodes again on given tangents; return tangents of the outputs."""
        with CollectorPaused():
            sweep = Sweep(self.space, transposed=False)
            found: dict[ValueKey, Value | None] = {}
            for seed, tangent in zip(self.seeds, tangents, strict=True):
                if seed is not None:
                    found[seed.key] = None if tangent is None else _enter(tangent, sweep)
            with sweeping(sweep, self._context) as rule:
                for node in self.nodes.each():
                    _emit_again(node, found, rule)
            ends = [None if end is None else found.get(end.key) for end in self.ends]
            return [_leave(value, sweep) for value in ends]

    def transpose(self, cotangents: Sequence[Value | None]) -> list[Value | None]:
        """Sweep backward over the linear nodes; return cotangents of ``wrt``."""
        with CollectorPaused():
            sweep = Sweep(self.space, transposed=True)
            entered = [None if ct is None else _enter(ct, sweep) for ct in cotangents]
            found = self.swept_back(entered, sweep, self._context)
            return [_leave(value, sweep) for value in found]

    def swept_back(
        self,
        cotangents: Sequence[Value | None],
        sweep: Sweep,
        context: ADContext | None,
        nodes: LinearNodes | None = None,
    ) -> list[Value | None]:
        """Return cotangents of ``wrt`` from those of the outputs, which flow in ``sweep``.

        With ``nodes``, only these are transposed.
        """
        if self.space is WIRES:
            check_wires(self.ends, cotangents)
        with sweeping(sweep, context) as rule:
            rules = rules_of(rule, self._primals)
            found = cotangents_of(rules, self.ends, cotangents, self._primals)
            found.kept = frozenset([seed.key for seed in self.seeds if seed is not None])
            pull(self.nodes if nodes is None else nodes, found, rules)
            taken = [None if seed is None else found.take(seed.key) for seed in self.seeds]
            return [rules.leave(ct) for ct in taken]


def _live_nodes(sweep: Sweep, results: Sequence[Value | None]) -> LinearNodes:
    """Return the recorded nodes that the results need, in the order of emission."""
    needed = {t.key for t in results if t is not None}
    live = LinearNodes([], [], [])
    for key, mask in reversed(sweep.nodes.items()):
        definition: Definition = key.definition  # type: ignore[assignment]  # never a leaf
        inputs = definition[3:]
        if definition[0].output_count != 1:
            inputs = inputs_of(definition)
            if needed.isdisjoint(outputs_of(key, definition)):
                continue
        elif key not in needed:
            continue
        needed.discard(key)  # whoever needs it came before
        live.keys.append(key)
        live.definitions.append(definition)
        live.masks.append(mask)
        needed.update(compress(inputs, mask))
    for column in live:
        column.reverse()
    return live


def _emit_again(node: LinearNode, found: dict[ValueKey, Value | None], rule: RuleBuilder) -> None:
    """Emit one linear node again, with what was found for its active inputs.

    An output that is there already is a seed in the middle of the map, and stays.
    """
    inputs = [
        found.get(key) if active else rule.value(key)
        for key, active in zip(node.inputs, node.active_mask, strict=True)
    ]
    flowing = [
        i for i, active in zip(inputs, node.active_mask, strict=True) if active and i is not None
    ]
    if not flowing:
        return
    values = [
        rule.zeros(key.aval) if value is None else value
        for key, value in zip(node.inputs, inputs, strict=True)
    ]
    expand = getattr(node.operation, "expand", None)
    if expand is not None and not is_kept(flowing):
        emitted = expand(rule, inputs)
    else:
        emitted = emit(node.operation, values, rule.space.value)
    for key, value in zip(node.outputs, emitted, strict=True):
        found.setdefault(key, value)


def _enter(value: Value, sweep: Sweep) -> Value:
    """Mark the value as active in the sweep."""
    return sweep.space.value(value.key, (*value.flow, sweep))


def _leave(value: Value | None, sweep: Sweep) -> Value | None:
    """Unmark the value as active in the sweep, which has ended."""
    if value is None:
        return None
    return sweep.space.value(value.key, tuple([p for p in value.flow if p is not sweep]))

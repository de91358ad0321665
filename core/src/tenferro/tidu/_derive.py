"""The emitting forms of the two transforms: derivatives on given tangents and cotangents.

``pushforward`` and ``pullback`` run the same sweeps as ``linearize`` and ``linear_transpose`` and
leave their results as values of the graph they extend. Nested transforms and rules that
differentiate call these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tenferro._runtime import CollectorPaused
from tenferro.computegraph import KeyView, Resolver, ValueKey, inputs_of
from tenferro.tidu._context import EMPTY_CONTEXT, ADContext
from tenferro.tidu._emit import RuleBuilder, emit, sweeping
from tenferro.tidu._flowing import Cotangents
from tenferro.tidu._linear_space import LinearSpace
from tenferro.tidu._linear_transpose import pull
from tenferro.tidu._linearize import check_wrt, fresh_tangents, live_nodes, plan_sweep, push
from tenferro.tidu._value import LinearNode, Pass, Value, is_kept

_KEYS = KeyView()


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
    check_wrt(wrt)
    with CollectorPaused():
        plan = plan_sweep(view, outputs, wrt)
        run = Pass(space, transposed=False)
        seeds = [None if t is None else _enter(t, run) for t in tangents]
        with sweeping(run, context) as rule:
            found = push(plan, wrt, seeds, rule)
        return [_leave(found.of(key), run) for key in outputs]


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


class Linearization:
    """The derivative of outputs with respect to ``wrt``, swept once and applied many times."""

    __slots__ = ("_context", "_ends", "_nodes", "_primals", "_seeds", "_space")

    def __init__(
        self, run: Pass, seeds: list[Value | None], ends: list[Value | None],
        context: ADContext, primals: Callable[[], dict[ValueKey, ValueKey]] = dict,
    ) -> None:  # fmt: skip
        self._space = run.space
        self._context = context
        self._seeds = seeds
        self._ends = ends
        self._nodes = live_nodes(run, self._ends)
        self._primals = primals  # of tangents; only rules that are not kept as templates ask

    @property
    def residuals(self) -> tuple[ValueKey, ...]:
        """The values that it reads from the primal program."""
        fixed: dict[ValueKey, None] = {}
        for _, definition, mask in zip(*self._nodes, strict=True):
            for key, active in zip(inputs_of(definition), mask, strict=True):
                if not active:
                    fixed[key] = None
        return tuple(fixed)

    @property
    def reached(self) -> tuple[bool, ...]:
        """For each output, whether anything flows there."""
        return tuple([end is not None for end in self._ends])

    def apply(self, tangents: Sequence[Value | None]) -> list[Value | None]:
        """Emit the linear nodes again on given tangents; return tangents of the outputs."""
        with CollectorPaused():
            run = Pass(self._space, transposed=False)
            found: dict[ValueKey, Value] = {}
            for seed, tangent in zip(self._seeds, tangents, strict=True):
                if seed is not None and tangent is not None:
                    found[seed.key] = _enter(tangent, run)
            with sweeping(run, self._context) as rule:
                for node in self._nodes.each():
                    _replay(node, found, rule)
            ends = [None if end is None else found.get(end.key) for end in self._ends]
            return [_leave(value, run) for value in ends]

    def transpose(self, cotangents: Sequence[Value | None]) -> list[Value | None]:
        """Sweep backward over the linear nodes; return cotangents of ``wrt``."""
        with CollectorPaused():
            run = Pass(self._space, transposed=True)
            with sweeping(run, self._context) as rule:
                flowing = Cotangents(rule)
                for end, ct in zip(self._ends, cotangents, strict=True):
                    if end is not None and ct is not None:
                        flowing.give(end.key, _enter(ct, run))
                pull(self._nodes, flowing, rule, self._primals)
                found = [None if s is None else flowing.taken(s.key) for s in self._seeds]
            return [_leave(value, run) for value in found]


def linearize_keys(
    outputs: Sequence[ValueKey],
    wrt: Sequence[ValueKey],
    *,
    space: LinearSpace,
    view: Resolver = _KEYS,
    context: ADContext | None = None,
) -> Linearization:
    """Sweep forward once on fresh seeds; the result applies the derivative or its transpose."""
    check_wrt(wrt)
    rules = context or EMPTY_CONTEXT
    with CollectorPaused():
        plan = plan_sweep(view, outputs, wrt)
        run = Pass(space, transposed=False, kept=True)
        seeds = fresh_tangents(wrt, run)
        with sweeping(run, rules) as rule:
            tangents = push(plan, wrt, seeds, rule)
        ends = [tangents.of(key) for key in outputs]
        return Linearization(run, seeds, ends, rules, tangents.primals())


def _replay(node: LinearNode, found: dict[ValueKey, Value], rule: RuleBuilder) -> None:
    """Emit one linear node again, with what was found for its active inputs."""
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
    found.update(zip(node.outputs, emitted, strict=True))


def _enter(value: Value, run: Pass) -> Value:
    """Mark the value as active in the pass."""
    return run.space.value(value.key, (*value.flow, run))


def _leave(value: Value | None, run: Pass) -> Value | None:
    """Unmark the value as active in the pass, which has ended."""
    if value is None:
        return None
    return run.space.value(value.key, tuple([p for p in value.flow if p is not run]))

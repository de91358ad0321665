"""The emitting forms of the two transforms: derivatives on given tangents and cotangents.

``pushforward`` and ``pullback`` run the same sweeps as ``linearize`` and ``linear_transpose`` and
leave their results as values of the graph they extend. Nested transforms and rules that
differentiate call these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tenferro.computegraph import CollectorPaused, KeyView, Resolver, ValueKey
from tenferro.tidu._context import EMPTY_CONTEXT, ADContext
from tenferro.tidu._emit import RuleBuilder
from tenferro.tidu._linear_space import LinearSpace
from tenferro.tidu._linear_transpose import Buckets, pull
from tenferro.tidu._linearize import SweepPlan, check_wrt, fresh_tangents, plan_sweep, push
from tenferro.tidu._value import NO_FLOW, Flow, Pass, Value, join_flow

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
    """Tangents of the outputs for given tangents of ``wrt``; ``None`` where nothing flows."""
    check_wrt(wrt)
    with CollectorPaused():
        plan = plan_sweep(view, outputs, wrt)
        run = Pass(space, transposed=False)
        enclosing = _flow_of(tangents)
        seeds = [_enter(t, run) for t in tangents]
        found = push(plan, wrt, seeds, RuleBuilder(run, context or EMPTY_CONTEXT, enclosing))
        return [_leave(found.get(key), run) for key in outputs]


def pullback(
    outputs: Sequence[ValueKey],
    wrt: Sequence[ValueKey],
    cotangents: Sequence[Value | None],
    *,
    space: LinearSpace,
    view: Resolver = _KEYS,
    context: ADContext | None = None,
) -> list[Value | None]:
    """Cotangents of ``wrt`` for given cotangents of the outputs; ``None`` where nothing flows."""
    return prepare_pullback(outputs, wrt, space=space, view=view, context=context)(cotangents)


def prepare_pullback(
    outputs: Sequence[ValueKey],
    wrt: Sequence[ValueKey],
    *,
    space: LinearSpace,
    view: Resolver = _KEYS,
    context: ADContext | None = None,
) -> Callable[[Sequence[Value | None]], list[Value | None]]:
    """Linearize once; the result emits the pullback of any number of cotangents."""
    check_wrt(wrt)
    rules = context or EMPTY_CONTEXT
    with CollectorPaused():
        plan: SweepPlan = plan_sweep(view, outputs, wrt)
        forward = Pass(space, transposed=False)
        seeds = fresh_tangents(wrt, forward)
        found = push(plan, wrt, seeds, RuleBuilder(forward, rules))
        ends = [found.get(key) for key in outputs]
        nodes = list(forward.nodes.values())
        primal_of = {t.key: key for key, t in found.items()}

    def emit_pullback(cotangents: Sequence[Value | None]) -> list[Value | None]:
        with CollectorPaused():
            backward = Pass(space, transposed=True)
            buckets: Buckets = {}
            for end, ct in zip(ends, cotangents, strict=True):
                if end is not None and ct is not None:
                    buckets.setdefault(end.key, []).append(_enter(ct, backward))  # type: ignore[arg-type]
            rule = RuleBuilder(backward, rules, _flow_of(cotangents))
            pull(nodes, buckets, rule, primal_of)
            results = [None if s is None else rule.add_all(buckets.get(s.key, ())) for s in seeds]
            return [_leave(value, backward) for value in results]

    return emit_pullback


def _flow_of(values: Sequence[Value | None]) -> Flow:
    flow = NO_FLOW
    for value in values:
        if value is not None and value.flow:
            flow = join_flow(flow, value.flow)
    return flow


def _enter(value: Value | None, run: Pass) -> Value | None:
    """The value, active in the pass."""
    return None if value is None else run.space.value(value.key, (*value.flow, run))


def _leave(value: Value | None, run: Pass) -> Value | None:
    """The value, no longer active in the pass that is over."""
    if value is None:
        return None
    return run.space.value(value.key, tuple([p for p in value.flow if p is not run]))

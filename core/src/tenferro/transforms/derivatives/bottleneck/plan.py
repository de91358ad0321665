"""The plan of a Jacobian over a cut, and what it costs: J(out/cut) · J(cut/in) + what bypasses it.

Of cuts that lie one behind the other on the way of all flow, the narrowest is the best: a dense
factor between two of them takes as many sweeps as the narrower one has elements, and its product
with a neighbour comes on top, so that the dynamic programme over chains of Jacobians (Griewank and
Naumann 2003, "Accumulating Jacobians as chained sparse matrix products") brackets at the narrowest
one and sweeps through the others. Hence one cut is looked for. A plan counts operations for all
directions and emits nothing. Read next: ``bottleneck/mixed.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro._runtime.records import NamedTuple
from tenferro.transforms.derivatives.bottleneck.cuts import narrow_cuts
from tenferro.transforms.derivatives.bottleneck.flow import Flow

_BUDGET = 4_000_000  # visits of equations while the costs of a plan are counted


class Factor(NamedTuple):
    """The Jacobian between some values, by sweeps in the cheaper mode, and their operations."""

    mode: str
    cost: int


class Plan(NamedTuple):
    """A Jacobian over a cut: the values of the cut, the factors, and the operations of all.

    ``reached`` says, for each start, which values of the cut it reaches, and ``reaches`` which
    ends each value of the cut reaches, as bits. ``around`` says which ends each start reaches
    past the cut.
    """

    cut: tuple[int, ...]
    into: Factor
    out: Factor
    bypass: Factor
    reached: tuple[int, ...]
    reaches: tuple[int, ...]
    around: tuple[int, ...]
    cost: int

    def through(self, start: int, end: int | None) -> list[int]:
        """Return the places in the cut of the values between a start and an end."""
        if end is None:
            return []
        there = self.reached[start]
        return [k for k, to in enumerate(self.reaches) if there >> k & 1 and to >> end & 1]

    def bypasses(self, start: int, end: int | None) -> bool:
        """Return True if something flows from a start to an end past the cut."""
        return end is not None and bool(self.around[start] >> end & 1)


class PureCosts(NamedTuple):
    """The operations of the pure modes."""

    forward: int
    reverse: int

    @property
    def best(self) -> int:
        """The operations of the better one."""
        return min(self.forward, self.reverse)


def best_plan(flow: Flow, limit: int, forbidden: frozenset[int]) -> Plan | None:
    """Return the cheapest plan over a cut of fewer elements than the limit; ``None`` if none is.

    No forbidden value stands in the cut.
    """
    leaves = len(flow.starts) + len(flow.ends)
    if leaves * len(flow.equations) > _BUDGET:
        return None
    cuts = [cut for cut in narrow_cuts(flow, limit) if forbidden.isdisjoint(cut)]
    return min([plan_over(flow, cut) for cut in cuts], key=lambda plan: plan.cost, default=None)


def plan_over(flow: Flow, cut: Sequence[int]) -> Plan:
    """Return the plan over a cut."""
    starts, ends = flow.starts, flow.ends
    into = cheaper(flow, starts, cut)
    out = cheaper(flow, cut, ends)
    reached, reaches = flow.part(starts, cut).reaches, flow.part(cut, ends).reaches
    around = flow.part(starts, ends, cut).reaches
    bypass = cheaper(flow, starts, ends, cut) if any(around) else Factor("forward", 0)
    factors = into.cost + out.cost + bypass.cost
    plan = Plan(tuple(cut), into, out, bypass, reached, reaches, around, factors)
    return plan._replace(cost=factors + _products(flow, plan))


def _products(flow: Flow, plan: Plan) -> int:
    """Return the operations of the products over the cut, and of adding what bypasses it."""
    total = 0
    for j, start in enumerate(flow.starts):
        for i, end in enumerate(flow.ends):
            inner = 2 * flow.size([plan.cut[k] for k in plan.through(j, i)])
            total += flow.sizes[start] * flow.sizes[end] * (inner + plan.bypasses(j, i))
    return total


def pure_costs(
    flow: Flow, into: Sequence[int] | None = None, out: Sequence[int] | None = None
) -> PureCosts:
    """Return the operations of the pure modes; ``into`` and ``out`` are numbers of directions."""
    starts, ends = flow.starts, flow.ends
    forward = flow.pushes(starts, ends)
    reverse = flow.pulls(starts, ends)
    into = [flow.sizes[i] for i in starts] if into is None else into
    out = [flow.sizes[i] for i in ends] if out is None else out
    return PureCosts(_scalar(into, forward), _scalar(out, reverse))


def cheaper(
    flow: Flow, sources: Sequence[int], targets: Sequence[int], barred: Sequence[int] = ()
) -> Factor:
    """Return the Jacobian of targets by sources past what is barred, in the cheaper mode."""
    forward = _scalar([flow.sizes[i] for i in sources], flow.pushes(sources, targets, barred))
    reverse = _scalar([flow.sizes[i] for i in targets], flow.pulls(sources, targets, barred))
    return min(Factor("forward", forward), Factor("reverse", reverse), key=lambda one: one.cost)


def _scalar(directions: Sequence[int], costs: Sequence[int]) -> int:
    """Return the operations of directions that cost this much each."""
    return sum([count * cost for count, cost in zip(directions, costs, strict=True)])

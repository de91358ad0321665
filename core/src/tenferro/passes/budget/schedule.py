"""Fit a graph into a number of bytes: cut loops, compute values again, then the same in bodies.

Every choice is checked by the profile of the graph that it makes, so that a prediction that was
wrong costs work and not memory. Read next: ``../_driver.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenferro._runtime.records import NamedTuple
from tenferro.computegraph import Fragment, MaterializedGraph, fragment_of_graph
from tenferro.passes._errors import MemoryBudgetError
from tenferro.passes.budget.loops import (
    Group,
    even_partition,
    groups,
    partition,
    segmented,
    smallest,
)
from tenferro.passes.budget.profile import Profile, peak_of, profile_of
from tenferro.passes.budget.values import with_values_again
from tenferro.primitives._source import source_text

_VALUES_NAMED = 5  # of the largest
_TRIES = 4  # with less for a loop each time
_MAX_DEPTH = 16  # of bodies in bodies


class MemoryPlan(NamedTuple):
    """The memory that a program needs, without that of its arguments."""

    peak: int  # bytes alive at most
    largest: tuple[str, ...]  # the largest values then
    again: tuple[str, ...]  # what is computed again
    without: int  # bytes in the order in which the program was recorded
    budget: int | None

    def rows(self) -> list[tuple[str, str]]:
        """Return labels and texts for a description of the program."""
        text = f"{self.peak:,} bytes at most, without the arguments"
        if self.budget is not None:
            text += f"; {self.without:,} as recorded, budget {self.budget:,}"
        elif self.without != self.peak:
            text += f"; {self.without:,} if each equation ran on its own"
        found = [("memory", text)]
        found += [("", line) for line in self.largest]
        return [*found, *[("again", line) for line in self.again]]


def described(graph: MaterializedGraph, known: int | None = None) -> MemoryPlan:
    """Return the memory of a graph as it is; ``known`` is what the backend says of its program."""
    profile = profile_of(graph)
    peak = profile.peak if known is None else known
    return MemoryPlan(peak, _named(profile), (), profile.peak, None)


def plan_of(
    graph: MaterializedGraph,
    as_recorded: MaterializedGraph,
    budget: int | float,
    predict: Callable[[MaterializedGraph], int | None],
) -> MemoryPlan | None:
    """Return the memory of a graph that needs at most so many bytes; ``None`` if it needs more.

    A fraction of what a graph needs is always a reason to look for a better order.
    """
    if isinstance(budget, float):
        return None
    profile = profile_of(graph)
    known = predict(graph)
    peak = profile.peak if known is None else known
    if peak > budget:
        return None
    return MemoryPlan(peak, _named(profile), (), profile_of(as_recorded).peak, budget)


def within(
    graph: MaterializedGraph,
    as_recorded: MaterializedGraph,
    budget: int | float,
    finish: Callable[[Fragment], Fragment],
    predict: Callable[[MaterializedGraph], int | None],
) -> tuple[MaterializedGraph, MemoryPlan]:
    """Return a graph that needs at most so many bytes, or such a fraction of what it needed.

    A fraction is of what the graph needs in the order in which it was recorded. ``finish`` rewrites
    the bodies of new loops; ``predict`` knows what a graph needs on the backend, if anybody does.

    Raises MemoryBudgetError: if no schedule that is known here fits.
    """
    try:
        return _within(graph, as_recorded, budget, finish, predict)
    finally:
        profile_of.cache_clear()


def _within(
    graph: MaterializedGraph,
    as_recorded: MaterializedGraph,
    budget: int | float,
    finish: Callable[[Fragment], Fragment],
    predict: Callable[[MaterializedGraph], int | None],
) -> tuple[MaterializedGraph, MemoryPlan]:
    without = profile_of(as_recorded).peak
    limit = int(budget * without) if isinstance(budget, float) else budget

    def needed_by(graph: MaterializedGraph) -> int:
        known = predict(graph)
        return profile_of(graph).peak if known is None else known

    best, least, done = graph, needed_by(graph), _Fitting(finish).done
    wanted = limit
    for _ in range(_TRIES):
        if least <= limit:
            break
        fitting = _Fitting(finish)
        found = fitting.fitted(graph, wanted, 0)
        peak = needed_by(found)
        if peak < least:
            best, least, done = found, peak, fitting.done
        if profile_of(found).peak > wanted:
            break
        wanted = wanted * limit // max(peak, limit + 1)
    profile = profile_of(best)
    if least > limit:
        raise _refused(profile, least, without, limit, budget)
    return best, MemoryPlan(least, _named(profile), tuple(done[::-1]), without, limit)


class _Fitting:
    """The search for one program: what it has done so far."""

    def __init__(self, finish: Callable[[Fragment], Fragment]) -> None:
        self.finish = finish
        self.done: list[str] = []
        self._bodies: dict[tuple[Fragment, int], Fragment] = {}
        self._exhausted: set[Fragment] = set()  # bodies that cannot need less

    def fitted(self, graph: MaterializedGraph, limit: int, depth: int) -> MaterializedGraph:
        """Return a graph of the same values that needs less: at most ``limit``, if that is met."""
        if profile_of(graph).peak <= limit:
            return graph
        graph = self._with_cut_loops(graph, limit)
        graph = self._with_fitted_bodies(graph, limit, depth)
        profile = profile_of(graph)
        if profile.peak > limit:
            graph, again = with_values_again(graph, limit)
            if again:
                self.done.append(f"{len(again)} values are computed again before they are read")
            graph = self._with_fitted_bodies(graph, limit, depth)
        return graph

    # ---- loops -----------------------------------------------------------------------------------

    def _with_cut_loops(self, graph: MaterializedGraph, limit: int) -> MaterializedGraph:
        """Cut loops whose rows are alive where there is too much."""
        tried: set[tuple[Any, ...]] = set()
        while True:
            profile = profile_of(graph)
            if profile.peak <= limit:
                return graph
            waiting = [
                g for g in groups(graph) if _name(g) not in tried and _matters(g, profile, limit)
            ]
            if not waiting:
                return graph
            group = max(waiting, key=lambda g: g.row_bytes() * g.length)
            tried.add(_name(group))
            found = self._cut(group, waiting, profile, limit)
            if found is not None:
                graph = found

    def _cut(
        self, group: Group, waiting: Sequence[Group], profile: Profile, limit: int
    ) -> MaterializedGraph | None:
        """Return the graph with one group cut, such that it fits into its share."""
        row, carry = group.row_bytes(), group.carry_bytes()
        base = _peak_without([i for g in waiting for i in g.stacks()], profile)
        total = sum([g.row_bytes() * g.length for g in waiting])
        share = max(0, limit - base) * row * group.length // max(1, total)
        best: MaterializedGraph | None = None
        least = profile.peak
        for _ in range(_TRIES):
            parts = None
            if group.has_other_rows:
                parts = even_partition(group.length, row, carry, share)
            if parts is None:
                parts = partition(group.length, row, carry, share)
            chosen = smallest(group.length, row, carry) if parts is None else parts
            found = self._finished(segmented(group, chosen))
            found = self._with_fitted_bodies(found, limit, 0)
            peak = profile_of(found).peak
            if peak < least:
                best, least = found, peak
                said = (
                    f"a loop of {group.length:,} steps stores {chosen.segments:,} starts of"
                    f" {chosen.steps:,} steps, which are run again"
                )
            if parts is None or peak <= limit or len(waiting) > 1:
                break
            share -= peak - limit
        if best is not None:
            self.done.append(said)
        return best

    def _finished(self, graph: MaterializedGraph) -> MaterializedGraph:
        """Rewrite the bodies of loops."""
        return with_bodies(graph, lambda position, body: self.finish(body))

    # ---- bodies ----------------------------------------------------------------------------------

    def _with_fitted_bodies(
        self, graph: MaterializedGraph, limit: int, depth: int
    ) -> MaterializedGraph:
        """Fit the bodies of equations during which there is too much."""
        profile = profile_of(graph)
        if depth >= _MAX_DEPTH or profile.peak <= limit:
            return graph

        def fit(position: int, body: Fragment) -> Fragment:
            over = profile.kept[position] - limit
            if over <= 0 or not profile.inner[position]:
                return body
            return self._fitted_body(body, max(0, peak_of(body) - over), depth + 1)

        return with_bodies(graph, fit)

    def _fitted_body(self, body: Fragment, room: int, depth: int) -> Fragment:
        if body in self._exhausted:
            return body
        found = self._bodies.get((body, room))
        if found is None:
            found = fragment_of_graph(self.fitted(body.flat, room, depth))
            self._bodies[body, room] = found
            if peak_of(found) > room:
                self._exhausted.add(found)
        return found


def with_bodies(
    graph: MaterializedGraph, change: Callable[[int, Fragment], Fragment]
) -> MaterializedGraph:
    """Return the graph with changed bodies of its loops, branches and checkpoints."""
    nodes = []
    for position, node in enumerate(graph.nodes):
        operation: Any = node.operation
        if getattr(operation, "bodies", ()):
            new = {}
            for name, body in operation.bodies:
                found = change(position, body)
                if found is not body:
                    new[name] = found
            if new and "body" in operation.parameters:
                node = node._replace(operation=operation.replaced(**new))
            elif new:
                branches = tuple([new.get(name, body) for name, body in operation.bodies])
                node = node._replace(operation=operation.replaced(branches=branches))
        nodes.append(node)
    return MaterializedGraph(graph.inputs, nodes, graph.outputs, graph.avals)


def _name(group: Group) -> tuple[Any, ...]:
    nodes = [group.graph.nodes[position] for position in group.positions]
    return tuple([node.operation for node in nodes])


def _matters(group: Group, profile: Profile, limit: int) -> bool:
    """Return True if rows of a group are alive where there is too much."""
    for i in group.stacks():
        alive = profile.kept[profile.made[i] : profile.last[i] + 1]
        if max(alive) > limit:
            return True
    return False


def _peak_without(values: Sequence[int], profile: Profile) -> int:
    """Return the peak if some values took no memory."""
    change = [0] * (len(profile.kept) + 1)
    for i in values:
        change[profile.made[i]] += profile.sizes[i]
        change[profile.last[i] + 1] -= profile.sizes[i]
    most = now = 0
    for kept, more in zip(profile.kept, change, strict=False):
        now += more
        most = max(most, kept - now)
    return most


def _named(profile: Profile) -> tuple[str, ...]:
    """Describe the largest values alive at the peak."""
    graph = profile.graph
    found = []
    for size, i in profile.largest(_VALUES_NAMED):
        node = graph.nodes[profile.made[i]]
        line = source_text(node.source)
        where = f", {line}" if line else ""
        found.append(f"{size:,} bytes: {graph.avals[i]} of {node.operation.name}{where}")
    inside = profile.inner[profile.position] if profile.inner else 0
    if inside:
        name = graph.nodes[profile.position].operation.name
        found.append(f"{inside:,} bytes: inside of {name}")
    return tuple(found)


def _refused(
    profile: Profile, least: int, before: int, limit: int, budget: int | float
) -> MemoryBudgetError:
    values = _named(profile)
    listed = "\n             ".join(values)
    return MemoryBudgetError(
        f"jit: the program does not fit into memory_budget={budget!r}\n"
        f"  got        {least:,} bytes at the least that was found ({before:,} without a budget)\n"
        f"  need       {limit:,} bytes\n"
        f"  largest    {listed}\n"
        "  hint       results and what one step of a loop needs cannot be stored less",
        budget=limit,
        least=least,
        values=values,
    )

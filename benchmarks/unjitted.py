"""What leaving out `jit` costs: the programs of W19 and W20, recorded at each call.

Each way of each program runs un-jitted five times at first; then un-jitted and jitted calls take
turns. The first figure is what an un-jitted call adds, divided by the number of operations that the
function itself records (its derivative is found again, not recorded). Where the largest value has
100,000 elements or more, the second one is the mean of the first five calls over a jitted call:
recording, passes and compilation must not count there.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from statistics import fmean, median
from typing import Any

from benchmarks.harness.measure import by_turns
from benchmarks.harness.workload import (
    MEDIAN,
    Call,
    Case,
    Figure,
    Goal,
    Options,
    Workload,
    with_spread,
)

from .formulations.library import Formulations, Way, caller, tenferro
from .w19_formulations import PARTS
from .w20_programs import PROGRAMS

JITTED, UNJITTED = "tenferro", "tenferro un-jitted"
PER_OPERATION, FIRST_FIVE = "un-jitted − jitted, per operation", "first five calls ÷ jitted"
CALLS = 5  # calls whose mean counts, the first one among them
LARGE = 100_000  # elements
SECONDS = 0.05  # for each program, per second of the budget

W = Workload(
    "unjitted",
    "programs of W19 and W20 without jit",
    cases=[],
    quick=[],
    goals=[
        Goal(4e-6, MEDIAN, contestant=UNJITTED, figure=PER_OPERATION),
        Goal(1.3, MEDIAN, contestant=UNJITTED, figure=FIRST_FIVE),
    ],
)


def programs(options: Options) -> Iterator[tuple[Case, Formulations]]:
    """Every function in every size."""
    for part in (*PARTS.values(), *PROGRAMS.values()):
        for case in part.quick if options.quick else part.cases:
            yield case, part


def seconds(call: Call) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def size_of(way: Way, inputs: tuple[Any, ...]) -> tuple[int, int]:
    """How many operations the function records, and how many elements its largest value has.

    The graph of a gradient does not tell: there, loops that Python unrolled are one operation.
    """
    import tenferro as tn

    graph = tn.trace(way.function(tenferro()._replace(value_and_grad=value_alone)), *inputs)
    elements = max(math.prod(aval.shape) for aval in graph.graph.avals)
    return max(1, graph.counts()["primal"]), elements


def value_alone(function: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """Return `function` with its arguments in the place of its gradient."""

    def value(*given: Any) -> tuple[Any, Any]:
        chosen = (
            tuple([given[i] for i in argnums]) if isinstance(argnums, tuple) else given[argnums]
        )
        return function(*given), chosen

    return value


def figures(options: Options) -> Iterator[Figure]:
    """The figures of every program, one after the other."""
    budget = Options(quick=options.quick, budget=SECONDS * options.budget)
    for case, part in programs(options):
        _, *sizes = case.given
        inputs = part.inputs(*sizes)
        for way in part.ways:
            if not {JITTED, UNJITTED} & set(way.without):
                yield from of_program(f"{case.name}, {way.name}", way, inputs, budget)


def of_program(name: str, way: Way, inputs: tuple[Any, ...], budget: Options) -> Iterator[Figure]:
    """The figures of one program."""
    calls = {library: caller(library, way)(*inputs) for library in (UNJITTED, JITTED)}
    first = [seconds(calls[UNJITTED]) for _ in range(CALLS)]
    calls[JITTED]()
    times = {library: median(t["cpu"]) for library, t in by_turns(calls, budget).items()}
    operations, elements = size_of(way, inputs)
    for library, taken in times.items():
        yield Figure(name, library, "call", taken, "s")
    added = (times[UNJITTED] - times[JITTED]) / operations
    yield Figure(name, UNJITTED, PER_OPERATION, added, "s")
    yield Figure(name, UNJITTED, "un-jitted ÷ jitted", times[UNJITTED] / times[JITTED])
    if elements >= LARGE:
        yield Figure(name, UNJITTED, FIRST_FIVE, fmean(first) / times[JITTED])


W.figures = lambda options: with_spread(figures(options))

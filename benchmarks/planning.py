"""What it costs to make a program of a recorded gradient: passes, plan and source, per equation.

The graphs are those of W19 and W20, traced once. Graph passes rewrite them, the NumPy backend plans
what is left, and Python compiles the source of the plan: CPU time of each step, the shortest of
three runs by backends that have seen no program, divided by the equations of the traced graph. What
libraries of the process remember between programs (expressions, rewritten bodies) is warm after the
first run, as it is in a process that has compiled a similar program before.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from benchmarks.harness.workload import MEDIAN, Figure, Goal, Options, Workload, with_spread

from .formulations.library import tenferro
from .unjitted import programs

PASSES, PLAN, SOURCE, ALL = "graph passes", "plan", "source", "in all"
REPEATS = 3

W = Workload(
    "planning",
    "passes, plan and source of a gradient, per equation",
    cases=[],
    quick=[],
    goals=[Goal(25e-6, MEDIAN, figure=ALL)],
)


def timed(times: dict[str, float], step: str, call: Callable[[], Any]) -> Any:
    """Note the CPU time of a step, if it is the shortest so far, and return its result."""
    start = time.process_time()
    result = call()
    times[step] = min(times.get(step, float("inf")), time.process_time() - start)
    return result


def steps_of(graph: Any) -> dict[str, float]:
    """Return the CPU time of each step for one graph."""
    from tenferro.backend._options import rewritten
    from tenferro.computegraph import compile_program

    times: dict[str, float] = {}
    for _ in range(REPEATS):
        backend = without_plans()
        gc.collect()
        flat, _ = timed(times, PASSES, partial(rewritten, graph, backend))
        executable = timed(times, PLAN, partial(planned, compile_program(flat), backend))
        timed(times, SOURCE, executable.prepare)
    return times


def without_plans() -> Any:
    """Return a NumPy backend with the usual lowerings that has planned no program."""
    from tenferro.backend import host

    known = host().backend("numpy")
    backend = type(known)(known.config)
    backend.name, backend.lowerings = known.name, known.lowerings
    return backend


def planned(program: Any, backend: Any) -> Any:
    """Return the executable of a program, with its plan."""
    executable = backend.compile(program, program.input_avals, {"executor": "source"})
    executable.plan  # noqa: B018 - it is made when it is asked for
    return executable


def figures(options: Options) -> Iterator[Figure]:
    """Seconds of each step, divided by the number of equations."""
    import tenferro as tn

    for case, part in programs(options):
        inputs = part.inputs(*case.given[1:])
        for way in part.ways:
            if {"tenferro", "tenferro un-jitted"} & set(way.without):
                continue
            graph = tn.trace(way.function(tenferro()), *inputs).graph
            times = steps_of(graph)
            name = f"{case.name}, {way.name}"
            yield Figure(name, "tenferro", "equations", len(graph))
            for step, taken in times.items():
                yield Figure(name, "tenferro", step, taken / len(graph), "s")
            yield Figure(name, "tenferro", ALL, sum(times.values()) / len(graph), "s")


W.figures = lambda options: with_spread(figures(options))

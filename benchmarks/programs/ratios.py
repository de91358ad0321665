"""Times of whole programs over those of autograd and JAX, program by program and as means.

W20 and W21 run programs that have no version by hand, in the libraries that `ORDER` names; the
figures are these ratios, and geometric means of them where all programs ran.
Read next: `benchmarks/w20_programs.py`.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.formulations.library import LIBRARIES, Formulations, caller
from benchmarks.harness.statistics import ratio
from benchmarks.harness.workload import Call, Figure, Workload

ALL = "all programs, geometric mean"
TO_AUTOGRAD, TO_JAX = "÷ autograd", "÷ jax"
UNJITTED, JITTED, ON_XLA = "tenferro un-jitted", "tenferro", "tenferro xla"
OVER = {TO_AUTOGRAD: ("autograd", UNJITTED, JITTED), TO_JAX: ("jax", JITTED, ON_XLA)}
ORDER = ("autograd", UNJITTED, JITTED, ON_XLA, "jax")  # the first one is compared with


def inputs_of(programs: dict[str, Formulations]) -> Callable[[tuple[str, Any]], tuple[Any, ...]]:
    """Return the inputs of a workload's cases: the program's name, and what it takes."""

    def inputs(given: tuple[str, Any]) -> tuple[Any, ...]:
        name, size = given
        return name, *programs[name].inputs(size)

    return inputs


def enter(workload: Workload, programs: dict[str, Formulations]) -> None:
    """Enter every library as a contestant of the programs that it can run, and the ratios."""
    for library in ORDER:
        cases = tuple(
            case.name
            for program in programs.values()
            if library not in program.ways[0].without
            for case in (*program.cases, *program.quick)
        )
        make = entrant(library, programs)
        workload.contestant(library, needs=LIBRARIES[library], cases=cases)(make)
    names = {case.name for case in workload.cases}
    workload.summary = lambda rows: summary(rows, names)


def entrant(library: str, programs: dict[str, Formulations]) -> Callable[..., Call]:
    """Return what makes the call of a program, whose name is the first input, in a library."""

    def make(name: str, *given: Any) -> Call:
        return caller(library, programs[name].ways[0])(*given)

    return make


def summary(rows: list[dict[str, Any]], names: set[str]) -> Iterator[Figure]:
    """Our times over theirs, program by program; and geometric means where all have run."""
    times = {(r["case"], r["contestant"]): r["turns"]["cpu"] for r in rows if "turns" in r}
    whole = names <= {row["case"] for row in rows}
    for figure, (theirs, *contestants) in OVER.items():
        for ours in contestants:
            ratios = {
                case: ratio(turns, times[case, theirs])["median"]
                for (case, contestant), turns in times.items()
                if contestant == ours and (case, theirs) in times
            }
            for case, found in ratios.items():
                yield Figure(case, ours, figure, found)
            if ratios and whole:
                yield Figure(ALL, ours, figure, geometric_mean(list(ratios.values())))


def geometric_mean(values: list[float]) -> float:
    """The number whose logarithm is the mean of the logarithms."""
    return math.exp(statistics.fmean(map(math.log, values)))

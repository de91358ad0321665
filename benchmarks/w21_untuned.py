"""W21: small programs of scientists, as they were first written.

The same text runs in tenferro without and with `jit`, in autograd and in JAX under `jit`, and their
values and gradients are compared before a time counts. The figures are our time over theirs, for
each program and as geometric means. A program that enters this list is written first and measured
then; its text stays, but passes have been written after profiles of some. Loops are so short that
XLA compiles the unrolled ones in seconds; of `control` it makes a program that evaluates sines
again and again (20 steps took 190 times our time), so that JAX does not run it.
Read next: `untuned/time_series.py`.
"""

from __future__ import annotations

from benchmarks.harness.workload import Goal, Workload

from .formulations.library import Formulations
from .programs.ratios import ALL, JITTED, ON_XLA, TO_AUTOGRAD, TO_JAX, UNJITTED, enter, inputs_of
from .untuned.imaging import GRAPH, ISTA, SPLINE, TOMOGRAPHY
from .untuned.physics import BODIES, BURGERS, CONTROL, ENERGY, ISING, LOTKA
from .untuned.statistics import COPULA, EM, NEWTON, RIDGE
from .untuned.time_series import CHAIN, GARCH, HSMM, KALMAN

PROGRAMS: dict[str, Formulations] = {
    "hsmm": HSMM,
    "chain": CHAIN,
    "kalman": KALMAN,
    "garch": GARCH,
    "em": EM,
    "newton": NEWTON,
    "ridge": RIDGE,
    "copula": COPULA,
    "ista": ISTA,
    "tomography": TOMOGRAPHY,
    "spline": SPLINE,
    "graph": GRAPH,
    "ising": ISING,
    "mps energy": ENERGY,
    "n-body": BODIES,
    "burgers": BURGERS,
    "lotka": LOTKA,
    "control": CONTROL,
}

W = Workload(
    "W21",
    "small programs of scientists, as they were first written",
    cases=[case for program in PROGRAMS.values() for case in program.cases],
    quick=[case for program in PROGRAMS.values() for case in program.quick],
    inputs=inputs_of(PROGRAMS),
    goals=[
        Goal(0.5, contestant=UNJITTED, figure=TO_AUTOGRAD, case=ALL),
        Goal(1.1, contestant=JITTED, figure=TO_JAX, case=ALL),
        Goal(1.0, contestant=ON_XLA, figure=TO_JAX, case=ALL),
    ],
    tolerance=1e-8,
)
enter(W, PROGRAMS)

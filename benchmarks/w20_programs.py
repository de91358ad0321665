"""W20: whole programs of users, those of autograd's examples and of GradBench's evaluations.

Nobody wrote these by hand: the same text runs in tenferro without and with `jit`, in autograd and
in JAX under `jit`, and their values and gradients are compared before a time counts. The figures
are our time over theirs, for each program and as geometric means; for GradBench's programs the
first call over autograd's, each in a fresh process that has run another program and finds its
bytecode, and then also its programs (`keep_programs`); for the fluid the peak of memory. XLA
compiles the fluid's unrolled loop for minutes, so that JAX does not run it.
Read next: `programs/small.py`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

from benchmarks.harness import launch
from benchmarks.harness.workload import Case, Figure, Goal, Options, Workload, installed

from .formulations.library import Formulations
from .programs.bundle_adjustment import BA
from .programs.fluid import FLUID
from .programs.gaussian_processes import BAYES_OPT, DEEP_GP, GP
from .programs.hand_tracking import HT
from .programs.hidden_markov import HMM
from .programs.kmeans import KMEANS
from .programs.mixture import MIXTURE
from .programs.networks import CONVNET, ODE_NET
from .programs.ratios import ALL, JITTED, ON_XLA, TO_AUTOGRAD, TO_JAX, UNJITTED, enter, inputs_of
from .programs.recurrent import ADBENCH_LSTM, LSTM, RNN
from .programs.small import DET, HELLO, LLSQ, LSE, ODE
from .programs.variational import BBSVI

GRADBENCH = {
    "hello": HELLO,
    "lse": LSE,
    "llsq": LLSQ,
    "ode": ODE,
    "det": DET,
    "kmeans": KMEANS,
    "gmm": MIXTURE,
    "ba": BA,
    "gradbench lstm": ADBENCH_LSTM,
    "ht": HT,
}
EXAMPLES = {
    "gp": GP,
    "deep gp": DEEP_GP,
    "bayes opt": BAYES_OPT,
    "bbsvi": BBSVI,
    "hmm": HMM,
    "fluid": FLUID,
    "convnet": CONVNET,
    "ode net": ODE_NET,
    "rnn": RNN,
    "lstm": LSTM,
}
PROGRAMS: dict[str, Formulations] = GRADBENCH | EXAMPLES
FIRST, MEMORY = "first call ÷ autograd", "memory ÷ autograd"
KEPT = "first call of a kept program ÷ autograd"
REPEATS = 3  # processes of which the quickest first call counts


W = Workload(
    "W20",
    "programs of users: autograd's examples and GradBench's evaluations",
    cases=[case for program in PROGRAMS.values() for case in program.cases],
    quick=[case for program in PROGRAMS.values() for case in program.quick],
    inputs=inputs_of(PROGRAMS),
    goals=[
        Goal(1.0, contestant=UNJITTED, figure=TO_AUTOGRAD),
        Goal(0.5, contestant=UNJITTED, figure=TO_AUTOGRAD, case=ALL),
        Goal(1.1, contestant=JITTED, figure=TO_JAX, case=ALL),
        Goal(1.0, contestant=ON_XLA, figure=TO_JAX, case=ALL),
        Goal(1.5, contestant=UNJITTED, figure=FIRST),
        Goal(1.5, contestant=UNJITTED, figure=KEPT),
        Goal(1.0, contestant=UNJITTED, figure=MEMORY),
    ],
    tolerance=1e-8,
)


enter(W, PROGRAMS)


# ---- first calls and memory, in fresh processes --------------------------------------------------


def figures(options: Options) -> Iterator[Figure]:
    """First calls of GradBench's programs, and the memory of the fluid, over autograd's."""
    if "autograd" not in options.peers or not installed("autograd"):
        return
    with tempfile.TemporaryDirectory() as bytecode:
        for program in GRADBENCH.values():
            case = case_of(program, options)
            yield from over_autograd(case, "first", FIRST, options, REPEATS, bytecode)
        yield from over_autograd(case_of(FLUID, options), "memory", MEMORY, options, 1, bytecode)


def case_of(program: Formulations, options: Options) -> Case:
    """Return the case in the size that was asked for."""
    return (program.quick if options.quick else program.cases)[0]


def over_autograd(
    case: Case, what: str, figure: str, options: Options, repeats: int, bytecode: str
) -> Iterator[Figure]:
    """What fresh processes answer, the smallest of some, over the same of autograd."""

    def least(contestant: str, programs: str = "") -> float:
        request = {"what": what, "workload": W.id, "case": case.name, "contestant": contestant}
        answers = [
            launch.run(request, options, bytecode=bytecode, programs=programs)
            for _ in range(repeats + bool(programs))  # the first one of these finds none
        ]
        return min(float(next(iter(answer.values()))) for answer in answers)

    autograd = least("autograd")
    for contestant in (UNJITTED, JITTED):
        yield Figure(case.name, contestant, figure, least(contestant) / autograd)
        if what == "first":
            with tempfile.TemporaryDirectory() as programs:
                yield Figure(case.name, contestant, KEPT, least(contestant, programs) / autograd)


W.figures = figures

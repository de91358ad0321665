"""What each plan pass of the NumPy backend is worth: `python -m benchmarks.harness.ablation`.

Runs every program of `PROGRAMS` with all passes and without each that changes its plan, by turns in
one process, and stores CPU time and peak of array memory in `benchmarks/plan_passes.json`, from
which `docs/plan_passes.md` is written. `--page` only writes the page; `--check` compares it.
"""

from __future__ import annotations

import argparse
import json
import time
import tracemalloc
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.narrow_passes import LOSSES
from benchmarks.programs.ratios import JITTED
from benchmarks.w10_rosenbrock import HESSIAN, HVP
from benchmarks.w18_sparse_jacobians import ARROW, BAND
from benchmarks.w21_untuned import W as SMALL_PROGRAMS

from . import launch
from .cells import table
from .environment import environment
from .measure import sample, settled
from .statistics import summary
from .units import number, seconds
from .workload import OURS, Call, Options, Workload

ROOT = Path(__file__).resolve().parents[2]
RESULTS, PAGE = ROOT / "benchmarks/plan_passes.json", ROOT / "docs/plan_passes.md"
ALL, AGAIN = "all", "all, again"
NARROW = "narrow_passes"
MATTERS = 0.03  # how far from 1 a ratio says that a pass is worth something
LARGE = 2**16  # bytes: peaks below are those of Python's own objects
LISTED = 4  # programs in a cell of the table
SECONDS, FEWEST, MOST = 6.0, 7, 120  # of the turns of one program
Data = dict[str, Any]


class Program(NamedTuple):
    """A workload in the size in which it is run here; `make` where its contestant is another."""

    workload: str
    case: str
    given: Any
    contestant: str = OURS
    make: Callable[..., Call] | None = None


def eighth_derivative(order: int) -> Call:
    """W8 measures transforms; here its derivative runs, on numbers without a shape."""
    import tenferro as tn
    from benchmarks import w08_eighth_derivative as w08

    f = tn.jit(w08.ours("reverse", order))
    return lambda: f(w08.POINT)


PROGRAMS = (
    Program("W1", "n = 1,000", 1000),
    Program("W1", "n = 10,000", 10_000),
    Program("W2", "batch 256", 256),
    Program("W3", "10⁶", 10**6),
    Program("W4", "(), 500 steps", ((), 500)),
    Program("W4", "(10,), 500 steps", ((10,), 500)),
    Program("W5", "⟨A|B⟩, L = 16", (16, False)),
    Program("W6", "svd, n = 200", ("svd", 200)),
    Program("W6", "eigh, n = 200", ("eigh", 200)),
    Program("W6", "gp, n = 300", ("gp", 300)),
    Program("W6", "gp, lu, n = 300", ("gp, lu", 300)),
    Program("W7", "10⁵ points, 50 steps", (10**5, 50)),
    Program("W7", "1,000 points, 50 steps", (1000, 50)),
    Program("W8", "order 4, reverse", 4, make=eighth_derivative),
    Program("W10", "hvp, n = 1,000", (HVP, 1000)),
    Program("W10", "Hessian, n = 300", (HESSIAN, 300)),
    Program("W12", "10 elements", 10),
    Program("W13", "10 elements", 10, contestant="tenferro un-jitted"),
    Program("W18", "band, n = 1,000", (BAND, 1000)),
    Program("W18", "band, n = 10,000", (BAND, 10_000)),
    Program("W18", "arrowhead, n = 10,000", (ARROW, 10_000)),
    *[Program("W21", case.name, case.given, contestant=JITTED) for case in SMALL_PROGRAMS.cases],
    *[Program(NARROW, name, name) for name in LOSSES],
)


# ---- measuring, in a process of `launch` ---------------------------------------------------------


def ablate(workload: Workload, request: Data) -> Data:
    """Rows of the programs of a workload: times and memory by the pass that is left out."""
    return {"rows": [row_of(workload, p) for p in PROGRAMS if p.workload == request["workload"]]}


class Variant:
    """A program on a backend that leaves out one plan pass, or none; `plans` tells what it runs."""

    def __init__(self, make: Callable[..., Call], inputs: tuple[Any, ...], options: Data) -> None:
        from tenferro.backend import BackendConfig, host

        self.backend = host().backend("numpy", BackendConfig(options=options))
        executables: list[Any] = []
        compile_program = self.backend.compile

        def recorded(*args: Any, **options: Any) -> Any:
            executables.append(compile_program(*args, **options))
            return executables[-1]

        self.backend.compile = recorded
        with self.entered():
            self.call = make(*inputs)
            for _ in range(12):  # traced, planned, its source generated after eight runs
                self.call()
        self.plans = [plan_of(executable) for executable in executables]

    def entered(self) -> ExitStack:
        """The backend runs what is called inside."""
        import tenferro as tn

        stack = ExitStack()
        stack.enter_context(tn.use(self.backend))
        return stack

    def sampled(self, count: int) -> float:
        """CPU seconds of a call, a mean over some."""
        with self.entered():
            return sample(self.call, count)[0]

    def peak(self) -> int:
        """The most bytes that one call had at a time, arrays and objects of Python."""
        with self.entered():
            tracemalloc.start()
            try:
                self.call()
                tracemalloc.reset_peak()
                before = tracemalloc.get_traced_memory()[0]
                self.call()
                return tracemalloc.get_traced_memory()[1] - before
            finally:
                tracemalloc.stop()


def plan_of(executable: Any) -> tuple[str, list[str]]:
    """What tells two plans from each other: their source, and what its lines call."""
    source = executable.explain().partition("plan passes")[2].partition("\n")[2]
    bound = [value for line in executable.plan.lines for value in line.expression.bound]
    return source, [getattr(value, "__qualname__", type(value).__qualname__) for value in bound]


def row_of(workload: Workload, program: Program, turns: int = MOST) -> Data:
    """Medians of CPU seconds, and bytes, of one program, where its plan changes without a pass."""
    from tenferro_numpy.planner import SWITCHES

    make = program.make or next(
        c.make for c in workload.contestants if c.name == program.contestant
    )
    inputs = (program.given,) if program.make else workload.inputs(program.given)
    again = Variant(make, inputs, {"without": ()})  # first: later recordings find its constants
    variants = {ALL: Variant(make, inputs, {}), AGAIN: again}
    for name in SWITCHES:
        without = Variant(make, inputs, {"without": name})
        if without.plans != variants[ALL].plans:
            variants[name] = without
    count = repetitions(variants[ALL])
    times: dict[str, list[float]] = {name: [] for name in variants}
    end = time.perf_counter() + SECONDS
    with settled():
        for turn in range(turns):
            if turn >= FEWEST and time.perf_counter() > end:
                break
            order = list(variants) if turn % 2 else reversed(variants)
            for name in order:
                times[name].append(variants[name].sampled(count))
    return {
        "workload": program.workload,
        "case": program.case,
        "cpu": {name: summary(found) for name, found in times.items()},
        "bytes": {name: variant.peak() for name, variant in variants.items()},
    }


def repetitions(variant: Variant) -> int:
    """How often to call within a sample, so that it takes 5 ms."""
    return max(1, round(0.005 / max(min(variant.sampled(3) for _ in range(5)), 1e-7)))


# ---- what was found ------------------------------------------------------------------------------


def changed(results: Data, name: str) -> list[Data]:
    """The programs whose plan is another one without a pass."""
    return [row for row in results["rows"] if name in row["cpu"]]


def time_ratio(row: Data, name: str) -> float:
    """CPU time without a pass over that with all: of medians or minima, by what is closer to 1."""
    found, every = row["cpu"][name], row["cpu"][ALL]
    pair = [found[figure] / every[figure] for figure in ("median", "minimum")]
    return min(pair, key=lambda ratio: abs(ratio - 1))


def memory_ratio(row: Data, name: str) -> float:
    """The peak without a pass over that with all; 1 if it is small."""
    return float(row["bytes"][name] / row["bytes"][ALL]) if row["bytes"][ALL] >= LARGE else 1.0


def least(row: Data) -> float:
    """How far from 1 a ratio of times says something: twice the noise."""
    return max(MATTERS, 2 * abs(time_ratio(row, AGAIN) - 1))


def faster(row: Data, name: str) -> bool:
    """Whether a pass makes a program faster, beyond the noise."""
    return time_ratio(row, name) - 1 >= least(row)


def slower(row: Data, name: str) -> bool:
    """Whether a pass makes a program slower, beyond the noise."""
    return 1 / time_ratio(row, name) - 1 >= least(row)


def smaller(row: Data, name: str) -> bool:
    """Whether a pass makes a program need less memory."""
    return memory_ratio(row, name) - 1 >= MATTERS


def worth(results: Data) -> dict[str, list[str]]:
    """The programs that each pass improves."""
    return {
        name: [
            f"{row['workload']} {row['case']}"
            for row in changed(results, name)
            if faster(row, name) or smaller(row, name)
        ]
        for name in results["passes"]
    }


INTRODUCTION = """\
# What each plan pass is worth

The NumPy backend rewrites the steps of a program by passes, in the order of this table; the option
`without` leaves some out. Every program below ran with all of them, and without each one that
changes its plan, by turns in one process, pinned to one core with one thread.

* *Time* is the CPU time without the pass over that with all passes: of the ratio of medians and
  that of minima the one closer to 1. It stands here if it is 1.03 or more, or 1/1.03 or less, and
  twice as far from 1 as the ratio of the same plan measured twice.
* *Memory* is the ratio of the peaks of one call, as `tracemalloc` counts them: from 1.03 on, of
  programs that need 64 KiB or more.

Above 1 the pass helps; *slower* are the programs that run faster without it. Cells list the four
largest ratios; `plan_passes.json` has all. The programs are the [workloads](benchmarks.md) in
reduced sizes; W9 and W11 are left out, because they measure what runs before a plan does. Those
without a number are `benchmarks/narrow_passes.py`: things that users write for which the workloads
have no example. A pass that helps nowhere is deleted.

This page is generated: `python -m benchmarks.harness.ablation` measures, stores
`benchmarks/plan_passes.json`, and writes it.
"""


def page(results: Data) -> str:
    """The whole page."""
    found = results["environment"]
    versions = ", ".join(f"{key} {value}" for key, value in found["versions"].items())
    head = ("pass", "what it does", "plans", "time", "memory", "slower")
    parts = [
        INTRODUCTION,
        f"* {found['processor']}, {found['system']}, Python {found['python']}; {versions}\n",
        "## The passes\n",
        *table(head, [cells_of(results, name) for name in results["passes"]]),
        "## The programs\n",
        *table(
            ("", "", "time", "the same again", "peak of memory"),
            [program_cells(row) for row in results["rows"]],
        ),
    ]
    return "\n".join(parts).rstrip() + "\n"


def cells_of(results: Data, name: str) -> list[str]:
    """The line of a pass."""
    rows = changed(results, name)
    count = f"{len(rows)} of {len(results['rows'])}"
    return [
        f"`{name}`",
        results["passes"][name],
        count,
        listed((time_ratio(row, name), row) for row in rows if faster(row, name)),
        listed((memory_ratio(row, name), row) for row in rows if smaller(row, name)),
        listed((time_ratio(row, name), row) for row in rows if slower(row, name)),
    ]


def listed(found: Iterable[tuple[float, Data]]) -> str:
    """The largest ratios and their programs, and how many more there are."""
    ranked = sorted(found, key=lambda pair: -pair[0])
    said = [f"**{number(ratio)}** {title(row)}" for ratio, row in ranked[:LISTED]]
    if len(ranked) > LISTED:
        said.append(f"{len(ranked) - LISTED} more")
    return "; ".join(said)


def title(row: Data) -> str:
    """The name of a program in a list."""
    return row["case"] if row["workload"] == NARROW else f"{row['workload']} {row['case']}"


def program_cells(row: Data) -> list[str]:
    """The line of a program: its time and memory with all passes, and the noise."""
    return [
        "" if row["workload"] == NARROW else row["workload"],
        row["case"],
        seconds(row["cpu"][ALL]["median"]),
        number(time_ratio(row, AGAIN)),
        f"{row['bytes'][ALL] / 2**10:,.0f} KiB",
    ]


def descriptions() -> dict[str, str]:
    """What each pass does, as the planner says it."""
    from tenferro_numpy.planner import OTHER_SWITCHES, PLAN_PASSES, SWITCHES, Planner

    methods = {made.name: getattr(Planner, made.method) for made in PLAN_PASSES}
    said = {
        name: method.__doc__.partition("\n")[0] for name, method in methods.items()
    } | OTHER_SWITCHES
    return {name: said[name].rstrip(".") for name in SWITCHES}


def measured(wanted: list[str]) -> Data:
    """Measure the programs of some workloads, each workload in a process of its own."""
    rows: list[Data] = []
    for identity in dict.fromkeys(program.workload for program in PROGRAMS):
        if wanted and identity not in wanted:
            continue
        began = time.perf_counter()
        rows += launch.run({"what": "ablate", "workload": identity}, Options())["rows"]
        print(f"{identity}: {time.perf_counter() - began:.0f} s", flush=True)
    return {"environment": environment(), "passes": descriptions(), "rows": rows}


def main() -> int:
    """Measure and write, or only write, or compare."""
    parser = argparse.ArgumentParser(prog="benchmarks.harness.ablation", description=__doc__)
    parser.add_argument("workloads", nargs="*", metavar="W", help="only these; nothing is stored")
    parser.add_argument("--page", action="store_true", help="only write the page")
    parser.add_argument("--check", action="store_true", help="only say whether it is up to date")
    given = parser.parse_args()
    if given.workloads:
        print(page(measured(given.workloads)))
        return 0
    if not (given.page or given.check):
        RESULTS.write_text(json.dumps(measured([]), indent=1) + "\n", "utf-8")
    made = page(json.loads(RESULTS.read_text("utf-8")))
    if not given.check:
        PAGE.write_text(made, "utf-8")
    elif PAGE.read_text("utf-8") != made:
        print(f"{PAGE} is not what {RESULTS} says: python -m benchmarks.harness.ablation --page")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

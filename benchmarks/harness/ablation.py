"""What each plan pass of the NumPy backend is worth: `python -m benchmarks.harness.ablation`.

Runs every program of `PROGRAMS` once with all passes and once without each of them, by turns in one
process, and stores CPU time and peak of array memory in `benchmarks/plan_passes.json`, from which
`docs/plan_passes.md` is written. `--page` only writes the page; `--check` compares it.
"""

from __future__ import annotations

import argparse
import json
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.narrow_passes import LOSSES
from benchmarks.w10_rosenbrock import HESSIAN, HVP

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
MATTERS = 0.03  # how far above 1 a ratio says that a pass is worth something
LARGE = 2**16  # bytes: peaks below are those of Python's own objects
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
    *[Program("narrow_passes", name, name) for name in LOSSES],
)


# ---- measuring, in a process of `launch` ---------------------------------------------------------


def ablate(workload: Workload, request: Data) -> Data:
    """Rows of the programs of a workload: times and memory by the pass that is left out."""
    return {"rows": [row_of(workload, p) for p in PROGRAMS if p.workload == request["workload"]]}


def variants() -> dict[str, Any]:
    """Backends by the pass that they leave out; two that leave out none, to see the noise."""
    from tenferro.backend import BackendConfig, host
    from tenferro_numpy.planner import SWITCHES

    options = {ALL: {}, AGAIN: {"without": ()}} | {name: {"without": (name,)} for name in SWITCHES}
    return {
        name: host().backend("numpy", BackendConfig(options=given))
        for name, given in options.items()
    }


def row_of(workload: Workload, program: Program, turns: int = MOST) -> Data:
    """Medians of CPU seconds, and bytes, of one program."""
    make = program.make or next(
        c.make for c in workload.contestants if c.name == program.contestant
    )
    inputs = (program.given,) if program.make else workload.inputs(program.given)
    calls: dict[str, Call] = {}
    backends = variants()
    for name, backend in backends.items():
        with entered(backend):
            calls[name] = make(*inputs)
            for _ in range(12):  # traced, planned, its source generated after eight runs
                calls[name]()
    count = repetitions(calls[ALL], backends[ALL])
    times: dict[str, list[float]] = {name: [] for name in calls}
    end = time.perf_counter() + SECONDS
    with settled():
        for turn in range(turns):
            if turn >= FEWEST and time.perf_counter() > end:
                break
            order = list(calls) if turn % 2 else reversed(calls)
            for name in order:
                with entered(backends[name]):
                    times[name].append(sample(calls[name], count)[0])
    peaks = {name: peak(call, backends[name]) for name, call in calls.items()}
    return {
        "workload": program.workload,
        "case": program.case,
        "cpu": {name: summary(found) for name, found in times.items()},
        "bytes": peaks,
    }


def entered(backend: Any) -> ExitStack:
    """A backend that runs what is called inside."""
    import tenferro as tn

    stack = ExitStack()
    stack.enter_context(tn.use(backend))
    return stack


def repetitions(call: Call, backend: Any) -> int:
    """How often to call within a sample, so that it takes 5 ms."""
    with entered(backend):
        shortest = min(sample(call, 3)[0] for _ in range(5))
    return max(1, round(0.005 / max(shortest, 1e-7)))


def peak(call: Call, backend: Any) -> int:
    """The most bytes that one call had at a time, arrays and objects of Python."""
    with entered(backend):
        tracemalloc.start()
        try:
            call()
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            call()
            return tracemalloc.get_traced_memory()[1] - before
        finally:
            tracemalloc.stop()


# ---- what was found ------------------------------------------------------------------------------


def switches(results: Data) -> list[str]:
    """The passes that were left out, in their order."""
    return [name for name in results["rows"][0]["cpu"] if name not in (ALL, AGAIN)]


def time_ratio(row: Data, name: str) -> float:
    """CPU time without a pass over that with all: of medians or minima, by what is closer to 1."""
    found, every = row["cpu"][name], row["cpu"][ALL]
    pair = [found[figure] / every[figure] for figure in ("median", "minimum")]
    return min(pair, key=lambda ratio: abs(ratio - 1))


def memory_ratio(row: Data, name: str) -> float:
    """The peak without a pass over that with all."""
    return float(row["bytes"][name] / row["bytes"][ALL])


def improves(row: Data, name: str) -> bool:
    """Whether a program is slower or larger without a pass, beyond the noise."""
    noise = abs(time_ratio(row, AGAIN) - 1)
    slower = time_ratio(row, name) - 1 >= max(MATTERS, 2 * noise)
    return slower or is_larger(row, name)


def is_larger(row: Data, name: str) -> bool:
    """Whether a program needs more memory without a pass."""
    return row["bytes"][ALL] >= LARGE and memory_ratio(row, name) - 1 >= MATTERS


def worth(results: Data) -> dict[str, list[str]]:
    """The programs that each pass improves."""
    return {
        name: [f"{row['workload']} {row['case']}" for row in results["rows"] if improves(row, name)]
        for name in switches(results)
    }


INTRODUCTION = """\
# What each plan pass is worth

The NumPy backend rewrites the steps of a program by the passes that `explain` lists; the option
`without` leaves some out. Here every program ran with all of them, and without each one in turn,
by turns in one process, pinned to one core with one thread. Time is the CPU time without the pass
over that with all passes: of the ratio of medians and that of minima the one closer to 1. Memory is
the ratio of the peaks of one call, as `tracemalloc` counts them. Above 1 the pass helps. Bold are
ratios from 1.03 up: of times, where they are also twice as far from 1 as *all, again*, which is the
same plan twice; of peaks, from 64 KiB on.

The programs are the [workloads](benchmarks.md) in reduced sizes. W9 and W11 are left out: they
measure what runs before a plan does. Below them are programs for passes of a narrower purpose, from
`benchmarks/narrow_passes.py`. A pass that helps nowhere is deleted.

This page is generated: `python -m benchmarks.harness.ablation` measures, stores
`benchmarks/plan_passes.json`, and writes it.
"""


def page(results: Data) -> str:
    """The whole page."""
    found, names = results["environment"], switches(results)
    versions = ", ".join(f"{key} {value}" for key, value in found["versions"].items())
    parts = [
        INTRODUCTION,
        f"* {found['processor']}, {found['system']}, Python {found['python']}; {versions}\n",
        "## Time\n",
        *table(("", "", "all", AGAIN, *names), map_rows(results, time_cells)),
        "## Memory\n",
        *table(("", "", "all", *names), map_rows(results, memory_cells)),
        "## Where each pass helps\n",
        *table(
            ("pass", "slower or larger without it"),
            ((name, "; ".join(programs) or "nothing") for name, programs in worth(results).items()),
        ),
    ]
    return "\n".join(parts).rstrip() + "\n"


def map_rows(results: Data, cells: Callable[[Data, list[str]], Iterator[str]]) -> list[list[str]]:
    """Lines of a table: a program and its cells."""
    names = switches(results)
    return [[row["workload"], row["case"], *cells(row, names)] for row in results["rows"]]


def time_cells(row: Data, names: list[str]) -> Iterator[str]:
    """The time with all passes, the noise, and the ratios."""
    yield seconds(row["cpu"][ALL]["median"])
    yield number(time_ratio(row, AGAIN))
    noise = abs(time_ratio(row, AGAIN) - 1)
    for name in names:
        ratio = time_ratio(row, name)
        yield marked(ratio, ratio - 1 >= max(MATTERS, 2 * noise))


def memory_cells(row: Data, names: list[str]) -> Iterator[str]:
    """The peak with all passes, and the ratios."""
    yield f"{row['bytes'][ALL] / 2**10:,.0f} KiB"
    for name in names:
        ratio = memory_ratio(row, name)
        yield marked(ratio, is_larger(row, name))


def marked(ratio: float, matters: bool) -> str:
    """A ratio, to be seen if it matters."""
    return f"**{number(ratio)}**" if matters else number(ratio)


def measured(wanted: list[str]) -> Data:
    """Measure the programs of some workloads, each workload in a process of its own."""
    rows: list[Data] = []
    for identity in dict.fromkeys(program.workload for program in PROGRAMS):
        if wanted and identity not in wanted:
            continue
        began = time.perf_counter()
        rows += launch.run({"what": "ablate", "workload": identity}, Options())["rows"]
        print(f"{identity}: {time.perf_counter() - began:.0f} s", flush=True)
    return {"environment": environment(), "rows": rows}


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

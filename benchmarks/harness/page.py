"""Writes `docs/benchmarks.md` and its picture: `python -m benchmarks.harness.page [FILE]`.

Without a file, from `benchmarks/results.json`, which is what a full run left there; of a GPU from
`benchmarks/results-gpu.json`, if there is one. `--check` only compares. Nothing is measured and
nothing imported but this package, so the page can be made anywhere. What the numbers mean was said
when they were stored (`assess.py`).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .cells import mark, table
from .gpu import section as gpu_section
from .picture import picture
from .units import number, quantity, seconds
from .workload import SPREAD, WORST_WAY

ROOT = Path(__file__).resolve().parents[2]
RESULTS, PAGE = ROOT / "benchmarks/results.json", ROOT / "docs/benchmarks.md"
RESULTS_OF_GPU = ROOT / "benchmarks/results-gpu.json"
PICTURE = PAGE.with_suffix(".svg")
ORDER = ("met", "undecided", "missed")
Data = dict[str, Any]

INTRODUCTION = """\
# Benchmarks

How long value and gradient take, compared with NumPy written by hand by an expert, gradient
included. Each library runs the fastest way that its users have to write the workload, on one core
with one thread. Left of the line is faster than by hand.

![{title}](benchmarks.svg)
{words}
What the figures mean and how to measure them yourself stands under [Methods](#methods).
"""
TITLE = "CPU time of value and gradient ÷ NumPy by hand"
PICTURED = {  # the cases that the picture shows, and what they are
    ("W1", "n = 10,000"): "mixture model, 10⁴ points",
    ("W2", "batch 256"): "neural network",
    ("W4", "(10,), 500"): "recurrence of 500 steps",
    ("W5", "⟨A|B⟩, L = 32"): "matrix product state",
    ("W6", "svd"): "singular values",
    ("W6", "gp"): "Gaussian process",
    ("W10", "hvp, n = 1,000"): "product with a Hessian",
    ("W14", "1,000 to 3,000"): "Jacobian with a bottleneck",
    ("W16", "10⁵ points, 1,024 steps"): "1,024 steps of diffusion",
}
PROGRAMS = {  # figures of whole programs: the contestant, the figure, and the words around it
    ("tenferro un-jitted", "÷ autograd"): "un-jitted {} times autograd's time",
    ("tenferro", "÷ jax"): "under `jit` on the NumPy backend {} times that of `jax.jit`",
    ("tenferro xla", "÷ jax"): "on the XLA backend {} times",
}
ALL_PROGRAMS = "all programs, geometric mean"
MEANS = {  # the workloads that have these figures: what the mean is taken over, and what is added
    "W20": (
        "Geometric means over twenty whole programs, those of autograd's examples and of\n"
        "GradBench",
        ";\n`jax.jit` compiles some of them for half a minute",
    ),
    "W21": ("Geometric means over eighteen small programs of scientists, as first written", ""),
}

METHODS = """\
Every workload is written by hand in NumPy, value and gradient, and once for each peer as its users
write it. All contestants run by turns in one process, pinned to one core with one thread, and their
values and gradients are compared before a time counts. A ratio is CPU time over that of the version
by hand, the median over the turns and, in brackets, that of the minima. A goal counts as *met* or
*missed* when both are more than 15 % away from it, otherwise it is *undecided*. Beside them: the
first call (record, transform, compile; wall time), the peak of memory over the inputs in a process
of its own, wall time with two threads, CPU time with huge pages
(`GLIBC_TUNABLES=glibc.malloc.hugetlb=1`), and the slope of log time over log size. `numpy` is the
version by hand. Large new arrays cost their pages, unless the process has free ones. On W7 and W16
peers change how many are free, so that they ran in processes of their own, each beside the version
by hand; goals are compared with the first.
On W19 slow peers leave time for few samples, so that its goals come from a run without them.
W20 and W21 run whole programs without a version by hand; their ratios are to autograd and to JAX.
`planning`, `recording` and `unjitted` measure what tenferro itself needs, without peers; their
goals are for the median of all programs or operations.

W3 runs NumPy's `tanh`, `exp` and `log1p`. On this processor, which has no AVX-512, they take 17, 8
and 18 ns per element: 42 of the 46 ns of tenferro. By hand it takes 74 ns where the process has
pages for its temporaries, and up to 117 where the system must give them: the ratio was 0.72 in one
run and 0.39 in another, and huge pages show the former. The goals 0.36 and 0.27 were set where the
three functions take 2.2 ns together.

The ways of W19 differ where a user wrote other arithmetic, which no pass may change. Five ways of
`gmm` subtract the means from the points first. Each component then has a small product of its own:
6.6 ms of 16.3 ms at n = 10,000, where W x − W m has one large product, 5.0 ms of 13.3 ms. The
differences take 1.9 ms, the other subtraction 1.3 ms. tenferro does not multiply out W (x − m):
where points and means are far from the origin, W x − W m loses the digits that they have in common.
In `gp`, squared distances by differences take 0.75 ms, the Gram matrix 0.1 ms, for the same reason.
In `mps`, the path of one einsum over the whole network needs 144 million floating-point operations,
those from site to site 189 million. In `rosenbrock`, each call of NumPy takes about 0.4 µs for
1,000 elements: squares that are multiplied out need 19 calls on arrays, plain slices 14.

A first call of tenferro writes a graph, its derivative, the result of the passes and a plan, where
autograd runs operations as they come and then its tape. From the second process on, a kept program
(`keep_programs`) leaves recording and the reading of a file. The 1.6 ms of `lse` are then 0.55 ms
for recording, 0.65 ms for finding and reading the file, and the rest for differentiating, which is
looked up, and the run; autograd needs 0.3 ms in all.

This page is generated. `python -m tox -e bench -- --page` measures all of it, stores
`benchmarks/results.json`, and writes it; with names of workloads it measures only these again. It
shows the runs of

```
{commands}
```

`python -m tox -e bench -- W3 --peers jax,torch,autograd` measures one workload and stores nothing.
"""

GLANCE = """\
Value and gradient, CPU time over that of NumPy by hand: below 1 is faster. Of a peer the fastest
way to write it; on W19 the slowest way of each library.
"""
NAMES = {  # of the workloads in this table
    "W1": "mixture model",
    "W2": "neural network",
    "W3": "elementwise functions",
    "W4": "recurrence",
    "W5": "matrix product state",
    "W6": "linear algebra",
    "W7": "heat equation",
    "W10": "second derivatives",
    "W12": "call of a small gradient",
    "W13": "the same without `jit`",
    "W14": "Jacobian with a bottleneck",
    "W15": "recurrence by `scan`",
    "W16": "diffusion by `scan`",
    "W17": "ODE with controlled steps",
    "W18": "sparse derivatives",
    "W19": "as users write them",
}
BACKENDS = {  # and whose goals those of a backend are
    "NumPy": lambda contestant: not contestant.startswith("tenferro xla"),
    "XLA": lambda contestant: contestant.startswith("tenferro xla"),
}


# ---- parts of the page ---------------------------------------------------------------------------


def page(results: Data, gpu: Data | None = None) -> str:
    """The whole page; without results of a GPU it says that there are none."""
    runs = results["runs"]
    first = list(joined(runs))
    parts = [INTRODUCTION.format(title=TITLE, words=of_programs(first))]
    parts += ["## At a glance\n", GLANCE, *glance(first)]
    parts += ["## Methods\n", METHODS.format(commands=commands(results)), *environment(results)]
    for backend, ours in BACKENDS.items():
        goals = list(summary(first, ours))
        parts += [f"## Goals of the {backend} backend\n", *goals] if goals else []
    parts += gpu_section(gpu)
    for name in dict.fromkeys(run["workload"] for run in runs):
        parts += workload([run for run in runs if run["workload"] == name])
    return "\n".join(parts).rstrip() + "\n"


def shown(run: Data) -> Data:
    """A run without what the page leaves out: figures of single cases that have a spread."""
    spread = [row for row in run["figures"] if row["case"] in SPREAD]
    return {**run, "figures": spread or run["figures"]}


def commands(results: Data) -> str:
    """The commands that were run, each once; where it matters, at which commit and beside what."""
    commit = results["environment"]["commit"]
    found = {}
    for run in results["runs"]:
        said = ["while another ran on the other core"] if run.get("beside") else []
        if run["environment"]["commit"] != commit:
            said.append(f"at {run['environment']['commit']}")
        found[run["command"]] = f"    # {'; '.join(said)}" if said else ""
    return "\n".join(command + said for command, said in found.items())


def of_programs(runs: list[Data]) -> str:
    """A sentence for each workload of whole programs that was measured."""
    return "".join(mean_of(run) for run in runs if run["workload"] in MEANS)


def mean_of(run: Data) -> str:
    """The sentence of one workload; nothing if some of its programs were not measured."""
    found = {
        (row["contestant"], row["figure"]): number(row["value"])
        for row in run["figures"]
        if row["case"] == ALL_PROGRAMS
    }
    said = [words.format(found[key]) for key, words in PROGRAMS.items() if key in found]
    programs, addition = MEANS[run["workload"]]
    return f"\n{programs} ({run['workload']}): {'; '.join(said)}{addition}.\n" if said else ""


def bars(runs: list[Data]) -> str:
    """The picture."""
    found = best_of(runs)
    rows = {label: found[case] for case, label in PICTURED.items() if case in found}
    return picture(rows, TITLE)


def setting_of(run: Data) -> tuple[Any, ...]:
    """What two runs share of which the second is beside other peers."""
    return run["workload"], run["threads"], run["huge_pages"]


def joined(runs: list[Data]) -> Iterator[Data]:
    """Each setting once: its first run, with the contestants that ran only in later ones."""
    for setting in dict.fromkeys(map(setting_of, runs)):
        main, *others = [run for run in runs if setting_of(run) == setting]
        whole = dict(main)
        for kind in ("rows", "memory", "figures"):
            own = {row["contestant"] for row in main[kind]}
            more = [row for run in others for row in run[kind] if row["contestant"] not in own]
            whole[kind] = [*main[kind], *more]
        yield whole


def environment(results: Data) -> Iterator[str]:
    """Versions, processor, BLAS and load."""
    found, runs = results["environment"], results["runs"]
    pools = {text(pool): None for run in runs for pool in run["environment"]["blas"]}
    loads = [load[0] for run in runs for load in run["load"]]
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    yield from (
        f"* {found['processor']}, {found['cores']} cores, {found['system']}",
        f"* Python {found['python']}; {versions}; this repository at `{found.get('commit', '')}`",
        f"* BLAS and threads: {'; '.join(pools)}",
        f"* transparent huge pages of the system: {found['transparent huge pages']}",
        f"* load of the machine while measuring: {min(loads):.1f} to {max(loads):.1f}",
        "",
    )


def text(pool: Data) -> str:
    """A pool of threads in words."""
    parts = (pool.get(key) for key in ("internal_api", "version", "architecture"))
    return " ".join(str(part) for part in parts if part)


def best_of(runs: list[Data]) -> dict[tuple[str, str], dict[str, float]]:
    """Each case by libraries: a contestant's first word names its library."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for run in runs:
        if run["threads"] == 1 and not run["huge_pages"]:
            for case, contestant, value in ratios(run):
                library = library_of(contestant)
                if contestant.startswith("tenferro xla"):
                    library = "tenferro, XLA"
                best = found.setdefault((run["workload"], case), {})
                best[library] = min(value, best.get(library, value))
    return found


def glance(runs: list[Data]) -> Iterator[str]:
    """The table of all cases by libraries."""
    found = best_of(runs)
    libraries = dict.fromkeys(name for best in found.values() for name in best if name != "numpy")
    yield from table(
        ("", "", *libraries),
        (
            (
                f"{workload} {NAMES.get(workload, '')}".strip(),
                case,
                *(number(best[name]) if name in best else "" for name in libraries),
            )
            for (workload, case), best in found.items()
        ),
    )


def ratios(run: Data) -> Iterator[tuple[str, str, float]]:
    """Ratios to the version by hand: of the worst ways, where there are many, else of all rows."""
    worst = [row for row in run["figures"] if row["figure"] == WORST_WAY]
    for row in worst:
        yield row["case"], row["contestant"], row["value"]
    for row in () if worst else run["rows"]:
        if row.get("ratio"):
            yield row["case"], row["contestant"], row["ratio"]["median"]


def summary(runs: list[Data], ours: Callable[[str], bool]) -> Iterator[str]:
    """The worst case of each goal of ours; nothing if there is none."""
    worst: dict[tuple[str, ...], Data] = {}
    for entry in entries(runs, ours):
        key = tuple(entry[name] for name in ("workload", "what", "contestant", "goal"))
        if key not in worst or rank(entry) > rank(worst[key]):
            worst[key] = entry
    if not worst:
        return
    yield from table(
        ("", "contestant", "what", "goal", "found", ""),
        (
            (e["workload"], e["contestant"], e["said"], e["goal"], e["found"], mark(e["verdict"]))
            for e in worst.values()
        ),
    )


def rank(entry: Data) -> tuple[int, float]:
    """How far an entry is from its goal."""
    return ORDER.index(entry["verdict"]), entry["share"]


def entries(runs: list[Data], ours: Callable[[str], bool]) -> Iterator[Data]:
    """Every goal of these contestants, with what was found."""
    for run in runs:
        for kind in ("rows", "memory", "figures"):
            for row in run[kind]:
                if ours(row["contestant"]) and not run["huge_pages"]:
                    yield from entries_of(run, kind, row)


def entries_of(run: Data, kind: str, row: Data) -> Iterator[Data]:
    """The goals of a row."""
    for goal in row.get("goals", ()):
        threads = f", {run['threads']} threads" if run["threads"] > 1 else ""
        what = {"rows": "time", "memory": "memory"}.get(kind) or row["figure"]
        # figures of several cases with one goal stand as one; times have one goal per case
        case = "" if kind == "figures" else row["case"]
        value, found = value_of(run, kind, row, goal)
        yield {
            "workload": run["workload"],
            "contestant": row["contestant"],
            "what": f"{case} {what}{threads}",
            "said": f"{row['case']}: {what}{threads}",
            "goal": goal["text"],
            "found": found,
            "share": value / goal["limit"],
            "verdict": goal["verdict"],
        }


def value_of(run: Data, kind: str, row: Data, goal: Data) -> tuple[float, str]:
    """What was found for a goal, as a number and in words."""
    if kind == "figures":
        return row["value"], quantity(row["value"], row["unit"])
    if kind == "memory":
        return row["ratio"], number(row["ratio"])
    time = f"{seconds(row[run['clock']]['median'])}, " if "µs" in goal["text"] else ""
    return goal["ratio"]["median"], time + ratio(goal["ratio"])


def workload(runs: list[Data]) -> Iterator[str]:
    """The section of a workload: its main run, then the others beside each other."""
    main, *rest = runs
    again = [run for run in rest if setting_of(run) == setting_of(main)]
    others = [run for run in rest if run not in again]
    yield f"## {main['workload']}: {main['title']}\n"
    if main["rows"]:
        yield from times(main)
    for name, value in main["slopes"].items():
        yield f"* slope of {name}: {value:.2f}"
    if main["slopes"]:
        yield ""
    for run in again:
        yield f"In another process, beside {', '.join(peers_of(run))}:\n"
        yield from times(run)
    if others and main["rows"]:
        yield from settings(main, others)
    for rows in groups(main["figures"]):
        yield from figures(rows)


def peers_of(run: Data) -> list[str]:
    """The libraries that are not ours."""
    names = dict.fromkeys(library_of(row["contestant"]) for row in run["rows"])
    return [name for name in names if name not in ("numpy", "tenferro")]


def library_of(contestant: str) -> str:
    """The library of a contestant: the first word of its name."""
    return contestant.replace(",", "").split()[0]


def times(run: Data) -> Iterator[str]:
    """The table of times of the main run."""
    peaks = {(row["case"], row["contestant"]): row for row in run["memory"]}
    yield from table(
        ("case", "contestant", "CPU time", "÷ by hand", "first call", "memory", "goal", ""),
        (
            time_row(run, row, peaks.get((row["case"], row["contestant"]), {}))
            for row in run["rows"]
        ),
    )


def time_row(run: Data, row: Data, peak: Data) -> tuple[str, ...]:
    """A line of that table."""
    if row["status"] != "ok":
        said = f"{row['status']}: {row['message']}"
        return row["case"], row["contestant"], said, "", "", "", "", ""
    goals = [*row["goals"], *peak.get("goals", ())]
    return (
        row["case"],
        row["contestant"],
        seconds(row[run["clock"]]["median"]),
        ratio(row.get("ratio")),
        seconds(row["first"]),
        memory(peak),
        "; ".join(goal["text"] for goal in goals),
        "; ".join(mark(goal["verdict"]) for goal in goals),
    )


def settings(main: Data, others: list[Data]) -> Iterator[str]:
    """Ratios of the same contestants with more threads, and with huge pages."""
    heads = [
        f"{run['threads']} threads, wall time" if run["threads"] > 1 else "huge pages"
        for run in others
    ]
    by_run = [{(row["case"], row["contestant"]): row for row in run["rows"]} for run in others]
    keys = [(row["case"], row["contestant"]) for row in main["rows"]]
    yield from table(
        ("case", "contestant", *(cell for head in heads for cell in (head, "÷ by hand"))),
        (
            (*key, *(cell for run, rows in zip(others, by_run, strict=True) for cell in
             setting(run, rows.get(key, {}))))
            for key in keys
        ),
    )  # fmt: skip


def setting(run: Data, row: Data) -> tuple[str, str]:
    """Time and ratio of a contestant in another setting."""
    if run["clock"] not in row:
        return row.get("status", ""), ""
    goals = "".join(f", {goal['text']} {mark(goal['verdict'])}" for goal in row["goals"])
    return seconds(row[run["clock"]]["median"]), ratio(row.get("ratio")) + goals


def groups(rows: list[Data]) -> list[list[Data]]:
    """Figures by table: contestants that share a figure stand in one."""
    found: list[tuple[set[str], list[Data]]] = []
    for contestant in dict.fromkeys(row["contestant"] for row in rows):
        own = [row for row in rows if row["contestant"] == contestant]
        names = {row["figure"] for row in own}
        for shared, others in found:
            if shared & names:
                shared |= names
                others += own
                break
        else:
            found.append((names, own))
    return [rows for _, rows in found]


def figures(rows: list[Data]) -> Iterator[str]:
    """A table of figures: cases and contestants by figures."""
    names = list(dict.fromkeys(row["figure"] for row in rows))
    cases = list(dict.fromkeys(row["case"] for row in rows))
    pairs = dict.fromkeys((row["case"], row["contestant"]) for row in rows)
    lines = []
    for pair in sorted(pairs, key=lambda pair: cases.index(pair[0])):
        cells = {r["figure"]: figure(r) for r in rows if (r["case"], r["contestant"]) == pair}
        lines.append((*pair, *(cells.get(name, "") for name in names)))
    yield from table(("case", "contestant", *names), lines)


# ---- cells ---------------------------------------------------------------------------------------


def figure(row: Data) -> str:
    """A figure, and its goals where it has some."""
    goals = "".join(f" ({goal['text']}: {mark(goal['verdict'])})" for goal in row["goals"])
    return quantity(row["value"], row["unit"]) + goals


def ratio(found: Data | None) -> str:
    """The median of the ratios, that of the minima in brackets."""
    return f"{number(found['median'])} ({number(found['minimum'])})" if found else ""


def memory(peak: Data) -> str:
    """A peak of memory and its ratio."""
    if "bytes" not in peak:
        return ""
    return f"{peak['bytes'] / 2**20:.0f} MiB ({number(peak.get('ratio'))})"


def main() -> int:
    """Write the page, or compare it."""
    parser = argparse.ArgumentParser(prog="benchmarks.harness.page", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether it is up to date")
    if not parser.parse_args().check:
        write()
        return 0
    stale = [file for file, content in made().items() if file.read_text("utf-8") != content]
    for file in stale:
        print(f"{file} is not what {RESULTS} says: python -m benchmarks.harness.page")
    return 1 if stale else 0


def write() -> None:
    """Write the page and its picture."""
    for file, content in made().items():
        file.write_text(content, "utf-8")


def made() -> dict[Path, str]:
    """The page and its picture, as what is stored says."""
    results = json.loads(RESULTS.read_text("utf-8"))
    gpu = json.loads(RESULTS_OF_GPU.read_text("utf-8")) if RESULTS_OF_GPU.exists() else None
    return {PAGE: page(results, gpu), PICTURE: bars(list(joined(results["runs"])))}


if __name__ == "__main__":
    sys.exit(main())

"""The command line: which workloads, against whom, and where the results go."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from .harness import launch
from .harness.assess import assess
from .harness.report import show, show_environment
from .harness.storage import store
from .harness.whole import measure_page
from .harness.workload import PEERS, Options, Workload, load, names


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks", description="Measure workloads.")
    parser.add_argument("workloads", nargs="*", metavar="W", help="W1 to W21, or all")
    parser.add_argument(
        "--peers", default="jax,torch,autograd", help=f"some of {', '.join(PEERS)}; all; or none"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes and few repeats")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds for each case")
    parser.add_argument("--threads", type=int, nargs="+", default=[1], help="1, 2, or both")
    parser.add_argument("--huge-pages", action="store_true", help="measure with them, too")
    parser.add_argument("--memory", action="store_true", help="peak memory of every contestant")
    parser.add_argument("--everything", action="store_true", help="all of the above")
    parser.add_argument("--strict", action="store_true", help="fail if a contestant does")
    parser.add_argument(
        "--page", action="store_true", help="measure what docs/benchmarks.md shows, and write it"
    )
    options = parser.parse_args(given)
    if options.everything:
        options.threads, options.huge_pages, options.memory = [1, 2], True, True
    return options


def chosen(options: argparse.Namespace) -> tuple[list[str], tuple[str, ...]]:
    """The workloads and the peers of a command line; unknown ones end it."""
    known = names()
    wanted = list(known) if "all" in options.workloads else options.workloads
    peers = {"all": PEERS, "none": ()}.get(options.peers, tuple(options.peers.split(",")))
    for name in [*(w for w in wanted if w not in known), *(p for p in peers if p not in PEERS)]:
        raise SystemExit(f"{name}: no such thing; there are {', '.join((*known, *PEERS))}")
    return wanted, peers


def settings(
    workload: Workload, given: argparse.Namespace, peers: tuple[str, ...]
) -> list[Options]:
    """The ways in which a workload is to be measured."""
    threads = given.threads if workload.contestants else [1]
    found = [Options(peers, given.quick, given.budget, count) for count in threads]
    if given.huge_pages and workload.large:
        found.append(Options(peers, given.quick, given.budget, huge_pages=True))
    return found


def measure(workload: Workload, options: Options, memory: bool) -> dict[str, Any]:
    """One run: all contestants by turns in one process, then their memory, one by one."""
    cases = list(workload.quick if options.quick else workload.cases)
    skip = launch.unreliable(workload, cases, options)
    request = {"what": "measure", "workload": workload.id, "skip": skip}
    run = {
        "workload": workload.id,
        "title": workload.title,
        "threads": options.threads,
        "huge_pages": options.huge_pages,
        "quick": options.quick,
        **launch.run(request, options),
        "memory": [],
    }
    if memory and workload.memory and options.threads == 1 and not options.huge_pages:
        for case in cases:
            run["memory"] += launch.memory(workload, case, options)
    assess(workload, run)
    return run


def broken(runs: list[dict[str, Any]]) -> list[str]:
    """Contestants that failed or disagreed."""
    return [
        f"{run['workload']} {row['case']}: {row['contestant']} {row['status']}: {row['message']}"
        for run in runs
        for row in run["rows"]
        if row["status"] in ("failed", "disagrees")
    ]


def run_all(
    wanted: list[str], peers: tuple[str, ...], given: argparse.Namespace, console: Console
) -> tuple[list[dict[str, Any]], list[str]]:
    """Measure and print one after the other; what was measured, and what went wrong."""
    command = f"python -m benchmarks {' '.join(sys.argv[1:])}"
    runs: list[dict[str, Any]] = []
    failures: list[str] = []
    for workload in map(load, wanted):
        for options in settings(workload, given, peers):
            try:
                runs.append({**measure(workload, options, given.memory), "command": command})
            except launch.WorkerError as error:
                failures.append(f"{workload.id}: {error}")
                continue
            if len(runs) == 1:
                show_environment(runs[0]["environment"], console)
            show(runs[-1], console)
            if given.json:
                store(runs, given.json)
    return runs, failures


def main() -> int:
    """Measure, print, and store."""
    given = arguments()
    wanted, peers = chosen(given)
    if given.page:
        return measure_page(wanted)
    console = Console(width=None if sys.stdout.isatty() else 150, highlight=False)
    for name in names() if not wanted else ():
        console.print(f"{name:16}{load(name).title}", markup=False)
    runs, failures = run_all(wanted, peers, given, console)
    failed = broken(runs)
    for line in failures + failed:
        console.print(line, style="red", markup=False)
    return 1 if failures or (given.strict and failed) else 0


if __name__ == "__main__":
    sys.exit(main())

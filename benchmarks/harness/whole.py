"""All that `docs/benchmarks.md` shows, measured by one command: `python -m benchmarks --page`.

Each command of `COMMANDS` is a process. Two of them run at a time, each on a core of its own,
before those that need both cores or a quiet machine run one by one. With names of workloads only
their commands run again, and what is stored of the others stays. Read next: `page.py`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

from . import page
from .launch import ROOT
from .storage import restored, store
from .workload import names

PREFIX = "python -m benchmarks "
AT_A_TIME = 2


class Command(NamedTuple):
    """Arguments of `python -m benchmarks`, and whether nothing else may run meanwhile."""

    arguments: str
    alone: bool = False

    @property
    def workloads(self) -> set[str]:
        """The workloads that it measures."""
        return set(takewhile(lambda word: word[0] != "-", self.arguments.split()))

    def belongs(self, run: dict[str, Any]) -> bool:
        """Whether a run is what the command is for: with huge pages, others are run as well."""
        return bool(run["huge_pages"]) == ("--huge-pages" in self.arguments)


# The first command of a workload has the goals. Times of W9 and W11 are not ratios in one process.
# On W7 and W16 peers change how many pages are free, on W19 slow ones leave time for few samples:
# there, peers come in further commands.
COMMANDS = (
    Command("W4 W8 W10 W12 W13 W15 W17 --peers all --memory --budget 1"),
    Command("W1 W2 W3 W5 W6 --peers all --memory --budget 1"),
    Command("W19 --peers none --budget 3", alone=True),
    Command("W19 --peers jax,autograd --budget 1"),
    Command("W18 --peers jax,xla --budget 1"),
    Command("W7 W16 --peers none --memory --budget 2"),
    Command("W7 W16 --peers jax,autograd,xla --memory --budget 1"),
    Command("W7 W16 --peers torch --memory --budget 1"),
    Command("W9 --peers all --budget 3", alone=True),
    Command("W11 --peers all", alone=True),
    Command("W14 --peers all --memory --budget 1"),
    Command("W20 --peers jax,autograd,xla --budget 1", alone=True),
    Command("W21 --peers jax,autograd,xla --budget 1", alone=True),
    Command("W3 W5 --peers all --threads 2 --budget 1", alone=True),
    Command("W1 W3 --peers all --huge-pages --budget 1", alone=True),
    Command("recording planning unjitted --peers none --budget 1", alone=True),
)


def measure_page(wanted: Sequence[str]) -> int:
    """Measure the commands of some workloads, or all; store the runs, and write the page.

    What is stored of a command stays where it is not measured, or has no result.
    """
    chosen = [c for c in COMMANDS if not wanted or c.workloads & set(wanted)]
    found = dict(zip(chosen, measured(chosen), strict=True))
    failed = [command for command in chosen if not found[command]]
    stored = restored(page.RESULTS) if page.RESULTS.exists() else []
    for command in [c for c in COMMANDS if not found.get(c)]:
        text = PREFIX + command.arguments
        found[command] = [run for run in stored if run["command"] == text]
    runs = [run for command in COMMANDS for run in found[command]]
    order = [*names()]
    store(sorted(runs, key=lambda run: order.index(run["workload"])), page.RESULTS)
    page.write()
    for command in failed:
        print(f"{PREFIX}{command.arguments}: no result", file=sys.stderr)
    return 1 if failed else 0


def measured(commands: Sequence[Command]) -> Iterator[list[dict[str, Any]]]:
    """The runs of each command, two commands at a time where they may share the machine."""
    shared = [command for command in commands if not command.alone]
    cores = sorted(os.sched_getaffinity(0))[-AT_A_TIME:]
    free = [*cores]

    def on_one_core(command: Command) -> list[dict[str, Any]]:
        core = free.pop()
        try:
            # of this thread alone; the process that it starts has the same
            os.sched_setaffinity(0, {core})
            return runs_of(command, beside=len(cores) > 1)
        finally:
            free.append(core)

    with ThreadPoolExecutor(len(cores)) as pool:
        together = dict(zip(shared, pool.map(on_one_core, shared), strict=True))
    for command in commands:
        yield together[command] if command in together else runs_of(command)


def runs_of(command: Command, *, beside: bool = False) -> list[dict[str, Any]]:
    """The runs of one command, in a process of its own; none if it stores nothing."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "results.json"
        line = [sys.executable, "-m", "benchmarks", *command.arguments.split()]
        subprocess.run([*line, "--json", str(file)], cwd=ROOT, check=False)
        found = restored(file) if file.exists() else []
    said = {"command": PREFIX + command.arguments, "beside": beside}
    return [{**page.shown(run), **said} for run in found if command.belongs(run)]

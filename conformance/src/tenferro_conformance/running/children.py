"""Run the packaged suite in child processes, one per backend, and add up what they found.

Used by the command line (door 1), which brings its own ini file and root directory so that nothing
of the caller can change a verdict, and by the pytest plugin when several backends are selected
(door 2). Read `reporting/report.py` for what a report holds.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from tenferro_conformance.reporting.failures import command_words, failure_lines
from tenferro_conformance.reporting.report import Report, merge_reports, read_report
from tenferro_conformance.running.crashes import found_before_crashes, go_on

__all__ = ["problems_of", "run_children", "suite_arguments"]

SUITE = Path(__file__).parents[1] / "suite"


def suite_arguments() -> list[str]:
    """Return pytest arguments that make the suite independent of its caller.

    The root is the folder of the suite: pytest prints a failure as a path from here to there.
    """
    return [
        "-c", str(SUITE / "suite.ini"), "--rootdir", str(SUITE), "--confcutdir", str(SUITE),
        "-p", "no:cacheprovider", "-p", "no:hypothesispytest",
        "--pyargs", "tenferro_conformance.suite",
    ]  # fmt: skip


_NO_CASE = (
    "if no installed distribution publishes cases of this namespace, name them by "
    "`--declare NAMESPACE=MODULE:OBJECT`"
)


def problems_of(
    report: Report,
    require: Sequence[str],
    chosen: Sequence[str] = (),
    *,
    laws: str = "all",
    asked: Sequence[str] = (),
) -> list[str]:
    """Return why a run fails although no test did: nothing ran, or a required backend is missing.

    `chosen` are the backends that were named; one that is merely installed may be broken. With
    `laws="graph"` no backend runs anything. `asked` are the primitives that the run was limited to.
    """
    problems = [
        f"{name} is required and unavailable: {about.reason}"
        for name, about in report.backends.items()
        if name in require and about.status == "unavailable"
    ]
    problems += [
        f"{name} is broken: {about.reason}"
        for name, about in report.backends.items()
        if about.status == "broken" and name in {*require, *chosen}
    ]
    available = [name for name, about in report.backends.items() if about.status == "available"]
    limited = f" of {', '.join(asked)}; {_NO_CASE}" if asked else ""
    problems += [
        f"{name} was selected and executed no case{limited}"
        for name in available
        if laws != "graph" and not report.executed(name)
    ]
    if not available:
        problems.append("no selected backend is available, so nothing was tested")
    return problems


def run_children(
    names: Sequence[str],
    arguments: Callable[[str, Path], list[str]],
    *,
    require: Sequence[str] = (),
    report: str = "",
    chosen: Sequence[str] = (),
    isolated: bool = False,
    jobs: int = 1,
    laws: str = "all",
    collect_only: bool = False,
    words: Sequence[str] = (),
    asked: Sequence[str] = (),
) -> int:
    """Run one pytest per available backend; return 0 if all passed and something ran.

    `words` is the command that the report completes for each case that failed, and `asked` are the
    primitives that it was limited to.

    With `jobs` above 1 a backend's cases are split into parts of whole primitives, and that many
    parts run at a time. With `collect_only` the tests are listed, and nothing is judged.
    """
    from tenferro_conformance.running.backends import describe
    from tenferro_conformance.running.operations import class_or_none

    merged, status = Report(), 0
    for name in sorted({*names, *require}):
        about = describe(name)
        merged.backends[name] = about
        if about.status != "available":
            continue
        print(f"tenferro: {name}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            parts = _parts(name, arguments, Path(folder), jobs)
            codes = _run_parts(parts, isolated, jobs)
            merged.merge(merge_reports(read_report(p.report) for p in parts if p.report.exists()))
            merged.merge(merge_reports(found_before_crashes(part.journal) for part in parts))
        status = status or max(abs(code) for code in codes)
    if collect_only:
        return status
    problems = problems_of(merged, require, chosen, laws=laws, asked=asked)
    for line in failure_lines(merged, words or command_words(), class_or_none):
        print(line, flush=True)
    for line in [*(merged.summary(name) for name in sorted(merged.backends)), *problems]:
        print(f"tenferro: {line}", flush=True)
    if jobs > 1:  # pytest's own closing line, of all parts together
        print(_closing_line(merged), flush=True)
    if report:
        merged.write(Path(report))
    return status or int(bool(problems))


#: parts per job: primitives differ in cost, and who is ready early takes another part
_PARTS_PER_JOB = 2


@dataclass(frozen=True)
class _Part:
    """One pytest process to run: its arguments and where it writes its report."""

    arguments: Sequence[str]
    report: Path

    @property
    def journal(self) -> Path:
        """The file in which its tests start and end."""
        return self.report.with_suffix(".journal")


def _parts(
    name: str, arguments: Callable[[str, Path], list[str]], folder: Path, jobs: int
) -> list[_Part]:
    if jobs == 1:
        path = folder / "report.json"
        return [_Part(arguments(name, path), path)]
    count = _PARTS_PER_JOB * jobs
    paths = [folder / f"report{k}.json" for k in range(1, count + 1)]
    return [
        _Part([*arguments(name, path), f"--tenferro-shard={k}/{count}"], path)
        for k, path in enumerate(paths, start=1)
    ]


def _run_parts(parts: Sequence[_Part], isolated: bool, jobs: int) -> list[int]:
    """Run all parts, `jobs` at a time; with several, print what each has said when it ends."""
    environment = {
        k: v for k, v in os.environ.items() if not (isolated and k.startswith("PYTEST_"))
    }
    environment.setdefault("TENFERRO_STRICT_PLUGINS", "1" if isolated else "0")

    def run(part: _Part) -> int:
        command = [sys.executable, "-m", "pytest", *part.arguments]
        command += [f"--tenferro-journal={part.journal}"]
        if jobs == 1:
            return subprocess.run(command, env=environment, check=False).returncode
        done = subprocess.run(
            command, env=environment, check=False, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        with printing:
            print(done.stdout, end="", flush=True)
        return done.returncode

    printing = Lock()
    with ThreadPoolExecutor(jobs) as pool:
        return list(
            pool.map(lambda part: go_on(lambda: run(part), part.journal, part.report), parts)
        )


def _closing_line(report: Report) -> str:
    counts = Counter(entry.verdict for entry in report.entries)
    failed = counts["fail"] + counts["error"]
    return f"{counts['pass'] + counts['xfail'] + counts['unsupported']} passed, {failed} failed"

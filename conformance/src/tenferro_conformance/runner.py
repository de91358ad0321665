"""Run the packaged suite in child processes, one per backend, and add up what they found.

Used by the command line (door 1), which brings its own ini file and root directory so that nothing
of the caller can change a verdict, and by the pytest plugin when several backends are selected
(door 2). Read `report.py` for what a report holds.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tenferro_conformance.report import Report, read_report

__all__ = ["problems_of", "run_children", "suite_arguments"]

SUITE = Path(__file__).parent / "suite"
_BROKEN = 3  # pytest's exit codes from here on mean that the run itself did not work


def suite_arguments(root: Path) -> list[str]:
    """The pytest arguments with which the suite runs independently of its caller."""
    return [
        "-c", str(SUITE / "suite.ini"), "--rootdir", str(root), "--confcutdir", str(SUITE),
        "-p", "no:cacheprovider", "--pyargs", "tenferro_conformance.suite",
    ]  # fmt: skip


def problems_of(report: Report, require: Sequence[str], chosen: Sequence[str] = ()) -> list[str]:
    """Why a run fails although no test did: nothing executed, or a required backend is not there.

    `chosen` are the backends that were named; one that is merely installed may be broken.
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
    problems += [
        f"{name} was selected and executed no case"
        for name in available
        if not report.executed(name)
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
) -> int:
    """One pytest per available backend; returns 0 if all passed and something ran."""
    from tenferro_conformance.kit import describe

    merged, status = Report(), 0
    for name in sorted({*names, *require}):
        about = describe(name)
        if about.status != "available":
            merged.backends[name] = about
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "report.json"
            code = _run_one(name, arguments(name, path), isolated)
            if path.exists():
                merged.merge(read_report(path))
            else:
                merged.backends[name] = about
        status = status or abs(code)
    problems = problems_of(merged, require, chosen)
    for line in [*(merged.summary(name) for name in sorted(merged.backends)), *problems]:
        print(f"tenferro: {line}", flush=True)
    if report:
        merged.write(Path(report))
    return status or int(bool(problems))


def _run_one(name: str, arguments: Sequence[str], isolated: bool) -> int:
    print(f"tenferro: {name}", flush=True)
    environment = {
        k: v for k, v in os.environ.items() if not (isolated and k.startswith("PYTEST_"))
    }
    environment.setdefault("TENFERRO_STRICT_PLUGINS", "1" if isolated else "0")
    return subprocess.run(
        [sys.executable, "-m", "pytest", *arguments], env=environment, check=False
    ).returncode

"""Test suite of another library, fetched and run over tenferro: what `tests/of_*` share.

``download`` fetches a source distribution, ``run_suite`` runs its tests in this process and counts
them. Read next: ``of_autograd/run.py``, ``of_pymanopt/run.py``.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest

__all__ = ["Outcomes", "download", "run_suite"]


class Outcomes:
    """A plugin of pytest that counts, and keeps the names of what failed."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed: list[str] = []

    @property
    def total(self) -> int:
        """Number of tests that passed or failed."""
        return self.passed + len(self.failed)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)
        elif report.when == "call" and report.passed:
            self.passed += 1


def download(name: str, version: str, folder: Path) -> Path:
    """Fetch a source distribution by pip, and return the folder of its files."""
    # Of this name alone: pip would otherwise build the tools that build it from their sources, too.
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", name]
    subprocess.run([*command, "--dest", str(folder), f"{name}=={version}"], check=True)
    with tarfile.open(folder / f"{name}-{version}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder / f"{name}-{version}"


def run_suite(tests: Path, root: Path, options: Sequence[str] = ()) -> Outcomes:
    """Run the tests of a folder, without the settings of any project around it."""
    outcomes = Outcomes()
    fixed = ["-q", "-c", "/dev/null", "--rootdir", str(root), "-p", "no:cacheprovider"]
    pytest.main([*fixed, *options, str(tests)], plugins=[outcomes])
    return outcomes

"""Runs the packaged suite on the loopback backend in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

LOOPBACK = Path(__file__).parent / "loopback"
sys.path.insert(0, str(LOOPBACK))


@pytest.fixture
def run_suite(tmp_path):
    """Run a part of the suite on the loopback backend; returns the process and the report.

    Of the named ``primitives`` alone cases are made, which takes half as long as to make all.
    """
    from tenferro_conformance.reporting.report import read_report
    from tenferro_conformance.running.children import SUITE

    def run(file="", select="", mutant="", without="", primitives=(), extra=()):
        report = tmp_path / "report.json"
        environment = {**os.environ, "LOOPBACK_MUTANT": mutant, "LOOPBACK_WITHOUT": without}
        environment["PYTHONPATH"] = str(LOOPBACK)
        command = [
            sys.executable, "-m", "pytest", "-p", "loopback_plugin", "-c", str(SUITE / "suite.ini"),
            "--rootdir", str(tmp_path),
            "-p", "no:cacheprovider", str(SUITE / file), "--tenferro-backend=loopback",
            f"--tenferro-report={report}",
            *(["-k", select] if select else []),
            *[f"--tenferro-primitive={name}" for name in primitives], *extra,
        ]  # fmt: skip
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        return done, read_report(report) if report.exists() else None

    return run

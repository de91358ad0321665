"""The conformance kit on the stand-in: what the profile claims, level 3 with derivatives."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tenferro_cupy import profile


def run_the_kit(tmp_path, tier):
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *("-p", "stand_in_plugin", "--tenferro-backend", "cupy_stand_in"),
            *("--tenferro-laws", "backend", "--tenferro-tier", tier),
            *("--pyargs", "tenferro_conformance.suite"),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.slow
def test_typical_cases_of_every_law_pass(tmp_path):
    """Every primitive, with derivatives up to the third"""
    assert profile.PROFILE.ad
    assert "claim: level 3+AD" in run_the_kit(tmp_path, "quick")


@pytest.mark.slow
def test_every_case_passes(tmp_path):
    """What the column of CuPy in `docs/compatibility.md` says"""
    assert "claim: level 3+AD" in run_the_kit(tmp_path, "deep")

"""The conformance kit on the stand-in: what the profile claims, level 3 with derivatives.

What is quick: a typical case of every lowering, alone, in batches, and as its adjoint. The other
laws run programs that rules make of the same lowerings; they take minutes, and are in `deep`.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tenferro_cupy import profile

LAWS_OF_LOWERINGS = "test_value or test_adjoint or test_batch_is_a_loop or test_whole_program"


def run_the_kit(*options):
    done = subprocess.run(
        [
            *(sys.executable, "-m", "tenferro_conformance", "run", "--laws", "backend"),
            *("--plugin", "stand_in_plugin", "--backend", "cupy_stand_in"),
            *("--declare", "cupy_stand_in=stand_in_plugin:PROFILE", *options),
        ],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.slow
def test_typical_cases_of_every_lowering_pass():
    """Values, batches and adjoints"""
    assert profile.PROFILE.ad
    told = run_the_kit("--tier", "quick", "-k", LAWS_OF_LOWERINGS)
    assert "4 laws, up to level 3; claim: level 3+AD" in told


@pytest.mark.slow
def test_every_case_passes():
    """What the column of CuPy in `docs/compatibility.md` says"""
    assert "claim: level 3+AD" in run_the_kit("--tier", "deep")

"""The laws of the conformance kit that look at one program at a time, on the stand-in."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

#: One digit more than SciPy's function has, which computes it on the stand-in.
BEYOND_SCIPY = "std::gammaincc and full_precision"
LAWS = (
    *("test_value", "test_aval", "test_fidelity", "test_purity", "test_adjoint"),
    "test_equal_values",
)


@pytest.mark.slow
def test_the_stand_in_conforms(tmp_path):
    pytest.importorskip("tenferro_conformance")
    modules = [f"tenferro_conformance.suite.{law}" for law in LAWS]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *("-p", "stand_in_plugin", "--tenferro-backend", "cupy_stand_in"),
            *("-k", f"not ({BEYOND_SCIPY})"),
            *("--pyargs", *modules),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed" in done.stdout

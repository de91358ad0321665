"""``examples/ffi_kernel`` as a stranger has it: copied elsewhere, compiled, tested by the kit."""

import os
import shutil
import subprocess
import sys

import pytest

SCRIPT = """
import pytest
assert pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "tests"]) == 0
from acme_filters.cases import CASES
from tenferro_conformance.kit import register_cases
register_cases(CASES)
chosen = ["-k", "acme_filters", "--tenferro-backend=xla", "--tenferro-laws=backend"]
suite = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--pyargs", "tenferro_conformance.suite"]
assert pytest.main([*suite, *chosen]) == 0
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ to build the kernel with")
def test_a_kernel_in_cpp_passes_its_tests_and_every_law(tmp_path, request):
    example = request.config.rootpath / "examples/ffi_kernel"
    copied = shutil.copytree(example, tmp_path / "ffi_kernel")
    environment = {**os.environ, "PYTHONPATH": str(copied / "src"), "JAX_PLATFORMS": "cpu"}
    environment.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=copied,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout.splitlines()[1]

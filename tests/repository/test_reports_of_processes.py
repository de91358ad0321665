"""Tests that run in processes of xdist: whatever does not pass is reported, as without them."""

import os
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("xdist")

TESTS = """
import pytest

@pytest.fixture
def does_not_start():
    assert False, "setting up fails"

@pytest.fixture
def does_not_end():
    yield
    assert False, "tearing down fails"

def test_passes(): pass
def test_fails(): assert False, "the call fails"
def test_errs_before(does_not_start): pass
def test_errs_after(does_not_end): pass
def test_is_skipped_inside(): pytest.skip("no reason")
@pytest.mark.skip(reason="not wanted")
def test_is_skipped(): pass
@pytest.mark.xfail(reason="known")
def test_is_known(): assert False
"""


def test_what_does_not_pass_is_reported(root, tmp_path):
    shutil.copy(root / "conftest.py", tmp_path)
    (tmp_path / "tests").mkdir()
    shutil.copy(root / "tests/tiers.py", tmp_path / "tests")
    (tmp_path / "test_outcomes.py").write_text(TESTS, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "-n1"]
    environment = {**os.environ, "PYTEST_ADDOPTS": "", "HYPOTHESIS_PROFILE": "same"}
    for name in [name for name in environment if name.startswith("PYTEST_XDIST")]:
        del environment[name]
    done = subprocess.run(
        [*command, "test_outcomes.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    for text in ["setting up fails", "tearing down fails", "the call fails", "no reason"]:
        assert f"{text}" in done.stdout
    last = done.stdout.strip().splitlines()[-1]
    assert "1 failed, 2 passed, 2 skipped, 1 xfailed, 2 errors" in last

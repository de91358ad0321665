"""The quickstart, run as a newcomer runs it: it learns, shows what it promises, saves its plot."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[1] / "examples/quickstart.py"
PNG = b"\x89PNG\r\n\x1a\n"


def quickstart(*options):
    command = [sys.executable, str(PROGRAM), *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8")


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_it_reads_the_digits(backend, tmp_path):
    finished = quickstart("--backend", backend, "--max-iter", 4, "--plot", tmp_path / "loss.png")
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert float(re.search(r"test accuracy ([\d.]+)", finished.stdout)[1]) >= 0.90
    assert (tmp_path / "loss.png").read_bytes().startswith(PNG)


def test_it_shows_the_graph_and_the_plugins(tmp_path):
    shown = quickstart("--max-iter", 3, "--plot", tmp_path / "loss.png").stdout
    assert re.search(r"dot_general.*: f64\[1347,10\]$", shown, re.MULTILINE)  # primal
    assert re.search(r"dot_general.*: f64\[65,10\] transposed ct_%\d+$", shown, re.MULTILINE)
    assert re.search(r"'linear': [1-9]", shown)
    assert re.search(r"^numpy +backends +tenferro-numpy .* loaded$", shown, re.MULTILINE)
    assert "Success" in shown.splitlines()[-1]


def test_a_bad_fit_is_a_failure(tmp_path):
    finished = quickstart("--max-iter", 1, "--plot", tmp_path / "loss.png")
    assert finished.returncode == 1
    assert "below 0.90" in finished.stderr


def test_a_backend_that_is_not_there_is_named(tmp_path):
    finished = quickstart("--backend", "nmpy", "--plot", tmp_path / "loss.png")
    assert finished.returncode == 1
    assert "did you mean 'numpy'" in finished.stderr
    assert "Traceback" not in finished.stderr

"""What writes loops loads with the first program that has one, not with every long program."""

import subprocess
import sys

import pytest

from tenferro.backend import select_backend

CODE = """
import sys
import numpy as np
import tenferro as tn

def minor(a, row, columns):
    if not columns:
        return 1.0
    total = 0.0
    for i, c in enumerate(columns):
        total = total + (-1) ** i * a[row, c] * minor(a, row + 1, columns[:i] + columns[i + 1 :])
    return total

def steps(x):
    for _ in range(60):
        x = np.sin(x) * 1.25 + x / 2
    return np.sum(x)

LOADED = "tenferro.passes.roll.search", "tenferro.passes.roll.loops", "tenferro.primitives.control"
matrix = np.linspace(0.0, 1.0, 25).reshape(5, 5) ** 2
tn.grad(lambda a: minor(a, 0, (0, 1, 2, 3, 4)))(matrix)
print([name in sys.modules for name in LOADED])
tn.grad(steps)(matrix)
print([name in sys.modules for name in LOADED])
"""


@pytest.mark.skipif(select_backend().name != "numpy", reason="it is about one operation at a time")
def test_a_long_program_without_loops_loads_nothing_that_writes_them():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[True, False, False]", "[True, True, True]"]

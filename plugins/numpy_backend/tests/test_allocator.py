"""Freed arrays stay with the process, so that the next ones pay for no new pages."""

import os
import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import numpy as np
import tenferro as tn

def loss(w, x):
    scores = x @ w
    scores = scores - np.max(scores, axis=1, keepdims=True)
    return np.sum(np.log(np.sum(np.exp(scores), axis=1)))

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

x, w = np.ones((20_000, 20)), np.ones((20, 10))
step = tn.jit(tn.value_and_grad(loss), backend="numpy", options={"threads": 1})
for _ in range(10):
    step(w, x)
before = faults()
for _ in range(10):
    step(w, x)
print(faults() - before)
"""


def faults_of_ten_runs(**settings: str) -> int:
    environment = {k: v for k, v in os.environ.items() if "MALLOC" not in k and "GLIBC" not in k}
    command = [sys.executable, "-c", PROGRAM]
    environment |= settings
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the rule of glibc")
def test_a_program_that_runs_again_takes_no_new_pages():
    """Without this, several hundred of them in each run."""
    assert faults_of_ten_runs() < 1000


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the rule of glibc")
def test_the_policy_of_the_system_holds_where_it_is_asked_for():
    """The memory of freed arrays goes back to the system, and each run takes new pages."""
    kept = faults_of_ten_runs(TENFERRO_NUMPY_KEEP_MEMORY="1")
    assert faults_of_ten_runs(TENFERRO_NUMPY_KEEP_MEMORY="0") > 1000 > kept

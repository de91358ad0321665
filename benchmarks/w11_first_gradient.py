"""W11: a fresh process imports its library, differentiates a small function once, and ends.

Wall and CPU seconds of whole processes, the contestants taking turns; bytecode is kept, the first
turn fills the caches. "Kept" also finds its program on disk (`keep_programs`). Gradients are
compared before a time counts. What importing tenferro adds to the bare interpreter is a figure of
its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from benchmarks.harness.compare import DisagreementError
from benchmarks.harness.statistics import summary
from benchmarks.harness.workload import Figure, Goal, Options, Workload, installed

HAND = """
import numpy as np
x = np.linspace(0.5, 2.0, 10); s, c, e = np.sin(1.3 * x), np.cos(1.3 * x), np.exp(-x)
print(repr(float(((1.3 * c * e - s * e + 1) / (s * e + x))[0])))
"""
OURS = """
import numpy as np, tenferro as tn
g = {}(lambda x: np.sum(np.log(np.sin(1.3 * x) * np.exp(-x) + x)))
print(repr(float(g(np.linspace(0.5, 2.0, 10))[0])))
"""
AUTOGRAD = """
import autograd.numpy as np
from autograd import grad
g = grad(lambda x: np.sum(np.log(np.sin(1.3 * x) * np.exp(-x) + x)))
print(repr(float(g(np.linspace(0.5, 2.0, 10))[0])))
"""
JAX = """
import jax
import jax.numpy as np
g = {}(lambda x: np.sum(np.log(np.sin(1.3 * x) * np.exp(-x) + x)))
print(repr(float(g(np.linspace(0.5, 2.0, 10))[0])))
"""
TORCH = """
import torch
x = torch.linspace(0.5, 2.0, 10, dtype=torch.float64, requires_grad=True)
torch.sum(torch.log(torch.sin(1.3 * x) * torch.exp(-x) + x)).backward()
print(repr(float(x.grad[0])))
"""


def jitted(program: str, library: str, options: str = "") -> str:
    """The program with `jit` around the gradient."""
    text = program.format(f"{library}.jit({library}.grad")
    return text.replace("+ x)))\n", f"+ x))){options})\n")


PROGRAMS = {
    "numpy": ("", HAND),
    "tenferro": ("", OURS.format("tn.grad")),
    "tenferro, kept": ("", OURS.format("tn.grad")),
    "tenferro, jit": ("", jitted(OURS, "tn")),
    "tenferro xla": ("xla", jitted(OURS, "tn", ", backend='xla'")),
    "autograd": ("autograd", AUTOGRAD),
    "jax": ("jax", JAX.format("jax.grad")),
    "jax, jit": ("jax", jitted(JAX, "jax")),
    "torch": ("torch", TORCH),
    "import tenferro": ("", "import tenferro"),
    "bare interpreter": ("", "pass"),
}
CASE, WALL, OVER = "fresh process", "wall", "wall over the bare interpreter"
OVER_HAND = "wall ÷ by hand"

W = Workload(
    "W11",
    "fresh process to first gradient",
    cases=[],
    quick=[],
    goals=[
        Goal(1.3, figure=OVER_HAND),
        Goal(0.03, figure=OVER, contestant="import tenferro"),
        Goal(0.1, figure="wall over jax, jit", contestant="tenferro xla"),
    ],
)


def run_once(program: str, bytecode: str, programs: str = "") -> tuple[float, float, str]:
    """Wall seconds, CPU seconds and output of one process.

    Its bytecode, and its programs if ``programs`` names a folder, are kept for the next one.
    """
    start = time.perf_counter()
    command = [sys.executable, "-c", program]
    kept = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": bytecode}
    kept["TENFERRO_PROGRAMS"] = programs
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **kept})
    assert process.stdout is not None
    text = process.stdout.read().decode().strip()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status:
        raise OSError(f"a contestant ended with status {status}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, text


def measured(repeats: int, peers: tuple[str, ...]) -> dict[str, dict[str, list[float]]]:
    """Seconds of whole processes, after the results have been compared."""
    wanted = {
        name: program
        for name, (peer, program) in PROGRAMS.items()
        if not peer or (peer in peers and installed(peer))
    }
    times: dict[str, dict[str, list[float]]] = {n: {WALL: [], "CPU": []} for n in wanted}
    with tempfile.TemporaryDirectory() as bytecode, tempfile.TemporaryDirectory() as folder:
        programs = {name: folder if name.endswith(", kept") else "" for name in wanted}
        printed = {n: run_once(text, bytecode, programs[n])[2] for n, text in wanted.items()}
        agree({name: float(text) for name, text in printed.items() if text})
        for _ in range(repeats):
            for name, program in wanted.items():
                wall, cpu, _ = run_once(program, bytecode, programs[name])
                times[name][WALL].append(wall)
                times[name]["CPU"].append(cpu)
    return times


def agree(values: dict[str, float]) -> None:
    """Raise unless all computed the same."""
    want = values["numpy"]
    for name, value in values.items():
        if not abs(value - want) <= 1e-10 * abs(want):
            raise DisagreementError(f"{name} computed {value!r}, need {want!r}")


def figures(options: Options) -> Iterator[Figure]:
    """Medians and minima; differences of minima."""
    times = measured(2 if options.quick else 15, options.peers)
    shortest = {name: min(spent[WALL]) for name, spent in times.items()}
    for name, spent in times.items():
        for clock in (WALL, "CPU"):
            found = summary(spent[clock])
            yield Figure(CASE, name, clock, found["minimum"], "s")
            yield Figure(CASE, name, f"{clock}, median", found["median"], "s")
        yield Figure(CASE, name, OVER_HAND, shortest[name] / shortest["numpy"])
        over = shortest[name] - shortest["bare interpreter"]
        yield Figure(CASE, name, OVER, over, "s")
    if {"tenferro xla", "jax, jit"} <= shortest.keys():
        over = shortest["tenferro xla"] - shortest["jax, jit"]
        yield Figure(CASE, "tenferro xla", "wall over jax, jit", over, "s")


W.figures = figures

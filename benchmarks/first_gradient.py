"""The first and the repeated gradient of a small function, beside hand NumPy, autograd and JAX.

W11: a fresh process imports the library, differentiates Σ log(sin(ax)·exp(−x) + x) on 10 elements
once and ends; wall and CPU seconds of the whole process, the contestants taking turns.
W13: the same gradient again and again in one process, without jit; microseconds per call.
W12: the same with the library's jit.
Peers that are not installed are left out and said so. Gradients are compared before a time counts.

    python benchmarks/first_gradient.py [--repeats 7] [--json FILE]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

A = 1.3
PROGRAMS = {
    "numpy by hand": """
import numpy as np
x = np.linspace(0.5, 2.0, 10); s, c, e = np.sin(1.3 * x), np.cos(1.3 * x), np.exp(-x)
print(repr(float(((1.3 * c * e - s * e + 1) / (s * e + x))[0])))
""",
    "tenferro": """
import numpy as np, tenferro as tn
g = tn.grad(lambda x: np.sum(np.log(np.sin(1.3 * x) * np.exp(-x) + x)))
print(repr(float(g(np.linspace(0.5, 2.0, 10))[0])))
""",
    "autograd": """
import autograd.numpy as np
from autograd import grad
g = grad(lambda x: np.sum(np.log(np.sin(1.3 * x) * np.exp(-x) + x)))
print(repr(float(g(np.linspace(0.5, 2.0, 10))[0])))
""",
    "jax": """
import jax
jax.config.update("jax_enable_x64", True)
import jax.numpy as np
g = jax.grad(lambda x: np.sum(np.log(np.sin(1.3 * x) * np.exp(-x) + x)))
print(repr(float(g(np.linspace(0.5, 2.0, 10))[0])))
""",
    "jax.jit": """
import jax
jax.config.update("jax_enable_x64", True)
import jax.numpy as np
g = jax.jit(jax.grad(lambda x: np.sum(np.log(np.sin(1.3 * x) * np.exp(-x) + x))))
print(repr(float(g(np.linspace(0.5, 2.0, 10))[0])))
""",
    "import tenferro": "import tenferro",
    "bare interpreter": "pass",
}
NEEDS = {"autograd": "autograd", "jax": "jax", "jax.jit": "jax"}


def installed(name: str) -> bool:
    """Whether the library that a contestant needs is there."""
    return name not in NEEDS or importlib.util.find_spec(NEEDS[name]) is not None


def fresh_processes(repeats: int) -> dict[str, dict[str, float]]:
    """Seconds of whole processes: minimum and median of wall and of CPU time."""
    names = [name for name in PROGRAMS if installed(name)]
    wall: dict[str, list[float]] = {name: [] for name in names}
    cpu: dict[str, list[float]] = {name: [] for name in names}
    printed: dict[str, str] = {}
    turns = [name for _ in range(repeats + 1) for name in names]
    with tempfile.TemporaryDirectory() as bytecode:
        for number, name in enumerate(turns):
            seconds, spent, printed[name] = run_once(PROGRAMS[name], bytecode)
            if number >= len(names):  # the first turn fills caches of files and bytecode
                wall[name].append(seconds)
                cpu[name].append(spent)
    agree({name: float(text) for name, text in printed.items() if text})
    return {
        name: {
            "wall_min": min(wall[name]),
            "wall_median": statistics.median(wall[name]),
            "cpu_min": min(cpu[name]),
        }
        for name in names
    }


def run_once(program: str, bytecode: str) -> tuple[float, float, str]:
    """Wall seconds, CPU seconds and output of one process, whose bytecode is kept in a folder."""
    start = time.perf_counter()
    command = [sys.executable, "-c", program]
    kept = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": bytecode}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **kept})
    assert process.stdout is not None
    text = process.stdout.read().decode().strip()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"a contestant failed with status {status}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, text


def agree(values: dict[str, float]) -> None:
    """Stop unless all contestants computed the same."""
    first = next(iter(values.values()))
    for name, value in values.items():
        if abs(value - first) > 1e-10 * abs(first):
            raise SystemExit(f"{name} computed {value!r}, need {first!r}")


def calls(repeats: int) -> dict[str, float]:
    """Microseconds of CPU time per call: the minimum over repeats, the contestants taking turns."""
    x, contestants = gradients()
    for gradient in contestants.values():
        gradient(x)
        gradient(x)
    agree({name: float(g(x)[0]) for name, g in contestants.items()})
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(repeats):
        for name, gradient in contestants.items():
            count = 20 if name == "jax" else 1000
            start = time.process_time()
            for _ in range(count):
                gradient(x)
            best[name] = min(best[name], (time.process_time() - start) / count * 1e6)
    return best


def gradients() -> tuple[Any, dict[str, Callable[[Any], Any]]]:
    """The point, and each contestant's gradient of the same function."""
    import numpy as np

    import tenferro as tn

    def by_hand(x: Any) -> Any:
        s, c, e = np.sin(A * x), np.cos(A * x), np.exp(-x)
        return (A * c * e - s * e + 1) / (s * e + x)

    def function(x: Any) -> Any:
        return np.sum(np.log(np.sin(A * x) * np.exp(-x) + x))

    contestants: dict[str, Callable[[Any], Any]] = {
        "numpy by hand": by_hand,
        "tenferro": tn.grad(function),
        "tenferro.jit": tn.jit(tn.grad(function)),
    }
    if installed("autograd"):
        contestants |= autograd_contestant()
    if installed("jax"):
        contestants |= jax_contestants()
    return np.linspace(0.5, 2.0, 10), contestants


def autograd_contestant() -> dict[str, Callable[[Any], Any]]:
    """autograd's gradient."""
    import autograd
    import autograd.numpy as anp

    return {"autograd": autograd.grad(lambda x: anp.sum(anp.log(anp.sin(A * x) * anp.exp(-x) + x)))}


def jax_contestants() -> dict[str, Callable[[Any], Any]]:
    """JAX's gradient, eager and jitted."""
    import jax

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]
    import jax.numpy as jnp

    gradient = jax.grad(lambda x: jnp.sum(jnp.log(jnp.sin(A * x) * jnp.exp(-x) + x)))
    return {"jax": gradient, "jax.jit": jax.jit(gradient)}


def main() -> None:
    """Run both and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", type=Path, default=None)
    options = parser.parse_args()
    fresh = fresh_processes(options.repeats)
    repeated = calls(options.repeats)
    print("W11  fresh process to first gradient (seconds)")
    print(f"  {'':18}{'wall min':>10}{'median':>10}{'CPU min':>10}{'÷ by hand':>11}")
    hand = fresh["numpy by hand"]["wall_min"]
    for name, row in fresh.items():
        ratio = row["wall_min"] / hand
        print(
            f"  {name:18}{row['wall_min']:10.3f}{row['wall_median']:10.3f}"
            f"{row['cpu_min']:10.3f}{ratio:11.2f}"
        )
    bare, imported = fresh["bare interpreter"], fresh["import tenferro"]
    over = (imported["wall_min"] - bare["wall_min"]) * 1e3
    print(f"  import tenferro over the bare interpreter: {over:.0f} ms")
    print("\nW13, W12  repeated gradient (µs of CPU time per call)")
    for name, micro in repeated.items():
        print(f"  {name:18}{micro:10.1f}{micro / repeated['numpy by hand']:11.2f} ÷ by hand")
    missing = [name for name in PROGRAMS if not installed(name)]
    if missing:
        print(f"\nleft out, not installed: {', '.join(missing)}")
    if options.json:
        options.json.write_text(json.dumps({"W11": fresh, "W13": repeated}, indent=1))


if __name__ == "__main__":
    main()

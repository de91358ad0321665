"""Checks of the CuPy backend on a device, in stages that each write down what they found.

    python tools/gpu_check.py                    all stages, about 22 minutes
    python tools/gpu_check.py --stage 2          one of them
    python tools/gpu_check.py --resume           those that a run before this one did not finish
    python tools/gpu_check.py --wheels DIR       after an installation of wheels, without network

`gpu_wheels.sh` collects the wheels. The results are one JSON file, written anew after each stage,
so a run that is cut short still tells. A stage that fails is noted with its error, and the next one
runs. CuPy and JAX are those that are installed.
Read next: `plugins/cupy_backend/tests/kernel_cases.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results-gpu.json"
TESTS = ROOT / "plugins" / "cupy_backend" / "tests"
Found = dict[str, Any]


class Setting:
    """A backend to check: its CuPy, its name, and how the kit is run on it."""

    backend = "cupy"
    kit: tuple[str, ...] = (sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider")
    large = 1 << 27  # elements of the arrays whose speed is measured
    repeats = 20

    @property
    def cupy(self) -> Any:
        """The namespace; imported when a stage asks for it."""
        import cupy

        return cupy

    def kit_command(self, level: int) -> list[str]:
        """Return the command that runs the kit up to a level, family by family."""
        name = ["tenferro-conformance", "run", "--backend", self.backend, "--require", self.backend]
        return [*name, "--level", str(level)]


# ---- stages --------------------------------------------------------------------------------------


def probe(setting: Setting) -> Found:
    """Name the device and the libraries, and compute one gradient."""
    import numpy as np

    import tenferro as tn

    cupy = setting.cupy
    runtime = cupy.cuda.runtime
    names = [runtime.getDeviceProperties(i)["name"] for i in range(runtime.getDeviceCount())]
    x = np.linspace(0.1, 1, 1000)
    gradient = tn.jit(tn.grad(lambda x: np.sum(np.sin(x) * np.exp(x))), backend=setting.backend)
    error = abs(host(gradient(x)) - (np.cos(x) + np.sin(x)) * np.exp(x)).max()
    assert error < 1e-12, f"the gradient is wrong by {error}"
    return {
        "devices": [n.decode() if isinstance(n, bytes) else n for n in names],
        "cupy": cupy.__version__,
        "cuda": runtime.runtimeGetVersion(),
        "tenferro": tn.__version__,
        "error of a gradient": float(error),
    }


def kernels(setting: Setting) -> Found:
    """Compare generated kernels with NumPy: each operation and reduction, on each dtype."""
    import kernel_cases as cases
    import kernel_on_numpy
    import numpy as np

    from tenferro_cupy.kernels.modules import Modules
    from tenferro_cupy.kernels.region import Region

    modules = Modules(setting.cupy)
    wrong, count = [], 0
    for dtype in cases.DTYPES:
        for op, operands, result in cases.operations(dtype):
            kernel = cases.kernel_of(op, operands, result)
            arrays = [cases.numbers(a.dtype.name, i) for i, a in enumerate(operands)]
            arrays = cases.defined(op, result, arrays)
            shape = (cases.COUNT,)
            (got,) = Region(modules, kernel, shape, None, ())(*map(setting.cupy.asarray, arrays))
            want = kernel_on_numpy.computed(kernel, shape, None, arrays)[0]
            count += 1
            if not cases.agree(setting.cupy.asnumpy(got), want, dtype, type(op)):
                wrong.append(f"{op} on {dtype}")
    for primitive, dtype in [(p, d) for d in cases.DTYPES for p in cases.folds(d)]:
        kernel, shape = cases.fold_of(primitive, dtype), (3, 4500)
        x = np.ones(shape, dtype)
        (got,) = Region(modules, kernel, shape, (1,), ())(setting.cupy.asarray(x))
        want = kernel_on_numpy.computed(kernel, shape, (1,), [x])[0]
        count += 1
        if not cases.agree(setting.cupy.asnumpy(got), want, dtype):
            wrong.append(f"{primitive.key} on {dtype}")
    assert not wrong, f"{len(wrong)} of {count} are wrong: {', '.join(wrong[:20])}"
    return {"kernels": count}


def kit(level: int) -> Callable[[Setting], Found]:
    """Return the stage that runs the conformance kit up to a level."""

    def run(setting: Setting) -> Found:
        done = subprocess.run(setting.kit_command(level), cwd=ROOT, capture_output=True, text=True)
        tail = done.stdout[-3000:]
        assert done.returncode == 0, tail + done.stderr[-1000:]
        return {"summary": tail.strip().splitlines()[-1]}

    return run


def speed(setting: Setting) -> Found:
    """Measure a fused chain in percent of the bandwidth of a copy, and launches per second."""
    import numpy as np

    import tenferro as tn

    cupy, name = setting.cupy, setting.backend
    x = cupy.asarray(np.ones(setting.large, "float32"))
    copied = seconds(setting, x.copy)
    chain = tn.jit(lambda x: np.tanh(x * 2 + 1) * np.exp(-x) + x, backend=name)
    fused = seconds(setting, lambda: chain(x))
    small = cupy.asarray(np.ones(16, "float32"))
    single = tn.jit(lambda x: x * 2 + 1, backend=name)
    return {
        "copy, GB/s": 8 * setting.large / copied / 1e9,
        "fused chain, % of copy": 100 * copied / fused,
        "one small call, µs": 1e6 * seconds(setting, lambda: single(small)),
    }


STAGES: list[tuple[str, Callable[[Setting], Found]]] = [
    ("probe", probe),
    ("kernels", kernels),
    ("kit, level 2", kit(2)),
    ("kit, level 3", kit(3)),
    ("speed", speed),
]


def host(value: Any) -> Any:
    """Return the NumPy array of a result."""
    operand = getattr(value, "operand", value)
    return operand.get() if hasattr(operand, "get") else getattr(operand, "_a", operand)


def seconds(setting: Setting, call: Callable[[], Any]) -> float:
    """Return the shortest time of a call, the device's work included."""
    stream, best = setting.cupy.cuda.get_current_stream(), float("inf")
    for _ in range(setting.repeats):
        start = time.perf_counter()
        call()
        stream.synchronize()
        best = min(best, time.perf_counter() - start)
    return best


# ---- the run -------------------------------------------------------------------------------------


def run(setting: Setting, results: Path, only: int | None, *, resume: bool) -> Found:
    """Run stages and write the file after each; return all that it holds."""
    found: Found = json.loads(results.read_text()) if resume and results.exists() else {}
    for number, (name, stage) in enumerate(STAGES, 1):
        if only not in (None, number) or found.get(name, {}).get("status") == "passed":
            continue
        found[name] = {"status": "cut short"}
        write(results, found)
        start = time.perf_counter()
        try:
            found[name] = {"status": "passed", **stage(setting)}
        except Exception as error:
            found[name] = {"status": "failed", "error": _told(error)}
        found[name]["seconds"] = round(time.perf_counter() - start, 1)
        write(results, found)
        print(f"{number} {name}: {found[name]}", flush=True)
    return found


def _told(error: Exception) -> str:
    return "".join(traceback.format_exception(error))[-4000:]


def write(path: Path, found: Found) -> None:
    """Replace the file by a complete one."""
    beginning = path.with_suffix(".new")
    beginning.write_text(json.dumps(found, indent=1, ensure_ascii=False), "utf-8")
    os.replace(beginning, path)


def install(wheels: Path) -> None:
    """Install the collected wheels; the index of packages is not asked."""
    files = [str(file) for file in sorted(wheels.glob("*.whl"))]
    pip = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--force-reinstall"]
    subprocess.run([*pip, *files], check=True)


def main(arguments: Sequence[str] | None = None, setting: Setting | None = None) -> int:
    """Run what the command line asks for; 0 if every stage passed that the file has."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stage", type=int, choices=range(1, len(STAGES) + 1))
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--wheels", type=Path)
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    if given.wheels is not None:
        install(given.wheels)
    if str(TESTS) not in sys.path:
        sys.path.insert(0, str(TESTS))
    # a single stage adds to what others found
    resume = given.resume or given.stage is not None
    found = run(setting or Setting(), given.results, given.stage, resume=resume)
    return 0 if all(stage["status"] == "passed" for stage in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())

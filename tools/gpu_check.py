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
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
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
    dtypes: tuple[str, ...] = ()  # whose kernels are checked; empty: all

    @property
    def cupy(self) -> Any:
        """The namespace; imported when a stage asks for it."""
        import cupy

        return cupy

    def kit_command(self, level: int) -> list[str]:
        """Return the command that runs the kit up to a level, family by family."""
        name = ["tenferro-conformance", "run", "--backend", self.backend, "--require", self.backend]
        return [*name, "--level", str(level)]

    def xla_command(self) -> list[str]:
        """Return the command that runs typical cases of the kit over XLA on the same device."""
        if not _jax_has_a_gpu():
            raise LeftOutError("JAX is not installed here, or finds no GPU")
        name = ["tenferro-conformance", "run", "--backend", "xla", "--require", "xla"]
        return [*name, "--laws", "backend", "--tier", "quick"]

    def sanitizer_command(self, results: Path) -> list[str]:
        """Return the command that runs the stage of kernels under compute-sanitizer."""
        if shutil.which("compute-sanitizer") is None:
            raise LeftOutError("compute-sanitizer is not installed here")
        tool = ["compute-sanitizer", "--error-exitcode", "1", sys.executable, str(__file__)]
        return [*tool, "--stage", "2", "--dtypes", "float32", "--results", str(results)]


class LeftOutError(Exception):
    """A stage cannot run here, for a reason that is no fault of the backend."""


def _jax_has_a_gpu() -> bool:
    try:
        import jax

        return bool(jax.devices("gpu"))
    except (ImportError, RuntimeError):
        return False


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
    dtypes = setting.dtypes or cases.DTYPES
    for dtype in dtypes:
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
    for primitive, dtype in [(p, d) for d in dtypes for p in cases.folds(d)]:
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
    return lambda setting: {"summary": last_line(setting.kit_command(level))}


def xla(setting: Setting) -> Found:
    """Run typical cases of the kit over the XLA backend."""
    return {"summary": last_line(setting.xla_command())}


def sanitized(setting: Setting) -> Found:
    """Run generated kernels under compute-sanitizer, which finds accesses out of bounds."""
    with tempfile.TemporaryDirectory() as folder:
        return {"summary": last_line(setting.sanitizer_command(Path(folder) / "found.json"))}


def last_line(command: Sequence[str]) -> str:
    """Run a command, and return the last line that it prints; raise if it fails."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    tail = done.stdout[-3000:]
    assert done.returncode == 0, tail + done.stderr[-1000:]
    return (tail.strip() or "no output").splitlines()[-1]


def speed(setting: Setting) -> Found:
    """Measure a fused chain in percent of the bandwidth of a copy, and launches per second."""
    import numpy as np

    import tenferro as tn

    cupy, name = setting.cupy, setting.backend
    x = cupy.asarray(np.ones(setting.large, "float32"))
    copied = seconds(setting, x.copy)
    chain = tn.jit(lambda x: np.tanh(x * 2 + 1) * np.exp(-x) + x, backend=name)
    fused = seconds(setting, lambda: chain(x))
    by_hand = seconds(setting, lambda: cupy.tanh(x * 2 + 1) * cupy.exp(-x) + x)
    small = cupy.asarray(np.ones(16, "float32"))
    single = tn.jit(lambda x: x * 2 + 1, backend=name)
    return {
        "copy, GB/s": 8 * setting.large / copied / 1e9,
        "fused chain, % of copy": 100 * copied / fused,
        "by CuPy by hand, times fused": by_hand / fused,
        **{f"{peer}, times fused": t / fused for peer, t in peers(setting)},
        "one small call, µs": 1e6 * seconds(setting, lambda: single(small)),
    }


def peers(setting: Setting) -> Iterator[tuple[str, float]]:
    """Yield the seconds that JAX and PyTorch take for the same chain, where they find a GPU."""
    if _jax_has_a_gpu():
        import jax

        x = jax.device_put(jax.numpy.ones(setting.large, "float32"), jax.devices("gpu")[0])
        chain = jax.jit(lambda x: jax.numpy.tanh(x * 2 + 1) * jax.numpy.exp(-x) + x)
        yield "by JAX", seconds(setting, lambda: chain(x).block_until_ready())
    try:
        import torch
    except ImportError:
        return
    if torch.cuda.is_available():
        y = torch.ones(setting.large, device="cuda")

        def by_torch() -> None:
            _ = torch.tanh(y * 2 + 1) * torch.exp(-y) + y
            torch.cuda.synchronize()

        yield "by PyTorch, not compiled", seconds(setting, by_torch)


STAGES: list[tuple[str, Callable[[Setting], Found]]] = [
    ("probe", probe),
    ("kernels", kernels),
    ("kit, level 2", kit(2)),
    ("kit, level 3", kit(3)),
    ("speed", speed),
    ("xla", xla),
    ("sanitizer", sanitized),
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
        except LeftOutError as error:
            found[name] = {"status": "left out", "why": str(error)}
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
    parser.add_argument("--dtypes", nargs="*", default=(), help="check kernels of these alone")
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
    setting = setting or Setting()
    setting.dtypes = tuple(given.dtypes)
    found = run(setting, given.results, given.stage, resume=resume)
    return 0 if all(s["status"] in ("passed", "left out") for s in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())

"""Checks of the CuPy backend on a device, in stages that each write down what they found.

    python tools/gpu_check.py                    all stages, 22 minutes at most
    python tools/gpu_check.py --stage kernels    one of them, by name or number
    python tools/gpu_check.py --resume           those that a run before this one did not finish
    python tools/gpu_check.py --minutes 9        less time in all
    python tools/gpu_check.py --wheels DIR       after an installation of wheels, without network

`gpu_wheels.sh` collects the wheels. The results are one JSON file, written anew after each finding,
so a run that is cut short still tells. A stage runs in a process of its own, because an error of
CUDA leaves a process unusable; a process that takes longer than its stage may is ended. A stage
that fails is noted with its error, and the next one runs. CuPy, JAX and PyTorch are those that are
installed. Read next: `gpu_stages/__init__.py`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from gpu_stages import Stage
from gpu_stages.notes import Notes
from gpu_stages.processes import ended_at
from gpu_stages.setting import LeftOutError, Setting

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results-gpu.json"
MINUTES = 22.0
#: A stage with less time than this is left for a run with `--resume`.
LEAST_SECONDS = 10.0
GOOD = ("passed", "left out")


def run(given: argparse.Namespace, stages: Sequence[Stage], setting: Setting) -> int:
    """Run stages one after the other; 0 if every stage passed that the file has."""
    notes = Notes(given.results, keep=given.resume or given.stage is not None)
    end = time.monotonic() + 60 * given.minutes
    for stage in stages:
        if is_chosen(stage, given.stage, stages) and notes.status(stage.name) != "passed":
            seconds = min(60 * stage.minutes, end - time.monotonic())
            if not given.here and seconds < min(LEAST_SECONDS, 60 * stage.minutes):
                notes.begin(stage.name, "not started: the run had no time left")
                continue
            run_stage(given, stage, setting, notes, seconds)
    return 0 if all(notes.status(name) in GOOD for name in notes.names()) else 1


def is_chosen(stage: Stage, wanted: str | None, stages: Sequence[Stage]) -> bool:
    """Return True if the command line asks for a stage: by name, by number, or for all."""
    return wanted in (None, stage.name, str(stages.index(stage) + 1))


def run_stage(
    given: argparse.Namespace, stage: Stage, setting: Setting, notes: Notes, seconds: float
) -> None:
    """Run a stage, here or in a process of its own, and note its status and seconds."""
    notes.begin(stage.name, "cut short")  # what the file says if nothing is written after this
    start = time.monotonic()
    if given.here:
        status, more = outcome(stage, setting, notes, seconds)
    else:
        status, more = outcome_of_process(given, stage, notes, seconds + setting.grace)
    notes.end(stage.name, status, {**more, "seconds": round(time.monotonic() - start, 1)})
    print(f"{stage.name}: {status}, {notes.of(stage.name)['seconds']} s", flush=True)


def outcome_of_process(
    given: argparse.Namespace, stage: Stage, notes: Notes, seconds: float
) -> tuple[str, dict[str, object]]:
    """Run a stage in a process of its own; return its status, and how the process ended."""
    command = [sys.executable, str(Path(__file__)), "--here", "--stage", stage.name]
    command += ["--results", str(given.results), "--minutes", str(seconds / 60)]
    command += ["--setting", given.setting, "--dtypes", *given.dtypes]
    code = ended_at(command, seconds)
    notes.read()  # what the process has found
    status = notes.status(stage.name)
    if code is None:
        return "over its limit", {"limit, s": round(seconds, 1)}
    if status == "cut short":
        return "failed", {"error": f"the process ended with {code}"}
    return status, {}


def outcome(
    stage: Stage, setting: Setting, notes: Notes, seconds: float
) -> tuple[str, dict[str, object]]:
    """Run a stage in this process; return its status, and an error if there is one."""
    setting.end = time.monotonic() + seconds
    try:
        stage.check(setting, notes.stage(stage.name))
    except LeftOutError as error:
        return "left out", {"why": str(error)}
    except subprocess.TimeoutExpired:
        return "over its limit", {"limit, s": round(seconds, 1)}
    except Exception as error:
        return "failed", {"error": "".join(traceback.format_exception(error))[-4000:]}
    return "passed", {}


def install(wheels: Path) -> None:
    """Install the collected wheels; the index of packages is not asked."""
    files = [str(file) for file in sorted(wheels.glob("*.whl"))]
    pip = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--force-reinstall"]
    subprocess.run([*pip, *files], check=True)


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stage", help="its name or number")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="of all stages together")
    parser.add_argument("--dtypes", nargs="*", default=(), help="check kernels of these alone")
    parser.add_argument("--resume", action="store_true", help="keep what an earlier run found")
    parser.add_argument("--wheels", type=Path, help="install the wheels of this folder first")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--here", action="store_true", help="run stages in this process")
    parser.add_argument(
        "--setting", default="gpu_stages.setting:Setting", metavar="MODULE:CLASS",
        help="what is checked, if not the CuPy that is installed",
    )  # fmt: skip
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; 0 if every stage passed that the file has."""
    options = arguments(given)
    if options.wheels is not None:
        install(options.wheels)
    sys.path[:0] = [str(ROOT), str(ROOT / "plugins" / "cupy_backend" / "tests")]
    module, _, name = options.setting.partition(":")
    setting: Setting = getattr(import_module(module), name)()
    setting.dtypes = tuple(options.dtypes)
    names = [stage.name for stage in setting.stages]
    numbers = [str(number) for number in range(1, len(names) + 1)]
    if options.stage not in (None, *names, *numbers):
        raise SystemExit(f"there is no stage {options.stage!r}; there are {', '.join(names)}")
    return run(options, setting.stages, setting)


if __name__ == "__main__":
    sys.exit(main())

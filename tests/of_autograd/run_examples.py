"""Run autograd's 31 examples: `python tests/of_autograd/run_examples.py SDIST [NAME ...]`.

Each example runs in a process of its own, in a copy whose imports name NumPy and tenferro. Counts
of iterations are smaller, figures are not shown, and the digits of MNIST are random: nothing else
of an example is changed. The last line says how many run. Read next: ``shim.py``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
NO_EXAMPLE = {"__init__", "data", "data_mnist"}
SECONDS = 300

INSIDE = "looks inside autograd's tracer"
UNLIKE = {
    "print_trace": INSIDE,
    "dot_graph": INSIDE,
    "rkhs": "differentiates by an object with a vector space of its own",
}

#: Modules of autograd, and where their names are here. The names of the others come from the shim.
IMPORTS = {
    "autograd.numpy.random": "numpy.random",
    "autograd.numpy": "numpy",
    "autograd.scipy.special": "tenferro.special",
    "autograd.scipy.stats": "tenferro.stats",
}
#: Examples that give Arrays to a function of NumPy that knows no protocol: tenferro's has its name.
OWN_IMPORTS = {"define_gradient": {"autograd.numpy": "tenferro"}}
#: Patterns of counts, and what stands in place of them.
FEWER = {
    r"num_iters=\d+": "num_iters=2",
    r"num_iters = \d+": "num_iters = 2",
    r"num_epochs = \d+": "num_epochs = 1",
    r"for i in range\(1?000?\)": "for i in range(3)",
    r"(for t in range)\(20\)": r"\1(2)",
    r"max_lines=60": "max_lines=5",
    r"simulation_timesteps = \d+": "simulation_timesteps = 10",
}

START = """
import runpy, sys
from pathlib import Path
sys.path[:0] = [{folder!r}, {examples!r}, {shim!r}, {solvers!r}]
import matplotlib
matplotlib.use("Agg")
import shim
shim.install(Path({sdist!r}))
import numpy as np
import scipy.optimize
whole = scipy.optimize.minimize
def minimize(*args, options=None, **keywords):
    return whole(*args, options=dict(options or {{}}, maxiter=2), **keywords)
scipy.optimize.minimize = minimize
import data_mnist
rng = np.random.RandomState(0)
def mnist():
    images = lambda n: rng.randint(0, 256, (n, 28, 28)).astype(np.uint8)
    return images(64), np.arange(64) % 10, images(32), np.arange(32) % 10
data_mnist.mnist = mnist
runpy.run_path({path!r}, run_name="__main__")
"""


def copied(sdist: Path, folder: Path) -> Path:
    """Return a copy of the examples, with other imports and smaller counts."""
    examples = folder / "examples"
    shutil.copytree(sdist / "examples", examples)
    for path in examples.rglob("*.py"):
        path.write_text(changed(path.read_text(), OWN_IMPORTS.get(path.stem, {})))
    return examples


def changed(source: str, own: dict[str, str]) -> str:
    """Return an example's source with the imports of tenferro, and with smaller counts."""
    for module, here in (IMPORTS | own).items():
        source = re.sub(
            rf"^((?:from|import) ){re.escape(module)}\b", rf"\1{here}", source, flags=re.M
        )
    for pattern, less in FEWER.items():
        source = re.sub(pattern, less, source)
    return source


def outcome(path: Path, examples: Path, sdist: Path) -> str:
    """Run one example; return the last line of its error, or nothing."""
    start = START.format(
        folder=str(path.parent), examples=str(examples), shim=str(HERE), sdist=str(sdist),
        solvers=str(HERE.parents[1] / "examples"), path=str(path),
    )  # fmt: skip
    command = [sys.executable, "-W", "ignore::UserWarning", "-c", start]
    settings = os.environ | {"MPLCONFIGDIR": str(path.parent)}
    try:
        found = subprocess.run(
            command, cwd=path.parent, env=settings, capture_output=True, text=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"runs for more than {SECONDS} s"
    if not found.returncode:
        return ""
    lines = found.stderr.strip().splitlines()
    if os.environ.get("SHOW_ERRORS"):
        print(found.stderr[-6000:])
    return next((line for line in reversed(lines) if "Error" in line), lines[-1] if lines else "?")


def main(arguments: list[str]) -> int:
    """Print what does not run, and how many do; 1 if a reason is missing, or one is not needed."""
    sdist, *names = arguments
    with tempfile.TemporaryDirectory() as folder:
        examples = copied(Path(sdist).resolve(), Path(folder))
        paths = [p for p in sorted(examples.rglob("*.py")) if p.stem not in NO_EXAMPLE]
        chosen = [p for p in paths if not names or p.stem in names]
        errors = {path.stem: outcome(path, examples, Path(sdist).resolve()) for path in chosen}
    failed = {name: error for name, error in errors.items() if error}
    for name, error in failed.items():
        print(f"{name} fails ({UNLIKE.get(name, 'no reason is known')}): {error}")
    mended = sorted((errors.keys() & UNLIKE) - failed.keys())
    for name in mended:
        print(f"runs, and a reason stands here why it would not: {name}")
    print(f"{len(errors) - len(failed)} of {len(errors)} examples of autograd run")
    return int(bool(failed.keys() - UNLIKE or mended))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

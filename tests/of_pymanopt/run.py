"""Run pymanopt's own test suite on tenferro: `python tests/of_pymanopt/run.py [SDIST AUTOGRAD]`.

SDIST and AUTOGRAD are folders of the unpacked source distributions; without them pip downloads the
versions that are named below into a temporary folder. The tests are unchanged. What they call
``autograd`` is NumPy with tenferro's gradients, through ``backend.py`` and the names of
``../of_autograd/shim.py``; two costs that they write in TensorFlow are taken as costs in NumPy. The
tests of pymanopt's other backends are left out: they would say nothing of tenferro. pymanopt 2.2.1
itself needs NumPy < 2.4. Read next: ``backend.py``.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from suite_of_others import Outcomes, download, run_suite

VERSIONS = {"pymanopt": "2.2.1", "autograd": "1.9.1"}
OTHERS = ("jax", "pytorch", "tensorflow")


class NoArray:
    """A class without instances, for matplotlib asks what it draws whether it is one."""


def stand_in(name: str, **own: Any) -> mock.MagicMock:
    """Return a module that has every name, and arrays of which there are none."""
    never = {"Tensor": NoArray, "Array": NoArray, "is_tensor": lambda x: False}
    return mock.MagicMock(name=name, **never, **own)


def install(autograd: Path) -> None:
    """Put tenferro where the suite looks for autograd, and stand-ins where it looks for others."""
    sys.path[:0] = [str(HERE), str(HERE.parent / "of_autograd")]
    import shim

    shim.install(autograd)
    for name in ("torch", "jax", "jax.numpy"):
        sys.modules[name] = stand_in(name)
    seed = SimpleNamespace(set_seed=lambda seed: None)
    sys.modules["tensorflow"] = stand_in("tensorflow", exp=np.exp, reduce_sum=np.sum, random=seed)
    import pymanopt.function
    from backend import tenferro

    pymanopt.function.autograd = pymanopt.function.tensorflow = tenferro


def run(sdist: Path, autograd: Path) -> Outcomes:
    """Run the suite in this process."""
    sys.path.insert(0, str(sdist))  # for its package of examples
    install(autograd)
    ignored = [f"--ignore={sdist}/tests/backends/test_{name}.py" for name in OTHERS]
    chosen = ["-k", " and ".join(f"not {name}" for name in OTHERS)]
    return run_suite(sdist / "tests", sdist, ["--tb=short", *ignored, *chosen])


def main(arguments: list[str]) -> int:
    """Print how many tests pass; 1 if one does not."""
    with tempfile.TemporaryDirectory() as folder:
        given = [Path(path).resolve() for path in arguments]
        sdist, autograd = given or [download(*item, Path(folder)) for item in VERSIONS.items()]
        outcomes = run(sdist, autograd)
    print(f"{outcomes.passed} of {outcomes.total} tests of pymanopt {VERSIONS['pymanopt']} pass")
    return int(bool(outcomes.failed) or not outcomes.total)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

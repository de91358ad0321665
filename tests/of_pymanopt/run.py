"""Run pymanopt's own test suite on tenferro: `python tests/of_pymanopt/run.py [SDIST AUTOGRAD]`.

SDIST and AUTOGRAD are folders of the unpacked source distributions; without them pip downloads the
versions that are named below into a temporary folder. The tests are unchanged. What they call
``autograd`` is NumPy with tenferro's gradients, through ``backend.py`` and the names of
``../of_autograd/shim.py``; two costs that they write in TensorFlow are taken as costs in NumPy. The
tests of pymanopt's other backends are left out: they would say nothing of tenferro. pymanopt 2.2.1
itself needs NumPy < 2.4. Read next: ``backend.py``.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest

HERE = Path(__file__).resolve().parent
VERSIONS = {"pymanopt": "2.2.1", "autograd": "1.9.1"}
OTHERS = ("jax", "pytorch", "tensorflow")


class Outcomes:
    """A plugin of pytest that counts, and keeps the names of what failed."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)
        elif report.when == "call" and report.passed:
            self.passed += 1


def download(name: str, folder: Path) -> Path:
    """Return an unpacked source distribution, which pip brings."""
    version = VERSIONS[name]
    command = [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"),
        *("--dest", str(folder), f"{name}=={version}"),
    ]
    subprocess.run(command, check=True)
    with tarfile.open(folder / f"{name}-{version}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder / f"{name}-{version}"


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
    outcomes = Outcomes()
    options = [
        "-q",
        "--tb=short",
        "-c",
        "/dev/null",
        "--rootdir",
        str(sdist),
        "-p",
        "no:cacheprovider",
    ]
    ignored = [f"--ignore={sdist}/tests/backends/test_{name}.py" for name in OTHERS]
    chosen = ["-k", " and ".join(f"not {name}" for name in OTHERS)]
    pytest.main([*options, *ignored, *chosen, str(sdist / "tests")], plugins=[outcomes])
    return outcomes


def main(arguments: list[str]) -> int:
    """Print how many tests pass; 1 if one does not."""
    with tempfile.TemporaryDirectory() as folder:
        given = [Path(path).resolve() for path in arguments]
        sdist, autograd = given or [download(name, Path(folder)) for name in VERSIONS]
        outcomes = run(sdist, autograd)
    total = outcomes.passed + len(outcomes.failed)
    print(f"{outcomes.passed} of {total} tests of pymanopt {VERSIONS['pymanopt']} pass")
    return int(bool(outcomes.failed) or not total)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

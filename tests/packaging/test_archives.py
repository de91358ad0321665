"""The archives that would be uploaded: what is inside, and that they work outside the repository.

`tox -e pkg` builds them and says in `TENFERRO_WHEELS` where they are.
"""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DIST = Path(os.environ["TENFERRO_WHEELS"])
PACKAGES = {
    "tenferro": "core",
    "tenferro_numpy": "plugins/numpy_backend",
    "tenferro_cupy": "plugins/cupy_backend",
    "tenferro_xla": "plugins/xla_backend",
    "tenferro_conformance": "conformance",
}
ENTRY_POINTS = {
    "tenferro": ("[console_scripts]", "[tenferro.primitives]"),
    "tenferro_numpy": ("[tenferro.backends]", "[tenferro.conformance]"),
    "tenferro_cupy": ("[tenferro.backends]", "[tenferro.conformance]"),
    "tenferro_xla": ("[tenferro.backends]", "[tenferro.conformance]"),
    "tenferro_conformance": ("[console_scripts]", "[pytest11]"),
}


def sources(package):
    """Every file of the package in the checkout that is not a product of running it."""
    base = ROOT / PACKAGES[package] / "src"
    files = (
        path
        for path in (base / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
    return {path.relative_to(base).as_posix() for path in files}


def wheel(package):
    (path,) = DIST.glob(f"{package}-[0-9]*.whl")
    return zipfile.ZipFile(path)


def sdist(package):
    (path,) = DIST.glob(f"{package}-[0-9]*.tar.gz")
    return tarfile.open(path)


@pytest.mark.parametrize("package", PACKAGES)
def test_the_wheel_holds_the_package_and_nothing_else(package):
    with wheel(package) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == sources(package)
    assert f"{package}/py.typed" in names


@pytest.mark.parametrize("package", PACKAGES)
def test_the_wheel_holds_licences_and_entry_points(package):
    with wheel(package) as archive:
        names = archive.namelist()
        (declared,) = (name for name in names if name.endswith("/entry_points.txt"))
        text = archive.read(declared).decode()
    assert {name.rpartition("/")[2] for name in names} >= {"LICENSE-MIT", "LICENSE-APACHE"}
    assert all(group in text for group in ENTRY_POINTS[package])


def test_the_kit_carries_its_suite_and_its_golden_values():
    with wheel("tenferro_conformance") as archive:
        names = archive.namelist()
    assert any(name.startswith("tenferro_conformance/suite/test_") for name in names)
    assert any(
        name.startswith("tenferro_conformance/golden/") and name.endswith(".json") for name in names
    )


@pytest.mark.parametrize("package", PACKAGES)
def test_the_sdist_holds_tests_and_changelog(package):
    with sdist(package) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {"CHANGELOG.md", "README.md", "pyproject.toml", f"src/{package}/py.typed"} <= inside
    assert any(name.startswith("tests/") for name in inside)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A fresh environment with the built core, NumPy backend and kit, and nothing else of ours."""
    home = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "virtualenv", "-q", home / "env"], check=True)
    binaries = home / "env" / ("Scripts" if os.name == "nt" else "bin")
    wheels = [
        str(next(DIST.glob(f"{name}-[0-9]*.whl")))
        for name in ("tenferro", "tenferro_numpy", "tenferro_conformance")
    ]
    subprocess.run([binaries / "python", "-m", "pip", "install", "-q", *wheels], check=True)
    return binaries


def run_in(folder, *command):
    return subprocess.run(
        list(map(str, command)), cwd=folder, capture_output=True, text=True, check=False
    )


def test_the_wheels_pass_the_kit_in_an_empty_folder(installed, tmp_path):
    """All cases are read from the wheel; those of level 0 run, by the laws of backends."""
    done = run_in(
        tmp_path,
        installed / "tenferro-conformance",
        "run",
        "--backend",
        "numpy",
        "--level",
        "0",
        "--laws",
        "backend",
        "--report",
        "numpy.json",
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert (tmp_path / "numpy.json").is_file()


@pytest.mark.parametrize(
    "name, arguments",
    [("numpy", ["primitives", "my_own", "voigt", "bell"]), ("quick", ["backend", "my_own"])],
)
def test_a_new_plugin_passes_tox_unchanged(installed, tmp_path, name, arguments):
    """tox builds its wheel, and installs it beside ours as a user of the index would"""
    named = [*arguments, "--distribution", "fast-waves"]
    written = run_in(tmp_path, installed / "tenferro", "new-plugin", *named)
    assert written.returncode == 0, written.stderr
    environment = {**os.environ, "PIP_FIND_LINKS": str(DIST)}
    done = subprocess.run(
        [sys.executable, "-m", "tox", "-q", "-e", name],
        cwd=tmp_path / "fast-waves",
        env={name: value for name, value in environment.items() if not name.startswith("TOX_")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "claim: level" in done.stdout  # the kit has judged


def test_the_wheels_bring_the_command_line(installed, tmp_path):
    done = run_in(tmp_path, installed / "tenferro", "plugins")
    assert done.returncode == 0, done.stderr
    assert "numpy" in done.stdout


def test_the_wheels_differentiate(installed, tmp_path):
    program = (
        "import numpy as np, tenferro as tn; print(tn.grad(lambda x: np.sum(x * x))(np.ones(2)))"
    )
    done = run_in(tmp_path, installed / "python", "-c", program)
    assert done.stdout.split() == ["[2.", "2.]"], done.stderr

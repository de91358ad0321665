"""Tests on eight virtual devices, in processes of their own.

How many devices the CPU has is set before JAX starts, so these tests cannot run in the process of
the others: `on_a_mesh/conftest.py` keeps them from being collected here.
"""

import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "on_a_mesh"
DEVICES = "--xla_force_host_platform_device_count=8"


LAWS = "test_laws"
OTHERS = sorted({path.stem for path in FOLDER.glob("test_*.py")} - {LAWS})


def test_on_eight_devices():
    """Every file except that of laws, in one process"""
    run(*OTHERS)


def test_laws_on_eight_devices():
    """Values and derivatives of a table of functions"""
    run(LAWS)


def run(*names):
    """Run files of tests where there are eight devices."""
    files = [FOLDER / f"{name}.py" for name in names]
    flags = f"{os.environ.get('XLA_FLAGS', '')} {DEVICES}"
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "TENFERRO_MESH": "8"}
    environment.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:xdist", *files],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr

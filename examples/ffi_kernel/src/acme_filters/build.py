"""Compile the kernel: ``python -m acme_filters.build``. Read next: ``on_xla.py``."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("recursion.cc")
LIBRARY = SOURCE.with_suffix(".so")


def build(target: Path = LIBRARY) -> Path:
    """Compile the kernel against the headers of the installed JAX."""
    from jax.ffi import include_dir

    compiler = os.environ.get("CXX", "g++")
    options = ["-O2", "-std=c++17", "-shared", "-fPIC", f"-I{include_dir()}"]
    subprocess.run([compiler, *options, str(SOURCE), "-o", str(target)], check=True)
    return target


if __name__ == "__main__":
    print(build())

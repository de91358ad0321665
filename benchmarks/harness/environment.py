"""What a result depends on and nobody chose: versions, cores, BLAS, pages."""

from __future__ import annotations

import importlib.util
import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("numpy", "scipy", "tenferro", "tenferro-numpy", "tenferro-xla", "jax", "torch")
KEPT = ("user_api", "internal_api", "version", "num_threads", "architecture", "filepath")


def environment() -> dict[str, Any]:
    """Versions, processor, threads and pages of this process."""
    return {
        "python": platform.python_version(),
        "versions": {name: found for name in (*PACKAGES, "autograd") if (found := installed(name))},
        "commit": commit(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "pinned to": cores(),
        "system": f"{platform.system()} {platform.machine()}",
        "blas": blas(),
        "transparent huge pages": pages(),
        "tunables": os.environ.get("GLIBC_TUNABLES", ""),
    }


def installed(name: str) -> str:
    """The version of a distribution, or nothing."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def commit() -> str:
    """The commit of this repository, with a plus if something was changed since."""
    command = ["git", "describe", "--always", "--dirty=+"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip()


def processor() -> str:
    """The processor's name and family, as the system says."""
    wanted = ("model name", "model\t", "cpu family")
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    found = {line.partition(":")[0].strip(): line.partition(":")[2].strip() for line in lines
             if line.startswith(wanted)}  # fmt: skip
    name = found.get("model name", platform.processor())
    return f"{name}, family {found.get('cpu family')} model {found.get('model')}"


def cores() -> list[int]:
    """The cores on which this process may run."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def blas() -> list[dict[str, Any]]:
    """The pools of threads that are loaded: library, version, architecture, threads."""
    if importlib.util.find_spec("threadpoolctl") is None:
        return []
    import threadpoolctl

    found = []
    for pool in threadpoolctl.threadpool_info():
        kept = {key: pool[key] for key in KEPT if pool.get(key) is not None}
        kept["filepath"] = Path(kept["filepath"]).name
        found.append(kept)
    return found


def pages() -> str:
    """Whether the system gives huge pages."""
    try:
        return Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text("ascii").strip()
    except OSError:
        return "unknown"

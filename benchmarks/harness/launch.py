"""Starts the processes in which contestants run, with the threads and pages that were asked for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .workload import Case, Contestant, Options, Workload

ROOT = Path(__file__).resolve().parents[2]
POOLS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
ONE = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


class WorkerError(Exception):
    """Report a process that ended without a result."""


def variables(options: Options) -> dict[str, str]:
    """The environment of a worker: libraries read it when they load."""
    found = {**os.environ, **dict.fromkeys(POOLS, str(options.threads))}
    found.update(JAX_PLATFORMS="cpu", JAX_ENABLE_X64="1", PYTHONHASHSEED="0")
    if options.threads == 1:
        found["XLA_FLAGS"] = ONE
    if options.huge_pages:
        found["GLIBC_TUNABLES"] = "glibc.malloc.hugetlb=1"
    return found


def run(
    request: dict[str, Any],
    options: Options,
    limit: float | None = None,
    bytecode: str | None = None,
    programs: str = "",
) -> dict[str, Any]:
    """The answer of a fresh process to a request; it may keep bytecode and programs in folders."""
    found = {**variables(options), "TENFERRO_PROGRAMS": programs}
    if bytecode:
        found.update(PYTHONDONTWRITEBYTECODE="", PYTHONPYCACHEPREFIX=bytecode)
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        text = json.dumps({**request, "options": asdict(options)})
        command = [sys.executable, "-m", "benchmarks.harness.worker", text, str(answer)]
        done = subprocess.run(
            command, cwd=ROOT, env=found, timeout=limit, check=False,
            capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode or not answer.exists():
            last = done.stderr.strip().splitlines()[-1:] or [f"status {done.returncode}"]
            raise WorkerError(last[0])
        found: dict[str, Any] = json.loads(answer.read_text("utf-8"))
        return found


def unreliable(workload: Workload, cases: list[Case], options: Options) -> dict[str, Any]:
    """Contestants that may not return, tried once by themselves: why each one is left out."""
    from .measure import entered

    skip: dict[str, dict[str, str]] = {}
    for case in cases:
        for contestant in entered(workload, case, options):
            reason = failure(workload, case, contestant, options)
            if reason:
                skip.setdefault(case.name, {})[contestant.name] = reason
    return skip


def failure(workload: Workload, case: Case, contestant: Contestant, options: Options) -> str:
    """Why a contestant does not return within its limit, or nothing."""
    if contestant.limit is None:
        return ""
    request = {
        "what": "try",
        "workload": workload.id,
        "case": case.name,
        "contestant": contestant.name,
    }
    try:
        run(request, options, contestant.limit)
    except subprocess.TimeoutExpired:
        return f"no result in {contestant.limit:.0f} s"
    except WorkerError as error:
        return str(error)
    return ""


def memory(workload: Workload, case: Case, options: Options) -> list[dict[str, Any]]:
    """Peak memory of every contestant of a case, each in a process of its own."""
    from .measure import absent, entered

    found = []
    for contestant in entered(workload, case, options):
        if absent(contestant) or failure(workload, case, contestant, options):
            continue
        row: dict[str, Any] = {"case": case.name, "contestant": contestant.name}
        request = {"what": "memory", "workload": workload.id, **row}
        try:
            row["bytes"] = run(request, options)["bytes"]
        except WorkerError as error:
            row["message"] = str(error)
        found.append(row)
    return found

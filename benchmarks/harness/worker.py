"""The process in which contestants run: `python -m benchmarks.harness.worker REQUEST RESULT`.

The request says what: all contestants of a workload (`measure`), the peak memory of one of them
(`memory`), the seconds of its first call (`first`), one call of it, to see whether it returns at
all (`try`), or programs of it without each plan pass (`ablate`). Threads, pinning and pages are
those that the process was started with, by `launch.py`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from .ablation import ablate
from .environment import environment
from .measure import measure
from .memory import peak
from .workload import Call, Contestant, Options, Workload, load


def main() -> None:
    """Read the request, do it, write the result."""
    request = json.loads(sys.argv[1])
    workload = load(request["workload"])
    limit_threads(request["options"]["threads"])
    ways = {"measure": timed, "memory": memory, "first": first, "try": tried, "ablate": ablate}
    answer = ways[request["what"]](workload, request)
    Path(sys.argv[2]).write_text(json.dumps(answer), "utf-8")


def limit_threads(threads: int) -> None:
    """One thread is pinned to one core; torch must be told in its own words."""
    if threads == 1 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)


def options_of(request: dict[str, Any]) -> Options:
    """The options of a request."""
    given = request["options"]
    return Options(**{**given, "peers": tuple(given["peers"])})


def timed(workload: Workload, request: dict[str, Any]) -> dict[str, Any]:
    """Rows of all cases, or the figures of a workload that measures something else."""
    options = options_of(request)
    load_before = os.getloadavg()
    rows: list[Any] = []
    figures: list[Any] = []
    for case in workload.quick if options.quick else workload.cases:
        if workload.contestants:
            rows += measure(workload, case, options, request["skip"].get(case.name, {}))
    if workload.figures is not None and options.threads == 1 and not options.huge_pages:
        figures = [figure._asdict() for figure in workload.figures(options)]
    if workload.summary is not None and options.threads == 1 and not options.huge_pages:
        figures += [figure._asdict() for figure in workload.summary(rows)]
    return {
        "rows": rows,
        "figures": figures,
        "environment": environment(),
        "load": [load_before, os.getloadavg()],
    }


def contestant_of(workload: Workload, request: dict[str, Any]) -> Contestant:
    """The contestant of a request."""
    return next(c for c in workload.contestants if c.name == request["contestant"])


def tried(workload: Workload, request: dict[str, Any]) -> dict[str, Any]:
    """One call."""
    case = workload.case(request["case"])
    contestant_of(workload, request).make(*workload.inputs(case.given))()
    return {}


def memory(workload: Workload, request: dict[str, Any]) -> dict[str, Any]:
    """The most memory of two calls over that of the inputs, in bytes.

    A small case runs before, so that libraries and their compilers have loaded what they need.
    """
    return {"bytes": peak(after_a_small_case(workload, request))}


def first(workload: Workload, request: dict[str, Any]) -> dict[str, Any]:
    """Wall seconds of the first call of a case, in a process that has run a small one."""
    call = after_a_small_case(workload, request)
    start = time.perf_counter()
    call()
    return {"seconds": time.perf_counter() - start}


def after_a_small_case(workload: Workload, request: dict[str, Any]) -> Call:
    """Return the call of a contestant, which has run the first of the small cases before."""
    contestant, case = contestant_of(workload, request), workload.case(request["case"])
    contestant.make(*workload.inputs(workload.quick[0].given))()
    return contestant.make(*workload.inputs(case.given))


if __name__ == "__main__":
    main()

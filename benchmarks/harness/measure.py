"""Runs the contestants of one case by turns, in this process.

Every contestant is called once (its first call: record, transform, compile), compared with the
baseline, called once more, and only then timed. Where nobody wrote a baseline, the first contestant
that has a result is compared with. A contestant that fails or disagrees has a row that says so and
no time. Short calls are repeated within a sample. Read next: `worker.py`.
"""

from __future__ import annotations

import contextlib
import gc
import math
import time
from collections.abc import Iterator
from typing import Any

from .compare import DisagreementError, agree, leaves
from .statistics import summary
from .workload import BASELINE, Call, Case, Contestant, Options, Workload, installed

Row = dict[str, Any]
FEWEST, MOST = 5, 60


def measure(workload: Workload, case: Case, options: Options, skip: dict[str, str]) -> list[Row]:
    """A row for every contestant of a case."""
    inputs = workload.inputs(case.given)
    rows: list[Row] = []
    calls: dict[str, Call] = {}
    want: Any = None
    for contestant in entered(workload, case, options):
        row: Row = {"case": case.name, "size": case.size, "contestant": contestant.name}
        rows.append(row)
        reason = skip.get(contestant.name) or absent(contestant)
        if reason:
            row.update(status="left out", message=reason)
            continue
        call, result = attempt(contestant, workload, case, inputs, want, row)
        if contestant.name == BASELINE or (want is None and not has_baseline(workload)):
            want = result
        if call is not None:
            calls[contestant.name] = call
        del result
    del want
    times = by_turns(calls, options)
    for row in rows:
        if row["contestant"] in times:
            row["turns"] = times[row["contestant"]]
            row.update({clock: summary(t) for clock, t in row["turns"].items()})
    return rows


def entered(workload: Workload, case: Case, options: Options) -> Iterator[Contestant]:
    """The contestants of a case that were asked for, the baseline first."""
    everyone = sorted(workload.contestants, key=lambda c: c.name != BASELINE)
    for contestant in everyone:
        asked = not contestant.peer or contestant.peer in options.peers
        if asked and (contestant.cases is None or case.name in contestant.cases):
            yield contestant


def has_baseline(workload: Workload) -> bool:
    """Whether somebody wrote a workload by hand; if not, the first that has a result is right."""
    return any(contestant.name == BASELINE for contestant in workload.contestants)


def absent(contestant: Contestant) -> str:
    """Why a contestant cannot run here, or nothing."""
    return "" if installed(contestant.peer) else "not installed"


def attempt(
    contestant: Contestant,
    workload: Workload,
    case: Case,
    inputs: tuple[Any, ...],
    want: Any,
    row: Row,
) -> tuple[Call | None, Any]:
    """The first call, timed and compared; the row says what came of it."""
    try:
        call = contestant.make(*inputs)
        start = time.perf_counter()
        result = call()
        row["first"] = time.perf_counter() - start
        result = workload.compared(case, list(leaves(result)))
        if want is not None:
            agree(result, want, case.tolerance or workload.tolerance)
    except DisagreementError as error:
        row.update(status="disagrees", message=str(error))
        return None, None
    except Exception as error:  # a peer may fail in any way, and the others go on
        row.update(status="failed", message=f"{type(error).__name__}: {error}".split("\n")[0])
        return None, None
    row["status"] = "ok"
    return call, result


def by_turns(calls: dict[str, Call], options: Options) -> dict[str, dict[str, list[float]]]:
    """Seconds of CPU and of wall time per call, the contestants taking turns."""
    counts = {name: repetitions(call, options) for name, call in calls.items()}
    times: dict[str, dict[str, list[float]]] = {n: {"cpu": [], "wall": []} for n in calls}
    end = time.perf_counter() + (0.0 if options.quick else options.budget)
    with settled():
        for turn in range(MOST):
            if turn >= FEWEST and time.perf_counter() > end:
                break
            for name, call in calls.items():
                cpu, wall = sample(call, counts[name])
                times[name]["cpu"].append(cpu)
                times[name]["wall"].append(wall)
    return times


def repetitions(call: Call, options: Options) -> int:
    """How often to call within a sample, so that neither the clock nor a cold cache counts.

    A busy machine makes single calls look slow, so the shortest of some decides.
    """
    wanted = 0.001 if options.quick else 0.01
    call()
    shortest = sample(call, 1)[0]
    for _ in range(9 if shortest < 10 * wanted else 0):
        shortest = min(shortest, sample(call, 1)[0])
    return max(1, math.ceil(wanted / max(shortest, 1e-7)))


def sample(call: Call, count: int) -> tuple[float, float]:
    """CPU and wall seconds of one call, the mean over some."""
    turns = range(count)
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in turns:
        call()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return cpu / count, wall / count


@contextlib.contextmanager
def settled() -> Iterator[None]:
    """Keep the objects of all loaded libraries out of the collector, which stays on.

    Otherwise the contestant that allocates pays for walking through what its peers have loaded.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()

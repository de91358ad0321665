"""What the times of a run mean: ratios to the baseline, slopes, and the goals beside them.

Works on the data that workers return, and adds to them, so that a result that was stored says the
same as the table that was printed. The times of single turns serve the ratios and are dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any

from .statistics import ratio, slope, verdict
from .units import quantity, seconds
from .workload import BASELINE, Goal, Workload

Row = dict[str, Any]
COUNTS = ("nodes", "equations")


def assess(workload: Workload, run: dict[str, Any]) -> None:
    """Add ratios, goals, verdicts and slopes to a run of a workload."""
    clock = run["clock"] = "cpu" if run["threads"] == 1 else "wall"
    times = {
        (r["case"], r["contestant"]): r.pop("turns")[clock] for r in run["rows"] if "turns" in r
    }
    for row in run["rows"]:
        own, base = (times.get((row["case"], name)) for name in (row["contestant"], BASELINE))
        if own and base:
            row["ratio"] = ratio(own, base)
        row["goals"] = [
            judged(goal, own, over)
            for goal in goals_of(workload, run["threads"], row["case"], row["contestant"], "time")
            if own and (over := times.get((row["case"], goal.over)))
        ]
    for row in run["memory"]:
        assess_memory(workload, run, row)
    for row in run["figures"]:
        row["goals"] = [
            judged_alone(goal, row["value"], row["unit"])
            for goal in goals_of(workload, 1, row["case"], row["contestant"], row["figure"])
        ]
    run["slopes"] = slopes(run, clock)


def goals_of(
    workload: Workload, threads: int, case: str, contestant: str, figure: str
) -> Iterable[Goal]:
    """The goals that concern a row; those of a certain case count before those of all.

    Goals are those of the full sizes: a quick case has one only if it bears the same name. A goal
    may name a case of its own, such as the mean of all.
    """
    named = {full.name for full in workload.cases} | {goal.case for goal in workload.goals}
    if workload.cases and case not in named:
        return []
    found = [
        goal
        for goal in workload.goals
        if (goal.threads, goal.contestant, goal.figure) == (threads, contestant, figure)
        and goal.case in (None, case)
    ]
    return [goal for goal in found if goal.case] or found


def judged(goal: Goal, own: Sequence[float], over: Sequence[float]) -> dict[str, Any]:
    """A goal for the times of the turns, as a limit of the ratio."""
    limit = goal.limit + goal.plus / median(over)  # of the ratio
    found = ratio(own, over)
    return {
        "limit": limit,
        "text": text(goal),
        "over": goal.over,
        "ratio": found,
        "verdict": verdict(list(found.values()), limit),
    }


def judged_alone(goal: Goal, found: float, unit: str = "") -> dict[str, Any]:
    """A goal for a single figure."""
    said = verdict([found], goal.limit, exact=unit in COUNTS)
    return {"limit": goal.limit, "text": text(goal, unit), "over": "", "verdict": said}


def text(goal: Goal, unit: str = "") -> str:
    """A goal in words: `≤ 0.6 ÷ jax`, `≤ 1.2 + 4 µs`."""
    limit = quantity(goal.limit, unit) if goal.limit else ""
    parts = [limit, seconds(goal.plus) if goal.plus else ""]
    over = "" if goal.over == BASELINE else f" ÷ {goal.over}"
    label = "memory" if goal.figure == "memory" else ""
    return f"{label} ≤ {' + '.join(filter(None, parts))}{over}".strip()


def assess_memory(workload: Workload, run: dict[str, Any], row: Row) -> None:
    """The ratio of peak memory, and its goal."""
    base = next(
        (
            r.get("bytes")
            for r in run["memory"]
            if r["case"] == row["case"] and r["contestant"] == BASELINE
        ),
        None,
    )
    if not base or "bytes" not in row:
        return
    row["ratio"] = row["bytes"] / base
    found = goals_of(workload, run["threads"], row["case"], row["contestant"], "memory")
    row["goals"] = [judged_alone(goal, row["ratio"]) for goal in found]


def slopes(run: dict[str, Any], clock: str) -> dict[str, float]:
    """How the time of each contestant grows with the size, where the cases have one."""
    points: dict[str, list[tuple[float, float]]] = {}
    for row in run["rows"]:
        if row.get("size") and clock in row:
            points.setdefault(row["contestant"], []).append((row["size"], row[clock]["median"]))
    for row in run["figures"]:
        if row.get("size"):
            name = f"{row['contestant']}, {row['figure']}"
            points.setdefault(name, []).append((row["size"], row["value"]))
    found = {name: slope(pairs) for name, pairs in points.items()}
    return {name: value for name, value in found.items() if value == value}

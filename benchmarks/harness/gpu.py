"""The section of `docs/benchmarks.md` about a GPU, from `benchmarks/results-gpu.json`.

`python tools/gpu_check.py` leaves that file there. Without it the section says so. Read next:
`page.py`, which has the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from .cells import mark, table
from .units import number, quantity, seconds

Data = dict[str, Any]

NOT_MEASURED = """\
The CuPy backend was not measured on a device. `python tools/gpu_check.py` does so where there is
one, and leaves the results in `benchmarks/results-gpu.json`, from which this section is made.
"""
MEASURED = """\
The CuPy backend on {device}, with CuPy {cupy}. Stages of `python tools/gpu_check.py`: {stages}.
"""
GRADIENTS = """\
Wall time of value and gradient until the device is done, the least of many calls. Results agree
with those by hand before and after.
"""
OURS = ("tenferro", "tenferro, CUDA graph")
BY_HAND = "CuPy by hand"
GOALS_FOR = ("W1", "W3", "W7")


class Goal(NamedTuple):
    """What was found, what it may be at most or must be at least, and how both are written."""

    what: str
    value: float
    limit: float
    is_least: bool = False
    unit: str = ""

    @property
    def verdict(self) -> str:
        met = self.value >= self.limit if self.is_least else self.value <= self.limit
        return "met" if met else "missed"

    @property
    def text(self) -> str:
        sign = "≥" if self.is_least else "≤"
        return f"{sign} {self.limit:g}{f' {self.unit}' if self.unit else ''}"


def section(results: Data | None) -> Iterator[str]:
    """The section; what was not measured is left out."""
    yield "## On a GPU\n"
    speed = (results or {}).get("speed", {})
    if not speed.get("fused chains"):
        yield NOT_MEASURED
        return
    assert results is not None
    probe = results.get("probe", {})
    stages = "; ".join(f"{name}: {found['status']}" for name, found in results.items())
    devices = ", ".join(probe.get("devices", ())) or "a device without a name"
    yield MEASURED.format(device=devices, cupy=probe.get("cupy", ""), stages=stages)
    rows = speed.get("gradients", [])
    yield from goals([*chain_goals(speed), *gradient_goals(rows)])
    yield from chains(speed)
    yield from gradients(rows)


def goals(found: list[Goal]) -> Iterator[str]:
    """The table of goals."""
    yield from table(
        ("what", "goal", "found", ""),
        (
            (goal.what, goal.text, f"{goal.value:.3g}", mark(goal.verdict))
            for goal in found
        ),
    )  # fmt: skip


def chain_goals(speed: Data) -> Iterator[Goal]:
    """The goals of fused chains and of small operations."""
    for name, row in speed["fused chains"].items():
        if "% of copy" in row:
            yield Goal(name, row["% of copy"], 85, is_least=True, unit="% of copy")
    replayed = speed.get("small operations", {}).get("CUDA graph")
    if replayed:
        what = f"{replayed['operations']:,} small operations by a CUDA graph"
        yield Goal(what, replayed["µs per operation"], 2, unit="µs each")


def gradient_goals(rows: list[Data]) -> Iterator[Goal]:
    """The goals of gradients: the faster of our two ways over JAX's best, and over CuPy by hand."""
    for case, times in cases(rows).items():
        ours = [times[name] for name in OURS if name in times]
        if case[0] not in GOALS_FOR or not ours:
            continue
        jax = [time for name, time in times.items() if name.startswith("jax")]
        by_hand = [times[BY_HAND]] if BY_HAND in times else []
        for peer, limit, others in (("JAX", 1.0, jax), (BY_HAND, 0.6, by_hand)):
            if others:
                yield Goal(f"{' '.join(case)} ÷ {peer}", min(ours) / min(others), limit)


def cases(rows: list[Data]) -> dict[tuple[str, str], dict[str, float]]:
    """Seconds by case and contestant."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        times = found.setdefault((row["workload"], row["case"]), {})
        if "seconds" in row:
            times[row["contestant"]] = row["seconds"]
    return found


def chains(speed: Data) -> Iterator[str]:
    """The tables of fused chains and of small operations."""
    yield from table(
        ("fused chain of 2²⁷ float32", "GB/s", "% of copy"),
        (
            (name, f"{row['GB/s']:,.0f}", number(row.get("% of copy")))
            for name, row in speed["fused chains"].items()
        ),
    )
    small = speed.get("small operations", {})
    figures = list(dict.fromkeys(figure for row in small.values() for figure in row))
    yield from table(
        ("small operations", *figures),
        (
            (name, *(quantity(row[f]) if f in row else "" for f in figures))
            for name, row in small.items()
        ),
    )


def gradients(rows: list[Data]) -> Iterator[str]:
    """The table of gradients."""
    if not rows:
        return
    yield GRADIENTS
    times = cases(rows)
    yield from table(
        ("", "case", "contestant", "time", "÷ by hand", "first call", "second call"),
        (gradient_row(row, times[row["workload"], row["case"]]) for row in rows),
    )


def gradient_row(row: Data, times: dict[str, float]) -> tuple[str, ...]:
    """A line of that table; a contestant that has no time says why."""
    name = row["workload"], row["case"], row["contestant"]
    if "seconds" not in row:
        return (*name, row["why"], "", "", "")
    hand = times.get(BY_HAND)
    ratio = number(row["seconds"] / hand) if hand else ""
    return (*name, seconds(row["seconds"]), ratio, seconds(row["first"]), seconds(row["second"]))

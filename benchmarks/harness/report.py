"""Prints runs as tables in the terminal."""

from __future__ import annotations

import math
from typing import Any

from rich.console import Console
from rich.table import Table

COLORS = {"met": "green", "missed": "red", "undecided": "yellow"}


def show(run: dict[str, Any], console: Console) -> None:
    """One workload of a run."""
    clock = "CPU time, one pinned core" if run["clock"] == "cpu" else "wall time"
    threads = "" if run["threads"] == 1 else f", {run['threads']} threads"
    pages = ", huge pages" if run["huge_pages"] else ""
    table = Table(title=f"{run['workload']}  {run['title']}\n{clock}{threads}{pages}")
    for name in ("case", "contestant"):
        table.add_column(name, overflow="fold")
    for name in ("median", "minimum", "÷ by hand", "(of minima)", "first call", "memory", "goal"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    for cells in rows(run):
        table.add_row(*cells)
    if run["rows"]:
        console.print(table)
    if run["figures"]:
        console.print(figures(run))
    for name, value in run["slopes"].items():
        console.print(f"  slope of {name}: {value:.2f}")
    before, after = run["load"]
    console.print(f"  load {before[0]:.2f} before, {after[0]:.2f} after\n", style="dim")


def rows(run: dict[str, Any]) -> list[list[str]]:
    """The cells of the table of times."""
    memory = {(row["case"], row["contestant"]): row for row in run["memory"]}
    found, last = [], None
    for row in run["rows"]:
        case = "" if row["case"] == last else row["case"]
        last = row["case"]
        peak = memory.get((row["case"], row["contestant"]), {})
        if row["status"] != "ok":
            said = f"{row['status']}: {row['message']}"
            found.append([case, row["contestant"], *[""] * 7, said])
            continue
        own, ratio = row[run["clock"]], row.get("ratio", {})
        found.append(
            [
                case,
                row["contestant"],
                seconds(own["median"]),
                seconds(own["minimum"]),
                number(ratio.get("median")),
                number(ratio.get("minimum")),
                seconds(row["first"]),
                memory_cell(peak),
                *goal_cells(row, peak),
            ]
        )
    return found


def goal_cells(row: dict[str, Any], peak: dict[str, Any]) -> tuple[str, str]:
    """The goals and what became of them."""
    goals = [*row["goals"], *peak.get("goals", ())]
    return "\n".join(goal["text"] for goal in goals), "\n".join(map(said, goals))


def said(goal: dict[str, Any]) -> str:
    """What became of a goal; the ratio where it is not that to the baseline."""
    verdict = f"[{COLORS[goal['verdict']]}]{goal['verdict']}[/]"
    other = goal["over"] not in ("numpy", "")
    return f"{verdict} ({goal['ratio']['median']:.2f})" if other else verdict


def figures(run: dict[str, Any]) -> Table:
    """The table of figures that are no times of calls."""
    table = Table(title=f"{run['workload']}  {run['title']}")
    table.add_column("case")
    table.add_column("contestant")
    table.add_column("figure")
    for name in ("found", "goal"):
        table.add_column(name, justify="right")
    table.add_column("")
    for row in run["figures"]:
        goals = [goal["text"] for goal in row["goals"]]
        cells = ["\n".join(goals), "\n".join(map(said, row["goals"]))]
        value = f"{quantity(row['value'])} {row['unit']}"
        table.add_row(row["case"], row["contestant"], row["figure"], value, *cells)
    return table


def quantity(value: float) -> str:
    """A figure: counts whole, others to three digits."""
    return f"{value:,.0f}" if float(value).is_integer() or value >= 1000 else f"{value:.3g}"


def seconds(value: float) -> str:
    """A time with its unit."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}" if value < 1000 * scale else f"{value:.0f} {unit}"
    return f"{value / 1e-9:.3g} ns"


def memory_cell(peak: dict[str, Any]) -> str:
    """Peak memory and its ratio."""
    if "bytes" not in peak:
        return str(peak.get("message", ""))
    return f"{peak['bytes'] / 2**20:.0f} MiB ({number(peak.get('ratio'))})"


def number(value: float | None) -> str:
    """A ratio."""
    if value is None or math.isnan(value):
        return ""
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def show_environment(found: dict[str, Any], console: Console) -> None:
    """What the results depend on."""
    versions = ", ".join(f"{name} {v}" for name, v in found["versions"].items())
    console.print(f"Python {found['python']}; {versions}")
    console.print(f"{found['processor']}, {found['cores']} cores; {found['system']}")
    for pool in found["blas"]:
        said = " ".join(
            str(pool[k]) for k in ("internal_api", "version", "architecture") if k in pool
        )
        console.print(f"  {pool['filepath']}: {said}, {pool['num_threads']} threads")
    console.print()

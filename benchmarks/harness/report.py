"""Prints runs as tables in the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .page import groups
from .units import number, quantity, seconds

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
    table.add_column("", overflow="fold")
    for cells in rows(run):
        table.add_row(*cells)
    if run["rows"]:
        console.print(table)
    for rows_of_table in groups(run["figures"]):
        console.print(figures(run, rows_of_table))
    for name, value in run["slopes"].items():
        console.print(f"  slope of {name}: {value:.2f}")
    before, after = run["load"]
    console.print(f"  load {before[0]:.2f} before, {after[0]:.2f} after\n", style="dim")


def rows(run: dict[str, Any]) -> list[list[str]]:
    """The cells of the table of times."""
    memory = {(row["case"], row["contestant"]): row for row in run["memory"]}
    found, last = [], None
    for row in run["rows"]:
        case = "" if row["case"] == last else escape(row["case"])
        last = row["case"]
        peak = memory.get((row["case"], row["contestant"]), {})
        if row["status"] != "ok":
            reason = escape(f"{row['status']}: {row['message']}")
            found.append([case, row["contestant"], *[""] * 7, reason])
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


def figures(run: dict[str, Any], rows: list[dict[str, Any]]) -> Table:
    """A table of figures that are no times of calls: cases and contestants by figures."""
    names = list(dict.fromkeys(row["figure"] for row in rows))
    table = Table(title=f"{run['workload']}  {run['title']}", padding=(0, 0, 0, 1))
    for name in ("case", "contestant"):
        table.add_column(name, overflow="fold")
    for name in names:
        table.add_column(name, justify="right", overflow="fold")
    cases = list(dict.fromkeys(row["case"] for row in rows))
    pairs = dict.fromkeys((row["case"], row["contestant"]) for row in rows)
    for case, contestant in sorted(pairs, key=lambda pair: cases.index(pair[0])):
        own = [row for row in rows if (row["case"], row["contestant"]) == (case, contestant)]
        cells = {row["figure"]: figure(row) for row in own}
        table.add_row(escape(case), contestant, *[cells.get(name, "") for name in names])
    return table


def figure(row: dict[str, Any]) -> str:
    """A figure, its goals and what became of them."""
    goals = [f"{goal['text']} {said(goal)}" for goal in row["goals"]]
    return "\n".join([quantity(row["value"], row["unit"]), *goals])


def memory_cell(peak: dict[str, Any]) -> str:
    """Peak memory and its ratio."""
    if "bytes" not in peak:
        return str(peak.get("message", ""))
    return f"{peak['bytes'] / 2**20:.0f} MiB ({number(peak.get('ratio'))})"


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

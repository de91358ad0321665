"""Results in a file: figures to six digits, one row per line, what all runs share once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_DEPTH = 4  # results, runs, run, rows; a row is a line
_OWN = ("blas", "commit")  # what runs of one file may differ in


def store(runs: list[dict[str, Any]], file: Path) -> None:
    """Write what was measured; each run has the command that did it."""
    own = [{**run, "environment": {key: run["environment"][key] for key in _OWN}} for run in runs]
    whole = {"environment": runs[0]["environment"], "runs": own}
    file.write_text(_text(_rounded(whole), _DEPTH) + "\n", "utf-8")


def restored(file: Path) -> list[dict[str, Any]]:
    """Read the runs that `store` wrote, each with all of its environment."""
    whole = json.loads(file.read_text("utf-8"))
    shared = whole["environment"]
    return [{**run, "environment": shared | run["environment"]} for run in whole["runs"]]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    return [_rounded(part) for part in value] if isinstance(value, list | tuple) else value


def _text(value: Any, depth: int) -> str:
    if not depth or not value or not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        parts, ends = [_text(part, depth - 1) for part in value], "[]"
    else:
        ends = "{}"
        parts = [f"{json.dumps(name)}: {_text(part, depth - 1)}" for name, part in value.items()]
    inner = ",\n".join(parts)
    return f"{ends[0]}\n{inner}\n{ends[1]}"

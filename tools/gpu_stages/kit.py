"""Stages: the conformance kit up to level 2, then level 3, family by family.

A family that fails is left after a few failures, and the next one runs (`kit_by_family.py`). What
passed is noted by primitive: level 3 and a later run leave it out.
"""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from gpu_stages.notes import StageNotes
from gpu_stages.processes import said_by
from gpu_stages.setting import Setting

__all__ = ["level_2", "level_3"]

PLUGIN = "kit_by_family"
LEVEL_2 = "kit, level 2"
#: stops so many seconds before the stage must be done, to note what was found
_SECONDS_TO_NOTE = 2.0


def level_2(setting: Setting, notes: StageNotes) -> None:
    """Run the cases up to level 2."""
    passed = _passed(notes.get("families", {}))
    _run(setting, notes, ["--level", "2"], passed)


def level_3(setting: Setting, notes: StageNotes) -> None:
    """Run the cases up to level 3 of the primitives that have not passed yet."""
    before = _passed(notes.of_stage(LEVEL_2).get("families", {}))
    _run(setting, notes, ["--level", "3"], before | _passed(notes.get("families", {})))


def _run(setting: Setting, notes: StageNotes, more: list[str], passed: set[str]) -> None:
    """Run the kit, and note by family what was found, also if the time was over.

    Raises AssertionError: if a case failed.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "passed.json").write_text(json.dumps(sorted(passed)), "utf-8")
        environment = {
            "PYTHONPATH": setting.python_path(str(Path(__file__).parent)),
            "TENFERRO_KIT_FOLDER": str(folder),
        }
        command = setting.kit_command(*more, "-p", PLUGIN)
        seconds = max(1.0, setting.seconds_left() - _SECONDS_TO_NOTE)
        try:
            said_by(command, seconds, folder, environment)
        except AssertionError:
            if not _nothing_was_left(folder):
                raise
        finally:
            found = summed(_lines(folder), notes.get("families", {}))
            notes["families"] = found
    failed = {family: row["failures"] for family, row in found.items() if row["failures"]}
    assert not failed, json.dumps(failed, indent=1)


def _nothing_was_left(folder: Path) -> bool:
    """Return True if all had passed before: the kit calls a run without cases a failure."""
    counts = [line["cases"] for line in _lines(folder) if "cases" in line]
    return bool(counts) and not any(counts)


def _lines(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield what the processes of the kit wrote."""
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            try:
                yield json.loads(line)
            except json.JSONDecodeError:  # the process ended while it wrote
                continue


def summed(lines: Iterable[dict[str, Any]], before: dict[str, Any]) -> dict[str, Any]:
    """Return by family the primitives that passed, how many cases did, and failures.

    `before` is what an earlier run found; its failures are forgotten, for they ran again.
    """
    found: dict[str, Any] = defaultdict(lambda: {"primitives": [], "cases": 0, "failures": []})
    for family, row in before.items():
        found[family] = {**row, "failures": []}
    for line in lines:
        if "family" not in line:
            continue
        row = found[line["family"]]
        row["cases"] += line["passed"]
        row["failures"] += line["failures"]
        if line["is_whole"] and not line["failures"]:
            row["primitives"] = sorted({*row["primitives"], line["primitive"]})
    return dict(sorted(found.items()))


def _passed(families: dict[str, Any]) -> set[str]:
    return {name for row in families.values() for name in row["primitives"]}

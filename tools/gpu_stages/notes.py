"""Notes: what the stages found, in one JSON file that is replaced whole at each change."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["Notes", "StageNotes"]


class Notes:
    """The file of results: a status and findings for each stage that has begun."""

    def __init__(self, path: Path, *, keep: bool) -> None:
        self.path = path
        self._found: dict[str, dict[str, Any]] = {}
        if keep:
            self.read()

    def read(self) -> None:
        """Read the file again, into which another process has written."""
        if self.path.exists():
            self._found = json.loads(self.path.read_text("utf-8"))

    def names(self) -> list[str]:
        """Return the stages that have begun."""
        return list(self._found)

    def of(self, stage: str) -> dict[str, Any]:
        """Return what a stage has found."""
        return self._found.setdefault(stage, {})

    def status(self, stage: str) -> str:
        """Return the status of a stage; empty before it begins."""
        return str(self._found.get(stage, {}).get("status", ""))

    def stage(self, name: str) -> StageNotes:
        """Return where a stage writes."""
        return StageNotes(self, name)

    def begin(self, stage: str, status: str) -> None:
        """Set the status of a stage, and forget how it ended before; its findings stay."""
        found = self.of(stage)
        for old in ("error", "why", "limit, s", "seconds"):
            found.pop(old, None)
        self._found[stage] = {**found, "status": status}
        self.write()

    def end(self, stage: str, status: str, more: Mapping[str, Any]) -> None:
        """Set the status of a stage that has ended, and add to its findings."""
        self.of(stage).update({"status": status, **more})
        self.write()

    def write(self) -> None:
        """Replace the file by a complete one."""
        beginning = self.path.with_suffix(".new")
        beginning.write_text(json.dumps(self._found, indent=1, ensure_ascii=False), "utf-8")
        os.replace(beginning, self.path)


class StageNotes:
    """The notes of one stage: `notes["kernels"] = 412` writes the file."""

    def __init__(self, notes: Notes, name: str) -> None:
        self._notes, self._name = notes, name

    def __setitem__(self, key: str, value: Any) -> None:
        self._notes.of(self._name)[key] = value
        self._notes.write()

    def get(self, key: str, default: Any) -> Any:
        """Return a finding, of a run before this one as well."""
        return self._notes.of(self._name).get(key, default)

    def of_stage(self, name: str) -> dict[str, Any]:
        """Return what another stage has found."""
        return self._notes.of(name) if name in self._notes.names() else {}

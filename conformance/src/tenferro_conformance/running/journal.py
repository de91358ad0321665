"""Journal of a run: a line when a test starts and one when it has ended, so that a crash of the
process names its case and another process goes on with the rest.

A case that crashed among its peers, with which it is compiled into one program, is asked again
alone: the crash may be a peer's. Loaded by every pytest run of the environment, so it imports
the standard library alone. Read `children.py` next, which starts processes anew.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Journal", "Started"]

#: A primitive that ended the process so often, alone, is not asked again.
_MOST_CRASHES = 3


@dataclass(frozen=True, kw_only=True)
class Started:
    """A test that started: its names, and whether it ran without its peers."""

    test: str
    entry: dict[str, Any]
    alone: bool

    @property
    def primitive(self) -> str:
        """The primitive's key, or the name of a test that is about none."""
        return str(self.entry["id"]).partition("/")[0]


@dataclass
class Journal:
    """Tests of a run that have started and ended so far, in all of its processes."""

    path: Path
    entries: list[dict[str, Any]] = field(default_factory=list)
    ended: set[str] = field(default_factory=set)
    open: dict[str, Started] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Journal:
        """Read what was written; a file that does not exist is empty."""
        journal = cls(path)
        for line in path.read_text().splitlines() if path.exists() else ():
            try:
                journal._take(json.loads(line))
            except json.JSONDecodeError:  # the process ended while it wrote
                continue
        return journal

    def _take(self, row: dict[str, Any]) -> None:
        test = row["test"]
        if "starts" in row:
            self.open[test] = Started(test=test, entry=row["starts"], alone=row["alone"])
            return
        self.open.pop(test, None)
        self.ended.add(test)
        self.entries += row["ends"]

    def starts(self, test: str, entry: dict[str, Any], *, alone: bool) -> None:
        """Write that a test starts."""
        self._write({"test": test, "starts": entry, "alone": alone})

    def ends(self, test: str, entries: list[dict[str, Any]]) -> None:
        """Write what a test has found."""
        self._write({"test": test, "ends": entries})

    def _write(self, row: dict[str, Any]) -> None:
        with self.path.open("a") as file:  # closed at once: a crash loses nothing
            file.write(json.dumps(row) + "\n")

    def crashed(self) -> list[Started]:
        """Return the tests in which a process ended, without peers."""
        return [started for started in self.open.values() if started.alone]

    def is_done(self, test: str) -> bool:
        """Return True if a test has ended, or ended its process without peers."""
        return test in self.ended or (test in self.open and self.open[test].alone)

    def runs_alone(self, primitive: str) -> bool:
        """Return True if a case of the primitive has ended a process."""
        return any(started.primitive == primitive for started in self.open.values())

    def is_given_up(self, primitive: str) -> bool:
        """Return True if the primitive has ended too many processes."""
        return Counter(s.primitive for s in self.crashed())[primitive] >= _MOST_CRASHES

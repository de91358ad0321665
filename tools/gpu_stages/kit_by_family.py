"""A plugin of pytest that runs the kit family by family, and leaves a family that fails.

It leaves out the primitives that `passed.json` in the folder `TENFERRO_KIT_FOLDER` names, and
writes lines of JSON there: how many cases are to run, and as soon as a primitive is done, what was
found of it.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

#: After so many failures the rest of a family is left out.
MOST_FAILURES = 5
LENGTH_OF_REASON = 400


class ByFamily:
    """The state of a run: which primitive runs, and what has failed."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / f"{os.getpid()}.jsonl"
        self.passed = frozenset(json.loads((folder / "passed.json").read_text("utf-8")))
        self.left: Counter[str] = Counter()  # cases that have not run, by primitive
        self.failures: dict[str, list[str]] = {}
        self.cases: Counter[str] = Counter()  # that passed, by primitive
        self.families: dict[str, str] = {}
        self.failed: Counter[str] = Counter()  # by family

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Drop what has passed before, and order the rest by family and primitive."""
        families = _families()
        for item in items:
            primitive = primitive_of(item)
            self.families[primitive] = families.get(primitive, primitive.partition("::")[0])
        kept = [item for item in items if primitive_of(item) not in self.passed]
        config.hook.pytest_deselected(items=[i for i in items if primitive_of(i) in self.passed])
        items[:] = sorted(kept, key=lambda i: (self.families[primitive_of(i)], primitive_of(i)))
        self.left.update(map(primitive_of, items))
        self._write({"cases": len(items)})

    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """Leave out a case of a family that has failed too often."""
        primitive = primitive_of(item)
        if self.failed[self.families[primitive]] < MOST_FAILURES:
            return None
        self._done(primitive, is_run=False)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        """Count what a case has found, when all of it has run."""
        report = yield
        primitive = primitive_of(item)
        if report.failed:
            why = str(call.excinfo.value if call.excinfo else report.longrepr)
            reasons = self.failures.setdefault(primitive, [])
            reasons.append(f"{item.name}: {why}"[:LENGTH_OF_REASON])
            self.failed[self.families[primitive]] += 1
        if report.when == "call" and not report.failed:
            self.cases[primitive] += 1
        if report.when == "teardown":
            self._done(primitive, is_run=True)
        return report

    def _done(self, primitive: str, *, is_run: bool) -> None:
        """Write the line of a primitive after its last case, or once it is left."""
        self.left[primitive] -= 1
        if self.left[primitive]:
            return
        row = {
            "family": self.families[primitive],
            "primitive": primitive,
            "passed": self.cases[primitive],
            "failures": self.failures.get(primitive, []),
            "is_whole": is_run,
        }
        self._write(row)

    def _write(self, row: dict[str, Any]) -> None:
        with self.file.open("a", encoding="utf-8") as file:  # closed at once: a crash loses nothing
            file.write(json.dumps(row) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    """Take part in the run."""
    config.pluginmanager.register(ByFamily(Path(os.environ["TENFERRO_KIT_FOLDER"])))


def primitive_of(item: pytest.Item) -> str:
    """Return the primitive that a test is about, or the test's name."""
    from tenferro_conformance.running.collection import entry_of

    entry = entry_of(item)
    return str(entry["id"]).partition("/")[0] if entry else item.name


def _families() -> dict[str, str]:
    """Return the family of each primitive of the standard set."""
    from tenferro_conformance.samples import FAMILIES, tables

    return {table.primitive: family for family in FAMILIES for table in tables(family)}

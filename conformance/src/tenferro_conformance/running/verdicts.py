"""Verdicts of a run: an entry for every law on every case, the report, and the exit code.

Loaded by every pytest run of the environment, so it imports pytest and the standard library alone.
Read `reporting/report.py` for what a report holds.
"""

from __future__ import annotations

import datetime
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tenferro_conformance.running.collection import (
    Collection,
    Unit,
    entry_of,
    parameters_of,
    runs_the_suite,
)

if TYPE_CHECKING:
    from tenferro_conformance.reporting.report import Entry

__all__ = ["Verdicts"]


class Verdicts:
    """The hooks that collect what a run has found, and judge it as a whole."""

    def __init__(self, collection: Collection) -> None:
        self.config = collection.config
        self.collection = collection
        self.entries: list[Entry] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, Any, Any]:
        """Attach our entry to the report, so that it travels between workers."""
        report = yield
        if report.when == "call" or (report.when == "setup" and not report.passed):
            entry = self._entry(item, call, report)
            if entry is not None:
                report.user_properties.append(("tenferro", entry))
        return report

    def _entry(
        self, item: pytest.Item, call: pytest.CallInfo[None], report: Any
    ) -> dict[str, Any] | None:
        entry = entry_of(item)
        if entry is None:
            return None
        unit = parameters_of(item).get("tenferro_unit")
        marker = item.get_closest_marker("tenferro_law")
        is_refusal = marker is not None and marker.kwargs.get("cases") == "unsupported"
        entry |= {
            "verdict": _verdict(report, call, is_refusal),
            "reason": self._reason(report, call, unit, is_refusal),
            "seconds": report.duration,
        }
        if unit and unit.case is not None:
            bug = self.collection.kit.known_bug(unit.backend, unit.case, entry["law"])
            entry |= {"issue": bug.issue} if bug else {}
        worst = max(
            getattr(item, "tenferro_measured", []),
            key=lambda m: m.measured / (m.bound or 1),
            default=None,
        )
        if worst is not None:
            entry.update(max_ulp=worst.measured, bound=worst.bound, tol=worst.tol)
        return entry

    def _reason(
        self, report: Any, call: pytest.CallInfo[None], unit: Unit | None, is_refusal: bool
    ) -> str:
        if getattr(report, "wasxfail", None) is not None:
            return str(report.wasxfail)
        if call.excinfo is not None:
            return f"{call.excinfo.typename}: {call.excinfo.value}"[:400]
        if is_refusal and unit is not None and unit.case is not None:
            return self.collection.kit.selections[unit.backend].why_unsupported(unit.case)[0]
        return ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect entries, from workers too."""
        from tenferro_conformance.reporting.report import Entry

        found: list[Any] = [value for name, value in report.user_properties if name == "tenferro"]
        self.entries += [Entry(**value) for value in found]
        if self.collection.journal is not None and report.when == "call":
            self.collection.journal.ends(report.nodeid, found)
        elif self.collection.journal is not None and found:  # of a set-up that failed
            self.collection.journal.ends(report.nodeid, found)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Say in the journal what starts."""
        journal, entry = self.collection.journal, entry_of(item)
        if journal is not None and entry is not None:
            key = str(entry["id"]).partition("/")[0]
            journal.starts(item.nodeid, entry, alone=journal.runs_alone(key))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Write the report; a selected backend with zero executed cases fails."""
        if hasattr(self.config, "workerinput") or not self._is_used():
            return
        if self.config.option.collectonly:
            return
        problems = self._problems()
        journal = self.collection.journal
        goes_on = journal is not None and bool(journal.open or journal.ended)
        if goes_on or self.config.getoption("--tenferro-shard") is not None:
            problems = []  # whoever adds up the parts judges whether anything ran
            if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
                session.exitstatus = exitstatus = pytest.ExitCode.OK
        self._lines = [
            self._report.summary(name) for name in sorted(self._report.backends)
        ] + problems
        self._failures = self._failure_lines()
        if exitstatus == pytest.ExitCode.TESTS_FAILED and self._only_provisional(session):
            session.exitstatus = exitstatus = pytest.ExitCode.OK
        path = self.config.getoption("--tenferro-report")
        if path:
            self._report.write(Path(path))
        if problems and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _failure_lines(self) -> list[str]:
        """Return the failures, by primitive; whoever adds up children writes them itself."""
        if self.config.getoption("--tenferro-journal") or not runs_the_suite(self.config):
            return []
        from tenferro_conformance.reporting.failures import command_words, failure_lines
        from tenferro_conformance.running.operations import class_or_none

        words = command_words(self._repeated())
        return failure_lines(self._report, words, class_or_none)

    def _repeated(self) -> list[str]:
        """Return the options that a run of one case needs as well."""
        values = [("--level", "--tenferro-level"), ("--mesh", "--tenferro-mesh")]
        given = [(name, self.config.getoption(ours)) for name, ours in values]
        found = [text for name, value in given if value is not None for text in (name, str(value))]
        for text in self.config.getoption("--tenferro-declare"):
            found += ["--declare", text]
        return found

    def _only_provisional(self, session: pytest.Session) -> bool:
        """Return True if only provisional cases failed, which do not count yet."""
        failed = [e for e in self.entries if e.verdict in ("fail", "error")]
        counted = self.config.getoption("--tenferro-strict-new")
        return (
            not counted
            and session.testsfailed == len(failed)
            and all(e.provisional for e in failed)
        )

    def _is_used(self) -> bool:
        if not self.collection.has_kit:
            return False
        kit = self.collection.kit
        return bool(self.entries or kit.selections or kit.unavailable)

    def _problems(self) -> list[str]:
        """Return why a run without failing tests still fails."""
        from tenferro_conformance.reporting.report import Report
        from tenferro_conformance.running.children import problems_of

        about = {
            name: selection.about for name, selection in self.collection.kit.selections.items()
        }
        self._report = Report(
            backends={**about, **self.collection.kit.unavailable},
            date=datetime.date.today().isoformat(),
        )
        self._report.entries = list(self.entries)
        if not runs_the_suite(self.config):
            return []
        return problems_of(
            self._report,
            self.config.getoption("--tenferro-require"),
            self.config.getoption("--tenferro-backend"),
            laws=self.config.getoption("--tenferro-laws"),
            asked=self.collection.primitives(),
        )

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write one line per backend."""
        for line in getattr(self, "_failures", ()):
            terminalreporter.write_line(line)
        for line in getattr(self, "_lines", ()):
            terminalreporter.write_line(f"tenferro: {line}")


def _verdict(report: Any, call: pytest.CallInfo[None], is_refusal: bool) -> str:
    if hasattr(report, "wasxfail"):
        return "xfail"
    if report.passed:
        return "unsupported" if is_refusal else "pass"
    if report.skipped:
        return "not_selected"
    return "fail" if call.excinfo is None or call.excinfo.errisinstance(AssertionError) else "error"

"""Crashes: a run that goes on in another process when its own has ended within a test.

A kernel of a backend may end the process, which no Python code sees. The journal tells which test
ran then. Read `journal.py` next.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

from tenferro_conformance.reporting.report import Entry, Report
from tenferro_conformance.running.journal import Journal, Started

__all__ = ["found_before_crashes", "go_on"]

_CRASHED = 1
#: codes of a process that somebody stopped, and of pytest's usage errors
_STOPPED = frozenset({2, 4, -signal.SIGINT, -signal.SIGTERM})


def go_on(run: Callable[[], int], journal_path: Path, report: Path) -> int:
    """Run a process, after a crash another one with what is left; return the exit code."""
    before = Journal(journal_path)
    while True:
        code = run()
        journal = Journal.read(journal_path)
        if report.exists() or code in _STOPPED:
            return code or (_CRASHED if journal.open else 0)
        if journal.open == before.open:  # no test ended this process
            return code
        for test, started in journal.open.items():
            if before.open.get(test) != started:
                print(_line(started, code), flush=True)
        before = journal


def _line(started: Started, code: int) -> str:
    names = {-number.value: number.name for number in signal.Signals}
    again = "" if started.alone else "; it runs again, alone"
    return (
        f"tenferro: the process ended ({names.get(code, f'exit code {code}')}) in "
        f"{started.entry['id']} [{started.entry['law']}]{again}; the run goes on"
    )


def found_before_crashes(journal_path: Path) -> Report:
    """Return what the processes of a run have found, also those that wrote no report."""
    journal = Journal.read(journal_path)
    crashed = [
        Entry(**started.entry, verdict="error", reason="the process ended in this case")
        for started in journal.open.values()
    ]
    return Report(entries=[*(Entry(**row) for row in journal.entries), *crashed])

"""Report of a run: verdicts, counts, and the JSON file that `matrix` and `diff` read.

An entry is one law on one case on one backend. Entries travel as plain dictionaries, so that
parallel workers and child processes can hand them over. Imports the standard library only. Read
`matrix.py` next.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from tenferro_conformance import SUITE_VERSION

__all__ = ["SCHEMA", "VERDICTS", "BackendReport", "Entry", "Report", "read_report"]

SCHEMA = 1
Verdict = Literal["pass", "fail", "error", "xfail", "unsupported", "unavailable", "not_selected"]
VERDICTS: tuple[Verdict, ...] = (
    "pass",
    "fail",
    "error",
    "xfail",
    "unsupported",
    "unavailable",
    "not_selected",
)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One law on one case."""

    id: str
    law: str
    verdict: Verdict
    backend: str = ""  # empty: the law needs none
    reason: str = ""
    issue: str = ""
    max_ulp: float | None = None
    tol: str = ""
    bound: float | None = None
    level: int | None = None
    provisional: bool = False
    seconds: float = 0.0


@dataclass(kw_only=True)
class BackendReport:
    """Report about one backend: what it is, what it claims, and what was found."""

    name: str
    status: Literal["available", "unavailable", "broken"] = "available"
    reason: str = ""
    claim: str = ""
    level: int | None = None
    ad: bool = True
    features: list[str] = field(default_factory=list)
    dtypes: list[str] = field(default_factory=list)
    distribution: str = ""
    libraries: dict[str, str] = field(default_factory=dict)
    devices: list[str] = field(default_factory=list)
    not_selected: int = 0

    def row(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        return asdict(self)


@dataclass(kw_only=True)
class Report:
    """All backends of a run and all entries."""

    backends: dict[str, BackendReport] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    date: str = ""

    def executed(self, backend: str) -> int:
        """Count the entries of a backend that ran."""
        return sum(
            e.backend == backend and e.verdict in ("pass", "fail", "error", "xfail")
            for e in self.entries
        )

    def failed(self, backend: str, *, strict_new: bool = False) -> list[Entry]:
        """Return entries that count against a backend; provisional ones only if asked for."""
        bad = [e for e in self.entries if e.backend == backend and e.verdict in ("fail", "error")]
        return [e for e in bad if strict_new or not e.provisional]

    def counts(self, backend: str) -> dict[str, int]:
        """Number of entries by verdict."""
        found = Counter(e.verdict for e in self.entries if e.backend == backend)
        found["not_selected"] += self.backends[backend].not_selected
        if self.backends[backend].status != "available":
            found["unavailable"] += 1
        return {verdict: found[verdict] for verdict in VERDICTS}

    def merge(self, other: Report) -> None:
        """Take over another report; entries of one law on one case are not counted twice."""
        self.backends.update(other.backends)
        have = {(e.backend, e.law, e.id) for e in self.entries}
        self.entries += [e for e in other.entries if (e.backend, e.law, e.id) not in have]
        self.date = self.date or other.date

    def as_json(self) -> dict[str, Any]:
        """Return the content of the file."""
        return {
            "schema": SCHEMA,
            "date": self.date,
            "suite": SUITE_VERSION,
            **_environment(),
            "backends": {
                name: {**backend.row(), "counts": self.counts(name)}
                for name, backend in sorted(self.backends.items())
            },
            "cases": [
                _compact(e) for e in sorted(self.entries, key=lambda e: (e.backend, e.law, e.id))
            ],
        }

    def write(self, path: Path) -> None:
        """Write the file, one case per line."""
        content = self.as_json()
        cases = ",\n".join(json.dumps(case) for case in content.pop("cases"))
        head = json.dumps(content, indent=1)[:-2]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'{head},\n "cases": [\n{cases}\n]\n}}\n')

    def summary(self, backend: str) -> str:
        """Return one line for a terminal."""
        about = self.backends[backend]
        if about.status != "available":
            return f"{backend}: {about.status} ({about.reason})"
        counts = ", ".join(f"{n} {verdict}" for verdict, n in self.counts(backend).items() if n)
        ran = self._extent(backend)
        return f"{backend}: {counts or 'nothing ran'}{ran}; claim: {about.claim or 'none'}"

    def _extent(self, backend: str) -> str:
        """Return how much was run, which is less than the claim where a run asks for less."""
        entries = [e for e in self.entries if e.backend == backend and "::" in e.id]
        if not entries:
            return ""
        primitives, cases = {e.id.split("/")[0] for e in entries}, {e.id for e in entries}
        laws, levels = {e.law for e in entries}, [e.level or 0 for e in entries]
        return (
            f"; ran: {len(primitives)} primitives, {len(cases)} cases, {len(laws)} laws, "
            f"up to level {max(levels)}"
        )


def _compact(entry: Entry) -> dict[str, Any]:
    """Return an entry without empty fields."""
    row = asdict(entry)
    row["seconds"] = round(entry.seconds, 4)
    return {name: value for name, value in row.items() if value not in ("", None, False)}


def _environment() -> dict[str, Any]:
    from tenferro import API_VERSION

    return {
        "core": _version("tenferro"),
        "kit": _version("tenferro-conformance"),
        "api": list(API_VERSION),
        "python": platform.python_version(),
        "platform": f"{sys.platform} {platform.machine()}",
        "environment": {k: v for k, v in sorted(os.environ.items()) if k.startswith("TENFERRO_")},
    }


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def read_report(path: Path) -> Report:
    """Read a file that `Report.write` wrote; another schema is refused."""
    content = json.loads(path.read_text())
    if content.get("schema") != SCHEMA:
        raise ValueError(
            f"{path}: schema {content.get('schema')!r}; this version reads schema {SCHEMA}"
        )
    backends = {name: _backend(row) for name, row in content["backends"].items()}
    return Report(
        backends=backends, entries=[Entry(**row) for row in content["cases"]], date=content["date"]
    )


def _backend(row: Mapping[str, Any]) -> BackendReport:
    return BackendReport(**{name: value for name, value in row.items() if name != "counts"})


def merge_reports(reports: Iterable[Report]) -> Report:
    """Merge several reports into one."""
    merged = Report()
    for report in reports:
        merged.merge(report)
    return merged

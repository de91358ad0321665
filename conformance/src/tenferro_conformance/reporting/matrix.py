"""Two readers of reports: `columns` (what the page of compatibility says of each backend) and
`diff` (what became worse).

Neither runs anything. A column states date, device and suite version, and a backend that was not
run has no column. Read `report.py` for what a report holds, `page.py` for the page.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenferro_conformance.reporting.page import Column, Part
from tenferro_conformance.reporting.report import Entry, Report, merge_reports

__all__ = ["columns", "diff"]

_ORDER = ("fail", "error", "xfail", "unsupported", "pass")
_SIGNS = {
    "pass": "✓",
    "fail": "**fails**",
    "error": "**error**",
    "xfail": "known bug",
    "unsupported": "—",
}


def columns(reports: Sequence[Report]) -> dict[str, Column]:
    """Return the column of each backend that was run."""
    merged = merge_reports(reports)
    available = [name for name, about in merged.backends.items() if about.status == "available"]
    return {name: _column(merged, name, _date(reports, name)) for name in available}


def _date(reports: Sequence[Report], name: str) -> str:
    """Return the day of the newest report that has the backend."""
    return max(report.date for report in reports if name in report.backends)


def _column(merged: Report, name: str, date: str) -> Column:
    about, counts = merged.backends[name], merged.counts(name)
    libraries = ", ".join(f"{lib} {version}" for lib, version in sorted(about.libraries.items()))
    version = " · ".join(part for part in (about.distribution, libraries) if part)
    failed = counts["fail"] + counts["error"]
    row = (about.claim, version, ", ".join(about.devices), date, str(counts["pass"]), str(failed))
    found: dict[str, list[Entry]] = {}
    for entry in merged.entries:
        if entry.backend == name and "::" in entry.id:
            found.setdefault(entry.id.split("/")[0], []).append(entry)
    return Column(row, {primitive: _cell(entries) for primitive, entries in found.items()})


def _cell(entries: Sequence[Entry]) -> tuple[Part, ...]:
    """Return the number of passes with the largest error, then every other verdict."""
    passed = sum(e.verdict == "pass" for e in entries)
    errors = [e.max_ulp for e in entries if e.max_ulp and e.law == "value"]
    shown = f"✓ {passed}" + (f" ({max(errors):.2g})" if errors else "")
    others = [v for v in _ORDER if v != "pass" and any(e.verdict == v for e in entries)]
    found = [Part(shown)] if passed else []
    return (*found, *(Part(_SIGNS[verdict], _reasons(entries, verdict)) for verdict in others))


def _reasons(entries: Sequence[Entry], verdict: str) -> tuple[str, ...]:
    """Return the reasons of a verdict, each once."""
    reasons = {_reason(e) for e in entries if e.verdict == verdict}
    return tuple(sorted(reasons))


def _reason(entry: Entry) -> str:
    first = (entry.reason or entry.verdict).strip().splitlines()[0]
    return f"{first} ({entry.issue})" if entry.issue else first


def diff(old: Report, new: Report) -> list[str]:
    """Return one line per regression: a worse verdict, or an error beyond its bound."""
    before = {(e.backend, e.law, e.id): e for e in old.entries}
    after = {(e.backend, e.law, e.id): e for e in new.entries}
    lines = []
    for key in sorted(before):
        if key[0] not in new.backends:
            continue
        then, now = before[key], after.get(key)
        where = f"{key[0]} {key[2]} [{key[1]}]"
        if now is None:
            lines += [f"{where}: {then.verdict} → not run"] if then.verdict == "pass" else []
        elif then.verdict in ("pass", "xfail") and now.verdict not in ("pass", "xfail"):
            lines.append(f"{where}: {then.verdict} → {now.verdict} ({_reason(now)})")
        elif now.max_ulp is not None and now.bound is not None and now.max_ulp > now.bound:
            lines.append(f"{where}: error {now.max_ulp:.3g} beyond its bound {now.bound:.3g}")
    return lines

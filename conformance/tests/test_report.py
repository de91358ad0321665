"""Reports survive the file, the matrix says what was found, diff finds what became worse."""

import json

import pytest

from tenferro.primitives import Square
from tenferro_conformance import cli
from tenferro_conformance.reporting.failures import failure_lines
from tenferro_conformance.reporting.matrix import diff, matrix
from tenferro_conformance.reporting.report import BackendReport, Entry, Report, read_report


def _report(**verdicts):
    entries = [
        Entry(
            id=f"std::{name}/wide/float64",
            law="value",
            backend="mine",
            verdict=verdict,
            reason=f"why {name}",
            max_ulp=0.5,
            bound=1.0,
        )
        for name, verdict in verdicts.items()
    ]
    about = BackendReport(
        name="mine", claim="level 2+AD under suite 1.0", distribution="mine 1.2", devices=["cpu"]
    )
    return Report(backends={"mine": about}, entries=entries, date="2025-01-31")


def test_round_trip(tmp_path):
    report = _report(add="pass", svd="unsupported", sum="xfail")
    report.write(tmp_path / "a" / "report.json")
    content = json.loads((tmp_path / "a" / "report.json").read_text())
    assert content["schema"] == 1
    assert {"suite", "core", "api", "python", "platform", "environment"} <= set(content)
    assert content["backends"]["mine"]["counts"] == {
        "pass": 1, "fail": 0, "error": 0, "xfail": 1, "unsupported": 1, "unavailable": 0,
        "not_selected": 0,
    }  # fmt: skip
    assert read_report(tmp_path / "a" / "report.json").entries == sorted(
        report.entries, key=lambda e: e.id
    )


def test_another_schema_is_refused(tmp_path):
    (tmp_path / "x.json").write_text('{"schema": 2}')
    with pytest.raises(ValueError, match="schema"):
        read_report(tmp_path / "x.json")


def test_provisional_failures_are_reported_but_not_counted():
    report = Report(backends={"mine": BackendReport(name="mine")})
    report.entries = [
        Entry(
            id="std::new/wide/float64",
            law="value",
            backend="mine",
            verdict="fail",
            provisional=True,
        )
    ]
    assert report.failed("mine") == []
    assert len(report.failed("mine", strict_new=True)) == 1


def test_matrix_has_reasons_as_footnotes_and_no_column_for_what_did_not_run():
    report = _report(add="pass", svd="unsupported", sum="fail")
    report.backends["gone"] = BackendReport(name="gone", status="unavailable", reason="no device")
    text = matrix([report])
    assert "| primitive | mine |" in text
    assert "| `std::add` | ✓ 1 (0.5) |" in text
    assert "| `std::svd` | —[^" in text
    assert "**fails**" in text
    assert "why svd" in text
    assert "level 2+AD under suite 1.0" in text
    assert "2025-01-31" in text


@pytest.mark.parametrize(
    "then, now, count",
    [
        ("pass", "pass", 0),
        ("pass", "fail", 1),
        ("pass", "unsupported", 1),
        ("xfail", "pass", 0),
        ("fail", "fail", 0),
        ("xfail", "error", 1),
    ],
)
def test_diff_finds_regressions_of_verdicts(then, now, count):
    assert len(diff(_report(add=then), _report(add=now))) == count


def test_diff_finds_what_was_not_run_and_errors_beyond_their_bound(tmp_path, capsys):
    old, new = _report(add="pass", mul="pass"), _report(add="pass")
    assert len(diff(old, new)) == 1
    new.entries = [
        Entry(**{**vars(e), "max_ulp": 3.0}) for e in _report(add="pass", mul="pass").entries
    ]
    assert len(diff(old, new)) == 2
    old.write(tmp_path / "old.json")
    new.write(tmp_path / "new.json")
    assert cli.main(["diff", str(tmp_path / "old.json"), str(tmp_path / "new.json")]) == 1
    assert cli.main(["diff", str(tmp_path / "old.json"), str(tmp_path / "old.json")]) == 0
    assert cli.main(["matrix", str(tmp_path / "old.json"), "-o", str(tmp_path / "m.md")]) == 0
    assert "std::mul" in (tmp_path / "m.md").read_text()


@pytest.mark.parametrize(
    "reason, law, suspect",
    [
        ("ToleranceError: off by 3", "value", "`decompose` of std::square, or a number"),
        ("UnsupportedError: flat has no complex128", "adjoint", "the claim of the backend"),
        ("MissingLoweringError: flat cannot run", "value", "the claim of the backend"),
    ],
)
def test_a_failure_points_at_the_rule_the_row_or_the_claim(reason, law, suspect):
    entry = Entry(
        id="std::square/wide/float64", backend="mine", law=law, verdict="fail", reason=reason
    )
    report = Report(backends={"mine": BackendReport(name="mine")}, entries=[entry])
    lines = failure_lines(report, ["run"], lambda key: Square)
    assert any(suspect in line for line in lines), lines

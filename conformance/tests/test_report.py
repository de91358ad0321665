"""Reports survive the file, the matrix says what was found, diff finds what became worse."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tenferro.primitives import Square
from tenferro_conformance import cli
from tenferro_conformance.errors import PageError
from tenferro_conformance.reporting.failures import failure_lines
from tenferro_conformance.reporting.matrix import columns, diff
from tenferro_conformance.reporting.page import read_page, write_page
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
    """A report that is read again has the entries that were written"""
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
    text = write_page(columns([report]))
    assert "| primitive | mine |" in text
    assert "| `std::add` | ✓ 1 (0.5) |" in text
    assert "| `std::svd` | —[^" in text
    assert "**fails**" in text
    assert "why svd" in text
    assert "level 2+AD under suite 1.0" in text
    assert "2025-01-31" in text


def _named(name, date, **verdicts):
    """Report of `_report` about a backend of another name, at another day"""
    report = _report(**verdicts)
    about = replace(report.backends["mine"], name=name)
    entries = [replace(entry, backend=name) for entry in report.entries]
    return Report(backends={name: about}, entries=entries, date=date)


def test_a_page_is_read_as_it_was_written():
    reports = [
        _named("one", "2025-01-31", add="pass", svd="unsupported", sum="fail"),
        _named("two", "2025-02-01", add="xfail", qr="pass"),
    ]
    found = columns(reports)
    assert read_page(write_page(found)) == found
    assert [found[name].about[3] for name in ("one", "two")] == ["2025-01-31", "2025-02-01"]


def test_one_backend_replaces_its_column_and_leaves_the_others(tmp_path):
    page = tmp_path / "page.md"
    one = _named("one", "2025-01-31", add="pass", svd="unsupported")
    old = _named("two", "2025-01-31", add="fail", gone="unsupported")
    new = _named("two", "2025-03-01", add="unsupported", qr="pass")
    for name, report in {"one": one, "old": old, "new": new}.items():
        report.write(tmp_path / f"{name}.json")
    files = [str(tmp_path / f"{name}.json") for name in ("one", "old", "new")]
    assert cli.main(["matrix", *files[:2], "-o", str(page)]) == 0
    assert cli.main(["matrix", files[2], "--into", str(page)]) == 0
    assert page.read_text() == write_page(columns([one, new]))
    assert "std::gone" not in page.read_text()


def test_a_backend_is_measured_into_a_page(tmp_path, monkeypatch):
    page, asked = tmp_path / "page.md", []
    page.write_text(write_page(columns([_named("one", "2025-01-31", add="pass")])))

    def run(names, arguments, **options):
        asked.append((names, options["laws"], options["jobs"]))
        _named("two", "2025-02-01", add="fail").write(Path(options["report"]))
        return 1

    monkeypatch.setattr("tenferro_conformance.running.children.run_children", run)
    monkeypatch.setattr("tenferro_conformance.running.backends.resolve_names", list)
    assert cli.main(["matrix", "--measure", "two", "--jobs", "3", "--into", str(page)]) == 1
    assert asked == [(["two"], "backend", 3)]
    assert set(read_page(page.read_text())) == {"one", "two"}


@pytest.mark.parametrize("text", ["# Compatibility\n", "| backend | claim |\n|---|---|\n"])
def test_a_file_that_is_not_such_a_page_is_left_before_anything_runs(tmp_path, capsys, text):
    (tmp_path / "page.md").write_text(text)
    assert cli.main(["matrix", "--measure", "numpy", "--into", str(tmp_path / "page.md")]) == 2
    assert "page.md: no table with the column" in capsys.readouterr().err
    assert (tmp_path / "page.md").read_text() == text


def test_a_page_whose_tables_name_other_backends_is_refused():
    text = write_page(columns([_named("one", "2025-01-31", add="pass")]))
    with pytest.raises(PageError, match=r"has the rows \['two'\]"):
        read_page(text.replace("| one | level", "| two | level"))


def test_a_matrix_of_nothing_says_what_to_name(capsys):
    assert cli.main(["matrix"]) == 2
    assert "--measure" in capsys.readouterr().err


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


@pytest.mark.parametrize(
    "laws, suspect",
    [
        (["derivative", "lowering"], "`decompose`, or the lowering"),
        (["derivative"], "`derivative`"),
    ],
)
def test_a_rule_is_no_suspect_where_lowering_and_decomposition_disagree(laws, suspect):
    """Differences of what the lowering computes are no evidence about a rule."""
    entries = [
        Entry(id="std::square/wide/float64", backend="mine", law=law, verdict="fail", reason="off")
        for law in laws
    ]
    report = Report(backends={"mine": BackendReport(name="mine")}, entries=entries)
    lines = failure_lines(report, ["run"], lambda key: Square)
    assert [line for line in lines if "suspect" in line] == [f"  suspect: {suspect} of std::square"]

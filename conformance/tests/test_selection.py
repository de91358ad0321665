"""What `-k`, `--case` and `--law` choose: the tests that pytest would keep, made alone."""

import subprocess
import sys

import pytest

from tenferro_conformance.profile import Profile
from tenferro_conformance.reporting.report import BackendReport, read_report
from tenferro_conformance.running.keywords import Keywords
from tenferro_conformance.running.selection import Kit, Selection
from tenferro_conformance.samples import load_cases

SHARED = ["suite", "test_value.py", "test_value", "tenferro_law"]


@pytest.mark.parametrize(
    "expression, holds",
    [
        ("sin/wide", True),
        ("cos", False),
        ("TEST_VALUE and not Float32", True),
        ("not (sin or cos)", False),
        ("test_aval or tenferro_law", True),
        ("xfail", True),
        ("test_value[numpy-std::sin", True),
        ("numpy and", True),  # an error, of which pytest informs
        ("sin 'quoted'", True),  # not pytest's grammar, or not yet
        ("True", False),
    ],
)
def test_a_test_is_dropped_if_its_names_do_not_match(expression, holds):
    chooses = Keywords(expression).among(SHARED)
    assert chooses("test_value[numpy-std::sin/wide/float64]", "xfail") is holds


def _run(folder, *options, collect_only=True):
    command = [sys.executable, "-m", "tenferro_conformance", "run", "--backend", "numpy"]
    done = subprocess.run(
        [*command, *(["--collect-only"] if collect_only else []), *options],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return {line for line in done.stdout.splitlines() if "::test_" in line}


def test_what_is_made_is_what_pytest_keeps(tmp_path, monkeypatch):
    """With the choice before tests are made, and without."""
    chosen = ["--primitive=std::neg", "-k", "(test_value and not float32) or lowering or adjoint"]
    found = _run(tmp_path, *chosen)
    (tmp_path / "made.py").write_text(
        "from tenferro_conformance.running.collection import Collection\n"
        "Collection._chooser = lambda self, metafunc: None\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert found == _run(tmp_path, *chosen, "-p", "made")
    assert {name.partition("[")[0].rpartition("::")[2] for name in found} > {"test_value"}


def test_one_law_of_one_case(tmp_path):
    _run(
        tmp_path, "--case", "std::neg/*/float64", "--law", "value", "--law", "adjoint",
        "--report", "r.json", collect_only=False,
    )  # fmt: skip
    entries = read_report(tmp_path / "r.json").entries
    assert {entry.law for entry in entries} == {"value", "adjoint"}
    assert {entry.id.partition("/")[0] for entry in entries} == {"std::neg"}
    assert {entry.id.rpartition("/")[2] for entry in entries} == {"float64"}


def test_cases_of_some_primitives_are_those_of_all():
    """The same cases, in the same order."""
    some, everything = (Kit(["numpy"], None, primitives=p) for p in (("std::sin", "*::ne?"), ()))
    wanted = {"std::sin", "std::neg"}
    assert list(some.cases) == [c for c in everything.cases if c.primitive in wanted]
    assert {case.primitive for case in some.cases} == wanted


def test_a_backend_without_complex_numbers_is_asked_for_no_complex_step(run_suite):
    _, report = run_suite("test_derivative.py", "complex_step", without="complex")
    assert report.executed("loopback") == 0
    assert report.failed("loopback") == []


def selection(level=2, features=("f64", "complex", "int64"), dtypes=()):
    about = BackendReport(name="mine", dtypes=list(dtypes))
    return Selection(Profile(level=level), frozenset(features), level, about)


@pytest.mark.parametrize(
    "other, runs",
    [
        ({}, True),
        ({"level": 1}, False),
        ({"features": {"f64", "int64"}}, False),
        ({"dtypes": {"bool", "int64", "float64", "complex128"}}, False),
    ],
)
def test_tests_of_core_need_level_2_and_complex_numbers(other, runs):
    assert selection(**other).runs_golden is runs


@pytest.mark.parametrize(
    "key, features, may_run",
    [
        ("std::bessel_i", {"f64"}, True),
        ("std::bessel_i", {"f64", "special"}, False),
        ("std::bessel_i", set(), False),
        ("std::erf", {"f64"}, False),
    ],
)
def test_a_special_function_that_decomposes_need_not_be_refused(key, features, may_run):
    case = next(c for c in load_cases((key,)) if c.dtype == "float64")
    assert selection(features=features).may_run(case) is may_run

"""The pytest plugin: inert elsewhere, strict where it counts, and never green on nothing."""

import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest

from tenferro_conformance.errors import ProfileError
from tenferro_conformance.running import selection
from tenferro_conformance.running.declared import declare
from tenferro_conformance.running.selection import Kit


@pytest.fixture
def profile_of_loopback(tmp_path, monkeypatch):
    """Write a pytest plugin that replaces the profile of the loopback backend."""

    def write(expression):
        (tmp_path / "other_profile.py").write_text(
            "from tenferro_conformance.kit import register_profile\n"
            "from tenferro_conformance.profile import Exclude, Profile, Slow\n"
            "from tenferro_conformance.errors import ToleranceError\n"
            f"def pytest_sessionstart(session): register_profile('loopback', {expression})\n"
        )
        monkeypatch.syspath_prepend(str(tmp_path))
        return ["-p", "other_profile", f"--override-ini=pythonpath={tmp_path}"]

    return write


def _pytest(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


def test_inert_in_other_projects(tmp_path):
    """A project that never heard of tenferro runs as before; its ini cannot be broken by ours."""
    (tmp_path / "test_other.py").write_text(
        "import sys\ndef test_nothing_is_loaded():\n"
        "    assert not {'tenferro', 'numpy', 'mpmath'} & set(sys.modules)\n"
    )
    done = _pytest("-q", "-p", "no:cacheprovider", "--strict-markers", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "tenferro" not in done.stdout


def test_an_unknown_backend_is_a_usage_error(tmp_path):
    done = _pytest(
        "--pyargs", "tenferro_conformance.suite", "--tenferro-backend=nump", cwd=tmp_path
    )
    assert done.returncode != 0
    assert "no backend is called 'nump'" in done.stdout + done.stderr


def test_zero_executed_cases_fail(run_suite):
    """Everything deselected: exit code 1, not 5 and not 0."""
    done, report = run_suite("test_value.py", "no_such_case")
    assert done.returncode == 1, done.stdout
    assert "executed no case" in done.stdout
    assert "--declare" not in done.stdout
    assert report.executed("loopback") == 0


@pytest.mark.parametrize(
    "select, raises, verdict, code",
    [
        ("off-by-one axis", "ToleranceError", "xfail", 0),
        ("", "ToleranceError", "fail", 1),
        ("off-by-one axis", "KeyError", "fail", 1),
    ],
    ids=["a known bug", "a bug that was fixed", "another error"],
)
def test_known_bugs_are_strict_whatever_the_ini_says(
    run_suite, profile_of_loopback, tmp_path, select, raises, verdict, code
):
    profile = (
        "Profile(exclusions=[Exclude('std::reduce_sum/tall/float64', kind='known_bug', reason='r', "
        "issue='i', until='2100-01-01', "
        f"raises={raises})])"
    )
    extra = [*profile_of_loopback(profile), "--override-ini=xfail_strict=false"]
    done, report = run_suite(
        "test_value.py", "tall", mutant=select, primitives=["std::reduce_sum"], extra=extra
    )
    assert [e.verdict for e in report.entries] == [verdict], done.stdout
    assert done.returncode == code, done.stdout


def test_a_rotten_profile_stops_the_run(run_suite, profile_of_loopback):
    extra = profile_of_loopback(
        "Profile(exclusions=[Exclude('std::voigt/*', kind='unsupported', reason='r')])"
    )
    done, _ = run_suite("test_value.py", "add", extra=extra)
    assert done.returncode != 0
    assert "matches no case" in done.stdout + done.stderr


def test_a_claimed_level_fails_with_an_unsupported_case(run_suite, profile_of_loopback):
    extra = profile_of_loopback(
        "Profile(exclusions=[Exclude('std::add/nan/*', kind='unsupported', reason='too hard')])"
    )
    done, report = run_suite("test_unsupported.py", primitives=["std::add"], extra=extra)
    assert done.returncode == 1
    assert {e.verdict for e in report.entries if "bfloat16" not in e.id} == {"fail"}
    assert "level 2 is claimed" in done.stdout


def test_a_required_backend_must_be_available(tmp_path):
    from tenferro_conformance.reporting.report import BackendReport, Entry, Report
    from tenferro_conformance.running.children import problems_of

    ran = Entry(id="a/b/c", law="value", backend="here", verdict="pass")
    report = Report(
        backends={
            "here": BackendReport(name="here"),
            "gone": BackendReport(name="gone", status="unavailable", reason="no device"),
        },
        entries=[ran],
    )
    assert problems_of(report, require=()) == []
    assert problems_of(report, require=("gone",)) == ["gone is required and unavailable: no device"]
    report.backends["odd"] = BackendReport(name="odd", status="broken", reason="no library")
    assert problems_of(report, require=()) == []
    assert problems_of(report, require=(), chosen=["odd"]) == ["odd is broken: no library"]
    del report.backends["odd"]
    report.entries = []
    assert problems_of(report, require=()) == ["here was selected and executed no case"]
    (problem,) = problems_of(report, require=(), asked=("acme::*",))
    assert "no case of acme::*" in problem
    assert "--declare" in problem
    del report.backends["here"]
    assert problems_of(report, require=()) == [
        "no selected backend is available, so nothing was tested"
    ]


def test_the_command_line_runs_one_backend(tmp_path):
    """Door 1: its own ini and root directory, so the caller's addopts change nothing."""
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    command = [
        sys.executable,
        "-m",
        "tenferro_conformance",
        "run",
        "--backend",
        "numpy",
        "--report",
        "numpy.json",
        "--primitive=std::add",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "numpy:" in done.stdout
    assert (tmp_path / "numpy.json").exists()


def test_several_backends_run_in_several_processes(tmp_path):
    """Door 2 with two backends: a process each, one report."""
    done = _pytest(
        "--pyargs", "tenferro_conformance.suite", "--tenferro-backend=numpy",
        "--tenferro-backend=xla", "--tenferro-primitive=std::neg", "-k", "test_value",
        "-p", "no:cacheprovider", "--tenferro-report=both.json", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    from tenferro_conformance.reporting.report import read_report

    report = read_report(tmp_path / "both.json")
    assert {e.backend for e in report.entries} == {"numpy", "xla"}


@pytest.mark.parametrize("option, code", [("", 0), ("--tenferro-strict-new", 1)])
def test_provisional_cases_count_only_if_asked(run_suite, tmp_path, monkeypatch, option, code):
    """A new case that fails is reported, and fails the run only under --tenferro-strict-new."""
    (tmp_path / "new_case.py").write_text(
        "from dataclasses import replace\n"
        "from tenferro_conformance.kit import register_cases\n"
        "from tenferro_conformance.samples import load_cases\n"
        "def pytest_sessionstart(session):\n"
        "    old = next(c for c in load_cases() if c.id == 'std::add/scalar/float64')\n"
        "    wrong = (replace(old.expected[0], data=(7.0,)),)\n"
        "    new = replace(old, id='std::add/wrong/float64', expected=wrong, provisional=True)\n"
        "    register_cases([new])\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    extra = [
        "-p",
        "new_case",
        f"--override-ini=pythonpath={tmp_path}",
        *([option] if option else []),
    ]
    done, report = run_suite("test_value.py", primitives=["std::add"], extra=extra)
    assert [e.id for e in report.failed("loopback", strict_new=True)] == ["std::add/wrong/float64"]
    assert done.returncode == code, done.stdout


def _entries(run_suite, *options):
    """The laws and cases that a run of a few primitives judged."""
    from tenferro_conformance.running.children import SUITE

    files = [str(SUITE / "test_closure.py"), str(SUITE / "test_golden_rules.py")]
    primitives = ["std::add", "std::neg", "std::tanh"]
    done, report = run_suite("test_value.py", primitives=primitives, extra=[*files, *options, "-q"])
    assert done.returncode == 0, done.stdout
    return sorted((e.law, e.id) for e in report.entries)


def test_the_parts_are_the_whole(run_suite):
    """Every law and case runs in one of the parts; a law runs a backend or is about graphs alone"""
    whole = _entries(run_suite)
    parts = [_entries(run_suite, f"--tenferro-shard={k}/2") for k in (1, 2)]
    assert sorted([*parts[0], *parts[1]]) == whole
    assert all(parts)
    graph, backend = (
        _entries(run_suite, f"--tenferro-laws={kind}") for kind in ("graph", "backend")
    )
    assert {law for law, _ in graph} >= {"closure"}
    assert {law for law, _ in backend} >= {"value"}
    assert sorted([*graph, *backend]) == whole


def test_parts_are_about_equal():
    """Whichever primitives are in which: the larger part has at most a hundredth more cases."""
    kit = Kit(["numpy"], None)
    parts = [kit.shard(k, 2) for k in (1, 2)]
    sizes = [sum(case.primitive in part for case in kit.cases) for part in parts]
    assert max(sizes) <= 1.01 * min(sizes)


def test_quick_and_rest_are_full_and_deep_is_all(run_suite, profile_of_loopback):
    """quick + rest = full, no case is in both; what the profile calls slow is in `deep` alone"""
    slow = "Slow(cases=('std::tanh/*',), but={'value': ('*/float64',)}, reason='r')"
    profile = profile_of_loopback(f"Profile(level=3, features=None, slow=[{slow}])")
    tiers = ("quick", "rest", "full", "deep")
    quick, rest, full, deep = (
        _entries(run_suite, *profile, f"--tenferro-tier={tier}") for tier in tiers
    )
    assert sorted([*quick, *rest]) == full
    assert quick
    assert deep == _entries(run_suite, *profile)
    left_out = {entry for entry in deep if entry not in full}
    assert left_out == {
        (law, case)
        for law, case in deep
        if law == "value" and case.startswith("std::tanh/") and not case.endswith("/float64")
    }
    assert left_out


def test_cases_of_one_primitive_alone(run_suite):
    done, report = run_suite("test_value.py", primitives=["std::neg", "std::add"])
    assert done.returncode == 0, done.stdout
    assert {entry.id.partition("/")[0] for entry in report.entries} == {"std::neg", "std::add"}


def test_cases_that_no_installation_publishes(run_suite, tmp_path, monkeypatch):
    """`--declare` names the profile and the cases; `--primitive` takes patterns."""
    (tmp_path / "mine.py").write_text(
        "from tenferro_conformance.profile import Profile\n"
        "from tenferro_conformance.samples.table import Row, table\n"
        "PROFILE = Profile(level=0)\n"
        "CASES = table('std::neg', Row(edge='mine', inputs=([1.0],), expected=[-1.0]), level=0)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    done, report = run_suite(
        "test_value.py",
        extra=["--tenferro-declare=loopback=mine:PROFILE", "--tenferro-declare=x=mine:CASES",
               "--tenferro-primitive=*::ne?", f"--override-ini=pythonpath={tmp_path}"],
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert {entry.id for entry in report.entries} == {
        f"std::neg/mine/{d}" for d in ("float32", "float64")
    }


@pytest.mark.parametrize("text", ["loopback", "x=json", "x=json:no_such", "x=no_such_module:y"])
def test_a_declaration_that_names_nothing_is_refused(text):
    with pytest.raises(ProfileError, match=text):
        declare(text)


def test_a_declared_module_that_raises_is_refused_with_its_error(tmp_path, monkeypatch):
    """and so is one that an entry point names"""
    (tmp_path / "raising.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ProfileError, match=r"raising:CASES.* raises ZeroDivisionError"):
        declare("x=raising:CASES")
    point = EntryPoint("x", "raising:CASES", "tenferro.conformance")
    monkeypatch.setattr(selection, "published", lambda: {"x": point})
    with pytest.raises(ProfileError, match=r"'x' .*raising:CASES.* raises ZeroDivisionError"):
        selection._published_cases("x")


def test_a_row_that_does_not_fit_is_said_once_and_without_a_traceback(run_suite, tmp_path):
    (tmp_path / "mine.py").write_text(
        "from tenferro_conformance.samples.table import Row, table\n"
        "ROW = Row(edge='mine', inputs=([1.0],), expected=None)\n"
        "CASES = [table('std::add', ROW, level=0)]\n"
    )
    extra = ["--tenferro-declare=x=mine:CASES", f"--override-ini=pythonpath={tmp_path}"]
    done, _ = run_suite(extra=extra)
    assert done.returncode == pytest.ExitCode.INTERRUPTED
    assert done.stdout.count("std::add/mine/float32: the primitive takes 2 inputs") == 1
    assert "selection.py" not in done.stdout


def test_the_command_says_its_version():
    """`python -m tenferro_conformance --version` names the kit and the suite."""
    from importlib.metadata import version

    from tenferro_conformance import SUITE_VERSION

    command = [sys.executable, "-m", "tenferro_conformance", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    kit = version("tenferro-conformance")
    assert done.stdout == f"tenferro-conformance {kit}, suite {SUITE_VERSION}\n"


def test_pytest_knows_each_option_of_the_command(pytestconfig):
    """The value of every option of `run` has its place among the options of pytest."""
    from tenferro_conformance.running.options import OF_THE_PARENT, OPTIONS

    for option in (*OF_THE_PARENT, *OPTIONS):
        pytestconfig.getoption(f"--tenferro-{option.name}")


def test_tests_are_listed_and_nothing_is_judged(tmp_path):
    """`--collect-only` writes the names of tests; exit code 0 says that these could be made."""
    command = [sys.executable, "-m", "tenferro_conformance", "run", "--backend", "numpy"]
    done = subprocess.run(
        [*command, "--collect-only", "--primitive", "std::neg"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "test_value[numpy-std::neg/" in done.stdout
    assert "executed no case" not in done.stdout


@pytest.mark.parametrize("part", ["0/2", "3/2", "1", "one/two"])
def test_a_part_that_is_none_is_a_usage_error(run_suite, part):
    done, _ = run_suite("test_value.py", extra=[f"--tenferro-shard={part}"])
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "is not K/N" in done.stderr


def test_jobs_add_up_to_one_report(tmp_path):
    """`--jobs 2` judges what one process judges, and closes with one count."""
    from tenferro_conformance.reporting.report import read_report

    def run(name, *options):
        command = [sys.executable, "-m", "tenferro_conformance", "run", "--backend", "numpy"]
        select = ["-q", "--primitive=std::add", "--primitive=std::neg", "-k", "test_value"]
        done = subprocess.run(
            [*command, "--report", name, *options, *select],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout, {(e.law, e.id) for e in read_report(tmp_path / name).entries}

    _, whole = run("whole.json")
    text, parts = run("parts.json", "--jobs", "2")
    assert parts == whole
    assert text.splitlines()[-1] == f"{len(whole)} passed, 0 failed"

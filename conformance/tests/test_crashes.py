"""Failures for people, and processes that end in a case: of a plugin that is made for this."""

import re
import shlex
import subprocess
import sys

import pytest

from tenferro_conformance.reporting.failures import failure_lines
from tenferro_conformance.reporting.report import BackendReport, Entry, Report, read_report
from tenferro_conformance.running.journal import Journal

PLUGIN = '''
import os
from tenferro.backend import Lowering, PluginManifest, hookimpl
from tenferro.primitives import Elementwise, exp

TENFERRO_PLUGIN = PluginManifest(api=(1, 0), name="ouch", kind="primitives", summary="two faults")


class Crash(Elementwise):
    """y = x + 1, whose kernel ends the process for float32"""
    key = "ouch::crash"
    accepts = "float"

    def derivative(self, x, y):
        return exp(x - x)


class Wrong(Elementwise):
    """y = x + 1, with a wrong derivative"""
    key = "ouch::wrong"
    accepts = "float"

    def derivative(self, x, y):
        return x


def kernel(operation, x):
    if operation.key == "ouch::crash" and str(x.dtype) == "float32":
        os.abort()
    return x + x.dtype.type(1)


@hookimpl
def tenferro_primitives():
    return [Crash, Wrong]


@hookimpl
def tenferro_lowerings(backend):
    keys = ["ouch::crash", "ouch::wrong"] if backend == "numpy" else []
    return [Lowering(key, kernel) for key in keys]
'''
CASES = """
from tenferro_conformance.samples.table import Row, table

FLOATS = ("float32", "float64")
CASES = [
    table(f"ouch::{name}", Row(edge="few", inputs=([1.0, 2.0],), dtypes=FLOATS, wrt=(0,), order=1),
          level=0, tol="rounded")
    for name in ("crash", "wrong")
]
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """Run two laws of both primitives: the process, its folder and its report."""
    folder = tmp_path_factory.mktemp("ouch")
    (folder / "ouch.py").write_text(PLUGIN)
    (folder / "ouch_cases.py").write_text(CASES)
    command = [
        sys.executable, "-m", "tenferro_conformance", "run", "--backend", "numpy", "--plugin",
        "ouch", "--declare", "ouch=ouch_cases:CASES", "--primitive", "ouch::*", "--law", "fidelity",
        "--law", "derivative", "--report", "ouch.json", "-p", "no:faulthandler",
    ]  # fmt: skip
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (folder / "ouch.json").exists(), run.stdout + run.stderr
    return run, folder, read_report(folder / "ouch.json")


def test_a_crash_names_its_case_and_the_run_goes_on(done):
    run, _, report = done
    found = {(e.law, e.id): e.verdict for e in report.entries}
    assert found == {
        ("derivative", "ouch::crash/few/float64"): "pass",
        ("derivative", "ouch::wrong/few/float64"): "fail",
        ("fidelity", "ouch::crash/few/float32"): "error",
        ("fidelity", "ouch::crash/few/float64"): "pass",
        ("fidelity", "ouch::wrong/few/float32"): "pass",
        ("fidelity", "ouch::wrong/few/float64"): "pass",
    }
    assert run.returncode == 1
    assert "(SIGABRT) in ouch::crash/few/float32 [fidelity]; the run goes on" in run.stdout
    assert "executed no case" not in run.stdout


def test_failures_name_the_suspect(done):
    text = done[0].stdout
    assert (
        "ouch::wrong on numpy: 1 failure of 1 law\n  suspect: `derivative` of ouch::wrong" in text
    )
    assert "ran: 2 primitives, 4 cases, 2 laws, up to level 0; claim: level 3+AD" in text


def test_the_command_of_a_case_works(done):
    run, folder, _ = done
    (line,) = [x for x in run.stdout.splitlines() if "--case ouch::wrong/few/float64" in x]
    words = shlex.split(line)
    assert words[0] != "env"  # the options name the plugin already
    again = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert again.returncode == 1
    assert "1 fail; ran: 1 primitives, 1 cases, 1 laws" in again.stdout, again.stdout + again.stderr
    (path,) = re.findall(r"^FAILED (.+?)::", again.stdout, re.MULTILINE)
    assert (folder / path).is_file()  # pytest takes what it prints


def test_few_commands_are_shown_of_a_law():
    entries = [
        Entry(id=f"ouch::f/{k}/float64", law="value", backend="mine", verdict="fail", reason="off")
        for k in range(5)
    ]
    entries.append(Entry(id="test_program", law="golden", backend="mine", verdict="error"))
    report = Report(backends={"mine": BackendReport(name="mine")}, entries=entries)
    lines = failure_lines(report, ["kit", "run"], lambda key: None)
    assert lines == [
        "ouch::f on mine: 5 failures of 1 law",
        "  suspect: a rule of ouch::f",
        "    value: off",
        *(f"      kit run --backend mine --case ouch::f/{k}/float64 --law value" for k in range(3)),
        "      and 2 more cases",
        "test_program on mine: 1 failure of 1 law",
        "    golden: ",
        "      kit run --backend mine -k test_program --law golden",
    ]


def test_a_primitive_that_crashes_often_is_given_up(tmp_path):
    journal = Journal(tmp_path / "journal")
    for k in range(3):
        assert not Journal.read(journal.path).is_given_up("ouch::f")
        journal.starts(f"t{k}", {"id": f"ouch::f/{k}/float64"}, alone=False)
        assert not Journal.read(journal.path).is_done(f"t{k}")
        journal.starts(f"t{k}", {"id": f"ouch::f/{k}/float64"}, alone=True)
        assert Journal.read(journal.path).is_done(f"t{k}")
    journal.starts("t", {"id": "ouch::g/x/float64"}, alone=False)
    journal.ends("t", [{"id": "ouch::g/x/float64"}])
    with journal.path.open("a") as file:
        file.write('{"test": "torn')
    read = Journal.read(journal.path)
    assert read.is_given_up("ouch::f")
    assert not read.is_given_up("ouch::g")
    assert not read.runs_alone("ouch::g")
    assert read.entries == [{"id": "ouch::g/x/float64"}]

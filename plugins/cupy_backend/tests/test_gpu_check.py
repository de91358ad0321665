"""`tools/gpu_check.py` on the stand-in: from start to end, and cut short in every stage."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[3] / "tools"
if not TOOLS.exists():
    pytest.skip("the tools are in the repository", allow_module_level=True)
sys.path[:0] = [str(TOOLS), str(TOOLS.parent)]
pytest.importorskip("tenferro_conformance")

import gpu_check  # noqa: E402
from gpu_stages import STAGES, Stage, setting  # noqa: E402
from gpu_stages.kit import summed  # noqa: E402
from gpu_stages.notes import Notes  # noqa: E402

NAMES = [stage.name for stage in STAGES]
TESTS = Path(__file__).parent


def checked(results, *arguments, where="StandIn", **environment):
    """Run the command in a process of its own; return its exit code and what it wrote."""
    command = [sys.executable, str(TOOLS / "gpu_check.py"), "--results", str(results)]
    done = subprocess.run(
        [*command, "--setting", f"gpu_settings:{where}", *arguments],
        env={**os.environ, "PYTHONPATH": str(TESTS), **environment},
    )
    return done.returncode, json.loads(results.read_text("utf-8"))


def statuses(found):
    return {name: stage["status"] for name, stage in found.items()}


def sanitizer_in(folder, code):
    """A compute-sanitizer that runs its command and ends with a code."""
    tool = folder / "compute-sanitizer"
    tool.write_text(
        f'#!/bin/sh\nshift 2\n"$@" && echo "ERROR SUMMARY: {code} errors" && exit {code}'
    )
    tool.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def test_all_stages(tmp_path):
    """The real kit on a family, kernels on NumPy, workloads beside their versions by hand"""
    code, found = checked(
        tmp_path / "found.json", "--here", "--dtypes", "int8", **sanitizer_in(tmp_path, 0)
    )
    assert statuses(found) == dict.fromkeys(NAMES, "passed")
    assert code == 0
    assert found["probe"]["devices"] == ["Stand-in GPU"]
    assert found["kernels"]["kernels"] > 50
    assert found["kit, level 2"]["families"]["comparison"]["primitives"] == ["std::select"]
    assert found["kit, level 3"]["families"] == {}, "what has passed does not run again"
    assert found["sanitizer"]["summary"] == "ERROR SUMMARY: 0 errors"
    assert set(found["speed"]["small operations"]["CUDA graph"]) == {
        "operations", "µs per operation", "first call, s", "capture, s", "replay, s"
    }  # fmt: skip
    rows = found["speed"]["gradients"]
    assert {row["workload"] for row in rows} == {"W1", "W2", "W3", "W5", "W6", "W7"}
    assert not [row for row in rows if "seconds" not in row]


def test_processes_that_break_off_are_noted_and_the_next_stage_runs(tmp_path):
    """One ends itself, as after an error of CUDA, and one is ended when its time is over"""
    code, found = checked(tmp_path / "found.json", where="BrokenOff")
    assert code == 1
    assert statuses(found) == {
        "ends its process": "failed", "never ends": "over its limit", "after them": "passed"
    }  # fmt: skip
    assert found["ends its process"]["error"] == "the process ended with 7"
    assert found["ends its process"]["found"] == 1, "what it found before is kept"


# ---- stages that are made up: which run, and what the file says ----------------------------------


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Run made-up stages in this process; return the exit code and what was written."""
    path = tmp_path / "found.json"

    def run(stages, *arguments):
        monkeypatch.setattr(setting.Setting, "stages", stages)
        code = gpu_check.main(["--here", "--results", str(path), *arguments])
        return code, json.loads(path.read_text("utf-8"))

    run.path = path
    return run


@pytest.mark.parametrize("number", range(len(NAMES)))
def test_a_run_that_was_cut_short_goes_on(here, number):
    """The stages before are kept, the file names the one that was cut, and `--resume` ends it"""
    ran = []

    def cut(_, notes):
        notes["found"] = 1
        raise KeyboardInterrupt

    def noting(name):
        return Stage(name, 1, lambda *_: ran.append(name))

    stages = [noting(name) for name in NAMES]
    broken = [*stages[:number], Stage(NAMES[number], 1, cut), *stages[number + 1 :]]
    with pytest.raises(KeyboardInterrupt):
        here(broken)
    found = json.loads(here.path.read_text("utf-8"))
    before = dict.fromkeys(NAMES[:number], "passed")
    assert statuses(found) == {**before, NAMES[number]: "cut short"}
    assert found[NAMES[number]]["found"] == 1
    code, found = here(stages, "--resume")
    assert (code, ran) == (0, NAMES)
    assert statuses(found) == dict.fromkeys(NAMES, "passed")


def fails(*_):
    raise ValueError("no such device")


def test_a_stage_that_fails_is_told_and_the_next_one_runs(here):
    code, found = here([Stage("first", 1, fails), Stage("second", 1, lambda *_: None)])
    assert code == 1
    assert statuses(found) == {"first": "failed", "second": "passed"}
    assert "no such device" in found["first"]["error"]


def test_the_error_of_an_earlier_run_is_forgotten(here):
    here([Stage("first", 1, fails)])
    _, found = here([Stage("first", 1, lambda *_: None)], "--resume")
    assert set(found["first"]) == {"status", "seconds"}


def test_a_stage_that_cannot_run_here_is_left_out(here, monkeypatch):
    """Neither a failure nor a pass: the file says why"""
    monkeypatch.setattr(setting, "jax_has_a_gpu", lambda: False)
    monkeypatch.setenv("PATH", "")
    code, found = here([stage for stage in STAGES if stage.name in ("xla", "sanitizer")])
    assert code == 0
    assert statuses(found) == {"xla": "left out", "sanitizer": "left out"}
    assert "JAX" in found["xla"]["why"]


def test_a_command_that_fails_fails_its_stage(here, monkeypatch):
    command = [sys.executable, "-c", "print('one is wrong'); raise SystemExit(1)"]
    monkeypatch.setattr(setting.Setting, "xla_command", lambda _: command)
    code, found = here([stage for stage in STAGES if stage.name == "xla"])
    assert (code, found["xla"]["status"]) == (1, "failed")
    assert "one is wrong" in found["xla"]["error"]


def test_a_command_that_takes_too_long_is_over_the_limit(here, monkeypatch):
    command = [sys.executable, "-c", "import os; os.read(os.pipe()[0], 1)"]
    monkeypatch.setattr(setting.Setting, "xla_command", lambda _: command)
    stages = [stage._replace(minutes=0.0) for stage in STAGES if stage.name == "xla"]
    assert here(stages)[1]["xla"]["status"] == "over its limit"


def test_one_stage_adds_to_the_others(here):
    stages = [Stage("a", 1, lambda *_: None), Stage("b", 1, lambda *_: None)]
    for wanted in ("2", "a"):
        _, found = here(stages, "--stage", wanted)
    assert statuses(found) == {"a": "passed", "b": "passed"}
    with pytest.raises(SystemExit, match="there are a, b"):
        here(stages, "--stage", "c")


def test_a_run_without_time_starts_no_stage(tmp_path, monkeypatch):
    path = tmp_path / "found.json"
    monkeypatch.setattr(setting.Setting, "stages", [Stage("first", 1, fails)])
    assert gpu_check.main(["--results", str(path), "--minutes", "0"]) == 1
    assert "no time left" in Notes(path, keep=True).status("first")


def test_limits_are_those_of_a_lent_device():
    """8 minutes a stage, 22 together"""
    assert max(stage.minutes for stage in STAGES) <= 8
    assert sum(stage.minutes for stage in STAGES) <= gpu_check.MINUTES == 22


# ---- the kit family by family --------------------------------------------------------------------


def line(primitive, *failures, passed=1, is_whole=True):
    return {"family": "f", "primitive": primitive, "passed": passed, "failures": [*failures],
            "is_whole": is_whole}  # fmt: skip


def test_what_failed_or_did_not_end_runs_again():
    """A primitive has passed if all of its cases have; failures of an earlier run are forgotten"""
    found = summed(
        [{"cases": 9}, line("a", passed=4), line("b", "b: no"), line("c", is_whole=False)], {}
    )
    assert found == {"f": {"primitives": ["a"], "cases": 6, "failures": ["b: no"]}}
    again = summed([line("b", passed=2)], found)
    assert again == {"f": {"primitives": ["a", "b"], "cases": 8, "failures": []}}


SUITE = """
import pytest

@pytest.mark.parametrize("name", [f"x::{k}" for k in range(8)])
def test_fails(name):
    assert name == "x"

def test_passes():
    pass
"""


def test_a_family_is_left_after_a_few_failures(tmp_path):
    """What passed before does not run; the family of a made-up test is its name up to `::`"""
    (tmp_path / "passed.json").write_text('["test_fails[x::0]"]')
    (tmp_path / "test_made_up.py").write_text(SUITE)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "kit_by_family", "-p", "no:cacheprovider"],
        cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(TOOLS / "gpu_stages"),
             "TENFERRO_KIT_FOLDER": str(tmp_path)},
    )  # fmt: skip
    assert "5 failed, 1 passed, 1 deselected" in done.stdout
    (file,) = tmp_path.glob("*.jsonl")
    first, *rows = [json.loads(row) for row in file.read_text().splitlines()]
    assert first == {"cases": 8}
    found = {row["primitive"]: (len(row["failures"]), row["is_whole"]) for row in rows}
    assert found == {
        **{f"test_fails[x::{k}]": (1, True) for k in range(1, 6)},
        **{f"test_fails[x::{k}]": (0, False) for k in (6, 7)},
        "test_passes": (0, True),
    }

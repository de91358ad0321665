"""`tools/gpu_check.py` on the stand-in: from start to end, and cut short in every stage."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[3] / "tools" / "gpu_check.py"
pytestmark = pytest.mark.skipif(not TOOL.exists(), reason="the tools are in the repository")


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("gpu_check", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def setting(tool, make_backend, monkeypatch):
    """The stand-in, with a kit that says only that it ran, and kernels on NumPy."""
    import kernel_cases

    from tenferro_cupy.kernels import region
    from tenferro_cupy.plan import regions

    backend = make_backend()
    monkeypatch.setattr(region, "Region", regions.Region)
    monkeypatch.setattr(kernel_cases, "DTYPES", ("float32", "int32"))

    class StandIn(tool.Setting):
        cupy = backend.cupy
        large, repeats = 1000, 2

        def kit_command(self, level):
            return [sys.executable, "-c", f"print('level {level} passed')"]

        def xla_command(self):
            return [sys.executable, "-c", "print('xla passed')"]

        def sanitizer_command(self, results):
            return [sys.executable, "-c", "print('0 errors')"]

    made = StandIn()
    made.backend = backend
    return made


def statuses(path):
    return {name: stage["status"] for name, stage in json.loads(path.read_text()).items()}


def test_all_stages(tool, setting, tmp_path):
    path = tmp_path / "found.json"
    assert tool.main(["--results", str(path)], setting) == 0
    assert statuses(path) == dict.fromkeys([name for name, _ in tool.STAGES], "passed")
    found = json.loads(path.read_text())
    assert found["probe"]["devices"] == ["Stand-in GPU"]
    assert found["kit, level 3"]["summary"] == "level 3 passed"


@pytest.mark.parametrize("number", range(1, 8))
def test_a_run_that_was_cut_short_goes_on(tool, setting, tmp_path, monkeypatch, number):
    """The stages before are kept, the file names the one that was cut, and `--resume` ends it"""
    path, stages = tmp_path / "found.json", list(tool.STAGES)
    names = [name for name, _ in stages]
    ran = []

    def quick(name):
        return lambda setting: ran.append(name) or {}

    def cut(setting):
        raise KeyboardInterrupt

    monkeypatch.setattr(
        tool, "STAGES", [(n, cut if n == names[number - 1] else quick(n)) for n in names]
    )
    with pytest.raises(KeyboardInterrupt):
        tool.main(["--results", str(path)], setting)
    assert statuses(path) == {
        **dict.fromkeys(names[: number - 1], "passed"),
        names[number - 1]: "cut short",
    }
    monkeypatch.setattr(tool, "STAGES", [(n, quick(n)) for n in names])
    assert tool.main(["--results", str(path), "--resume"], setting) == 0
    assert ran == names
    assert list(statuses(path).values()) == ["passed"] * len(names)


def test_a_stage_that_fails_is_told_and_the_next_one_runs(tool, setting, tmp_path, monkeypatch):
    path = tmp_path / "found.json"

    def wrong(setting):
        raise ValueError("no such device")

    monkeypatch.setattr(tool, "STAGES", [("first", wrong), ("second", lambda s: {"n": 1})])
    assert tool.main(["--results", str(path)], setting) == 1
    assert statuses(path) == {"first": "failed", "second": "passed"}
    assert "no such device" in json.loads(path.read_text())["first"]["error"]


def test_a_stage_that_cannot_run_here_is_left_out(tool, tmp_path, monkeypatch):
    """Neither a failure nor a pass: the file says why"""
    path = tmp_path / "found.json"
    monkeypatch.setattr(tool, "STAGES", [s for s in tool.STAGES if s[0] in ("xla", "sanitizer")])
    monkeypatch.setattr(tool, "_jax_has_a_gpu", lambda: False)
    monkeypatch.setattr(tool.shutil, "which", lambda name: None)
    assert tool.main(["--results", str(path)]) == 0
    assert statuses(path) == {"xla": "left out", "sanitizer": "left out"}
    assert "JAX" in json.loads(path.read_text())["xla"]["why"]


@pytest.mark.parametrize("stage", ["xla", "sanitizer"])
def test_a_command_that_fails_fails_its_stage(tool, setting, tmp_path, monkeypatch, stage):
    path = tmp_path / "found.json"
    command = [sys.executable, "-c", "print('one is wrong'); raise SystemExit(1)"]
    monkeypatch.setattr(type(setting), f"{stage}_command", lambda *_: command)
    monkeypatch.setattr(tool, "STAGES", [s for s in tool.STAGES if s[0] == stage])
    assert tool.main(["--results", str(path)], setting) == 1
    assert "one is wrong" in json.loads(path.read_text())[stage]["error"]


def test_one_stage_adds_to_the_others(tool, setting, tmp_path, monkeypatch):
    path = tmp_path / "found.json"
    monkeypatch.setattr(tool, "STAGES", [("a", lambda s: {}), ("b", lambda s: {})])
    for number in ("2", "1"):
        tool.main(["--results", str(path), "--stage", number], setting)
    assert statuses(path) == {"a": "passed", "b": "passed"}

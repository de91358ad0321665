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


@pytest.mark.parametrize("number", range(1, 6))
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


def test_one_stage_adds_to_the_others(tool, setting, tmp_path, monkeypatch):
    path = tmp_path / "found.json"
    monkeypatch.setattr(tool, "STAGES", [("a", lambda s: {}), ("b", lambda s: {})])
    for number in ("2", "1"):
        tool.main(["--results", str(path), "--stage", number], setting)
    assert statuses(path) == {"a": "passed", "b": "passed"}

"""Compiled kernels on disk: found again, compiled again when damaged, written by many at once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from on_cpu import compiler

from tenferro_cupy.kernels.disk import CubinCache
from tenferro_cupy.kernels.kernel import Kernel, Line
from tenferro_cupy.kernels.layout import layout_of
from tenferro_cupy.kernels.modules import OPTIONS, Modules


class Compiler:
    """Counts how often it is asked."""

    def __init__(self, image=b"code"):
        self.calls, self.image = 0, image

    def __call__(self, source, architecture):
        self.calls += 1
        return self.image


def test_a_kernel_is_compiled_once_for_each_architecture(tmp_path):
    cache, compiled = CubinCache(tmp_path / "new" / "folder"), Compiler()
    first = cache.find("source", "sm_90", compiled)
    assert first.read_bytes() == b"code"
    assert cache.find("source", "sm_90", compiled) == first
    assert cache.find("source", "sm_75", compiled) != first
    assert cache.find("other", "sm_90", compiled) != first
    assert compiled.calls == 3


@pytest.mark.parametrize("damage", [b"", b"cod", b"codf"])
def test_a_damaged_file_is_compiled_again(tmp_path, damage):
    cache, compiled = CubinCache(tmp_path), Compiler()
    path = cache.find("source", "sm_90", compiled)
    path.write_bytes(damage)
    assert cache.find("source", "sm_90", compiled).read_bytes() == b"code"
    assert compiled.calls == 2


def test_without_its_digest_a_file_is_not_used(tmp_path):
    cache, compiled = CubinCache(tmp_path), Compiler()
    cache.find("source", "sm_90", compiled).with_suffix(".sha256").unlink()
    cache.find("source", "sm_90", compiled)
    assert compiled.calls == 2


def test_nothing_is_left_of_a_write_that_failed(tmp_path, monkeypatch):
    """A folder that cannot be written to is no error: the caller compiles without a file"""

    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full)
    assert CubinCache(tmp_path).find("source", "sm_90", Compiler()) is None
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "names, folder",
    [
        ({}, "home/.cache/tenferro/cupy"),
        ({"XDG_CACHE_HOME": "xdg"}, "xdg/tenferro/cupy"),
        ({"XDG_CACHE_HOME": "xdg", "TENFERRO_CUPY_CACHE": "~/mine"}, "home/mine"),
        ({"TENFERRO_CUPY_CACHE": ""}, None),
    ],
)
def test_the_folder_is_that_of_the_environment(monkeypatch, names, folder):
    for name in ("XDG_CACHE_HOME", "TENFERRO_CUPY_CACHE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "home", **names}.items():
        monkeypatch.setenv(name, value)
    found = CubinCache.of_environment().folder
    assert found == (folder if folder is None else Path(folder))


def test_no_folder_no_file():
    assert CubinCache(None).find("source", "sm_90", Compiler()) is None


_WRITER = """
import sys
from pathlib import Path
from tenferro_cupy.kernels.disk import CubinCache
cache = CubinCache(Path(sys.argv[1]))
for k in range(60):
    path = cache.find(f"source {k % 3}", "sm_90", lambda s, a: s.encode() * 1000)
    assert path.read_bytes() == f"source {k % 3}".encode() * 1000
    if k % 7 == 0:
        path.with_suffix(".sha256").unlink(missing_ok=True)
"""


def test_two_processes_write_at_the_same_time(tmp_path):
    """Each reads whole files, whatever the other replaces"""
    command = [sys.executable, "-c", _WRITER, str(tmp_path)]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(2)]
    for process in running:
        _, errors = process.communicate()
        assert process.returncode == 0, errors.decode()[-2000:]
    assert {path.suffix for path in tmp_path.iterdir()} <= {".cubin", ".sha256"}


@pytest.mark.parametrize("moment", [1, 2])
def test_a_writer_between_another_writer_s_steps(tmp_path, monkeypatch, moment):
    """Before each of the two renames: both find the file, and it is whole"""
    cache, compiled, calls = CubinCache(tmp_path), Compiler(), []
    replace = os.replace

    def interrupted(*names):
        calls.append(names)
        if len(calls) == moment:
            other = CubinCache(tmp_path).find("source", "sm_90", compiled)
            assert other.read_bytes() == b"code"
        replace(*names)

    monkeypatch.setattr(os, "replace", interrupted)
    assert cache.find("source", "sm_90", compiled).read_bytes() == b"code"
    assert (compiled.calls, len(calls)) == (2, 4)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".cubin", ".sha256"]


KERNEL = Kernel(("float32",), (), (Line("exp({0})", (0,), "float32"),), (1,))
LAYOUT = layout_of((5,), None, [(1,)], 4, True, 1)[0]


@pytest.mark.skipif(compiler.COMPILER is None, reason="there is no C++ compiler")
def test_a_second_process_loads_what_the_first_compiled(stand_in, tmp_path, monkeypatch):
    monkeypatch.setenv("TENFERRO_CUPY_CACHE", str(tmp_path))
    first, second = stand_in.Fake(), stand_in.Fake()
    for fake in (first, second):
        modules = Modules(fake)
        assert modules.function(KERNEL, LAYOUT) is modules.function(KERNEL, LAYOUT)
    assert first.cuda.nvrtc.compiled == [("--gpu-architecture=sm_90", *OPTIONS)]
    assert second.cuda.nvrtc.compiled == []
    assert not first.cuda.nvrtc.programs


def test_an_error_of_the_compiler_tells_its_log(stand_in, tmp_path, monkeypatch):
    monkeypatch.setenv("TENFERRO_CUPY_CACHE", str(tmp_path))
    fake = stand_in.Fake()
    line = Line("exp({0}) syntax error", (0,), "float32")
    with pytest.raises(RuntimeError) as caught:
        Modules(fake).function(KERNEL._replace(lines=(line,)), LAYOUT)
    assert caught.value.__notes__ == ["tenferro.cu(1): error"]
    assert not list(tmp_path.iterdir())

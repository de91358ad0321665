"""Several processes on this machine, connected over gloo, each with two virtual devices.

Time limits end a hang and decide nothing else.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import jax
import pytest
from ports import free_port

import tenferro as tn
from tenferro_xla import _processes, _running, _watch

WORKER = Path(__file__).parent / "in_processes" / "worker.py"
SECONDS = 300


def run(scenario, processes, folder):
    """(exit code, what it printed, what it complained of) of each process."""
    address = f"127.0.0.1:{free_port()}"
    started = [
        subprocess.Popen(
            [sys.executable, WORKER, scenario, address, str(processes), str(process), folder],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for process in range(processes)
    ]
    try:
        texts = [process.communicate(timeout=SECONDS) for process in started]
    finally:
        for process in started:
            process.kill()
    return [(p.returncode, *text) for p, text in zip(started, texts, strict=True)]


def finished(scenario, processes, folder):
    """What each process printed last; all must have ended well."""
    found = run(scenario, processes, folder)
    assert [code for code, *_ in found] == [0] * processes, found
    assert not any("Traceback" in complaint for *_, complaint in found), found
    return [printed.strip().splitlines()[-1] for _, printed, _ in found]


def test_two_processes_compute_what_one_computes(tmp_path):
    """Values, gradients, arrays in files; arrays that span processes say what to do"""
    assert finished("laws", 2, tmp_path) == ["laws hold"] * 2


def test_four_processes_compute_what_one_computes(tmp_path):
    assert finished("laws", 4, tmp_path) == ["laws hold"] * 4


def test_different_programs_are_an_error_in_each_process(tmp_path):
    text = "differ: xla: the processes have come to different programs, as number 1 of each"
    assert finished("different", 2, tmp_path) == [text] * 2


def test_a_process_that_does_not_come_is_named(tmp_path):
    """Within `wait_seconds`, and at once if it has ended before"""
    first, second = finished("absent", 2, tmp_path)
    assert first.startswith("absent: (1,) xla: process 1 has not come to program 1")
    assert second.startswith("absent: (0,) xla: process 0 ended; what process 1 waits for")


def test_a_process_that_dies_is_an_error_in_the_others(tmp_path):
    """For results, and for meeting points; the others leave without it, with exit status 1"""
    (code, printed, complaint), (dead, *_) = run("dead", 2, tmp_path)
    assert (code, dead) == (1, -signal.SIGTERM), complaint
    assert "dead: (1,) xla: process 1 died or left; what process 0 waits for" in printed
    assert "process 0 leaves: process 1 died" in complaint


def test_the_death_of_a_process_before_its_devices_are_known_is_an_error_in_the_others(tmp_path):
    first, (dead, *_), last = run("dead_early", 3, tmp_path)
    assert dead == -signal.SIGKILL
    for code, printed, complaint in (first, last):
        assert "dead: (1,) xla: process 1 died or left; what process" in printed, complaint
        assert (code, "leaves: process 1 died" in complaint) == (1, True), complaint


def test_the_death_of_process_0_is_an_error_in_the_others(tmp_path):
    """Two others have the time to save what they have"""
    (dead, *_), *others = run("dead_first", 3, tmp_path)
    service = int((tmp_path / "process 0 dies").read_text())
    os.kill(service, signal.SIGKILL)  # it gives the others time, 20 minutes in this test
    assert dead == -signal.SIGKILL
    for code, printed, complaint in others:
        assert "dead: (0,) xla: process 0 died or left; what process" in printed, complaint
        assert (code, "leaves: process 0 died" in complaint) == (1, True), complaint


def test_an_exception_in_one_process_ends_all_of_them(tmp_path):
    """Process 0, whose service connects them, leaves last; what it calls alone is refused before"""
    (code, _, traceback), (other, printed, complaint) = run("raising", 2, tmp_path)
    assert (code, other) == (1, 1), (traceback, complaint)
    assert "ValueError: no such file" in traceback
    assert "raising: (0,) process 0 raised ValueError: no such file" in printed
    assert "process 1 leaves: process 0 ended with ValueError: no such file" in complaint


def test_meshes_of_some_processes_are_refused(tmp_path):
    assert finished("unfit", 2, tmp_path) == ["refused"] * 2


def test_the_runtime_leaves_the_others_the_time_to_save(monkeypatch):
    """JAX's signs of life come at half of its patience: it ends the others after that or later"""
    given = []

    def initialize(*args, heartbeat_timeout_seconds, **settings):
        given.append(heartbeat_timeout_seconds)
        raise RuntimeError("this is enough")

    monkeypatch.setattr(_processes, "meet", lambda *args: None)
    monkeypatch.setattr(_processes, "start_service", lambda *args: given.append(args[2]))
    monkeypatch.setattr(jax.distributed, "initialize", initialize)
    settings = {"start_seconds": 1, "heartbeat_seconds": 20, "wait_seconds": 1}
    with pytest.raises(tn.ProcessError, match="this is enough"):
        _processes.XlaProcesses().connect("127.0.0.1:1", 2, 0, **settings)
    assert [seconds / 2 for seconds in given] == [20, 20]


@pytest.mark.parametrize("count, named, seconds", [(3, (0,), 12.0), (2, (0,), 2.0)])
def test_a_lost_connection_names_the_process_that_died(monkeypatch, count, named, seconds):
    """Of three, it may be that of a process that has left because of the death, by silence later"""
    clock = [0.0]

    def look(*, is_result):
        if clock[0] >= 12.0:
            raise tn.ProcessError("process 0 died", processes=(0,))

    def sleep(seconds):
        clock[0] += seconds

    monkeypatch.setattr(_running, "monotonic", lambda: clock[0])
    monkeypatch.setattr(_running, "sleep", sleep)
    monkeypatch.setattr(_running, "check_all_alive", look)
    monkeypatch.setattr(_running, "process_count", lambda: count)
    monkeypatch.setattr(_running, "process_index", lambda: count - 1)
    monkeypatch.setattr(_running, "seconds_until_known", lambda: 15.0)
    assert _running._lost(RuntimeError("Connection reset by peer")).processes == named
    assert clock[0] == pytest.approx(seconds, abs=0.2)


def test_every_process_knows_of_a_death_before_the_runtime_ends_it(monkeypatch):
    """Signs of life are read once in an interval: the last one, and the silence after it"""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_watch, "coordination_client", lambda: SimpleNamespace())
        patch.setattr(_watch.Watch, "_run", lambda self: None)
        monkeypatch.setattr(_watch, "_watch", _watch.Watch(20))
    assert _watch.seconds_until_known() == 15
    monkeypatch.setattr(_watch, "_watch", None)
    assert _watch.seconds_until_known() == 0

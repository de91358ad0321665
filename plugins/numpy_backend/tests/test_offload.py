"""Loops that store rows in a file: memory that stays free, and files that go.

The values are tested over every backend, in core/tests/on_backend/memory/test_offload.py.
"""

import gc
import os
import signal
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import tenferro as tn
from tenferro_numpy.loops import run

X = np.array([0.4, -0.3, 0.2])


def heat(u, store, steps=1000):
    step = lambda u: u + 0.1 * (np.roll(u, 1) - 2.0 * u + np.roll(u, -1)) - 0.01 * u**3  # noqa: E731
    return np.sum(tn.scan(lambda u, _: (step(u), None), u, None, steps, checkpoint=store)[0] ** 2)


def traced(function, *args):
    function(*args)
    gc.collect()
    tracemalloc.start()
    found = function(*args)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak, found


def test_the_gradient_of_a_thousand_steps_keeps_a_few_states_in_memory():
    """peak ≤ 12 states, with the bits of the gradient that stores all of them"""
    u = np.sin(np.linspace(0.0, 6.0, 10_000))
    gradient = tn.jit(tn.grad(lambda u: heat(u, tn.offload())))
    peak, found = traced(gradient, u)
    assert peak <= 12 * u.nbytes
    np.testing.assert_array_equal(found, tn.jit(tn.grad(lambda u: heat(u, "auto")))(u))


@pytest.mark.parametrize("inner", ["grad", "jvp"])
def test_a_second_derivative_in_a_direction_keeps_a_few_states_in_memory(inner):
    """peak ≤ 16 states of ∂²f·v, forward over reverse and reverse over forward"""
    u = np.sin(np.linspace(0.0, 6.0, 10_000))
    v = np.cos(u)

    def product(store):
        function = lambda u: heat(u, store)  # noqa: E731
        if inner == "grad":
            return tn.jit(lambda u: tn.jvp(tn.grad(function), (u,), (v,))[1])
        return tn.jit(tn.grad(lambda u: tn.jvp(function, (u,), (v,))[1]))

    peak, found = traced(product(tn.offload()), u)
    assert peak <= 16 * u.nbytes
    np.testing.assert_allclose(found, product("auto")(u), rtol=1e-12)


def test_a_budget_counts_nothing_for_rows_in_a_file():
    """a budget of 20 states cuts no loop of 1,000 steps, and the predicted peak is below it"""
    u = np.sin(np.linspace(0.0, 6.0, 10_000))
    store = tn.offload()
    plain = tn.jit(tn.grad(lambda u: heat(u, store)))
    gradient = tn.jit(tn.grad(lambda u: heat(u, store)), memory_budget=20 * u.nbytes)
    np.testing.assert_array_equal(gradient(u), plain(u))
    assert gradient.explain(u).count("Loop of 1000 steps") == 2


def test_a_pullback_keeps_its_rows_in_the_file():
    """peak ≤ 20 states of vjp and its pullback, which may be called twice"""
    u = np.sin(np.linspace(0.0, 6.0, 10_000))

    def both(u):
        _, pull = tn.vjp(lambda u: heat(u, tn.offload()), u)
        return pull(1.0)[0], pull(2.0)[0]

    peak, (once, twice) = traced(both, u)
    assert peak <= 20 * u.nbytes
    np.testing.assert_array_equal(2.0 * once, twice)
    np.testing.assert_array_equal(once, tn.grad(lambda u: heat(u, "auto"))(u))


def test_long_bodies_store_their_rows_in_the_file_as_well(monkeypatch):
    """peak with a file ≤ peak in memory - 90 of 100 states, for a body that is a function"""
    monkeypatch.setattr(run, "_MAX_STEPS_IN_SOURCE", 1)

    def gradient(store):
        step = lambda c, _: (np.sin(np.cos(np.exp(-c))) * 0.9, None)  # noqa: E731
        return tn.jit(tn.grad(lambda x: np.sum(tn.scan(step, x, None, 100, checkpoint=store)[0])))

    x = np.linspace(0.0, 1.0, 5_000)
    peak, found = traced(gradient(tn.offload()), x)
    most, expected = traced(gradient("auto"), x)
    assert peak <= most - 90 * x.nbytes
    np.testing.assert_array_equal(found, expected)


def test_the_directory_stays_empty(tmp_path):
    """no file has a name, while a pullback lives, after it, and where a pullback is not used"""
    function = lambda u: heat(u, tn.offload(tmp_path), 20)  # noqa: E731
    kept = tn.vjp(function, X)
    assert os.listdir(tmp_path) == []
    del kept
    tn.vjp(function, X)
    with pytest.raises(TypeError):
        tn.vjp(function, X)[1]("no cotangent")
    assert os.listdir(tmp_path) == []


PROGRAM = """
import os, signal, sys, numpy as np, tenferro as tn
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started us may ignore it
store = tn.offload(sys.argv[1])
f = lambda u: np.sum(tn.scan(lambda c, _: (np.sin(c), None), u, None, 50, checkpoint=store)[0])
value, pull = tn.vjp(f, np.ones(1000))
print("ready", flush=True)
if sys.argv[2] == "interrupt":
    sys.stdin.read()
if sys.argv[2] == "fork":
    child = os.fork()
    if not child:
        value = pull = None
        os._exit(0)
    os.waitpid(child, 0)
    print(float(np.sum(pull(1.0)[0])), flush=True)
if sys.argv[2] == "exit":
    os._exit(3)
"""


def started(tmp_path, how):
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path), how],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip


@pytest.mark.parametrize("how", ["end", "exit"])
def test_the_end_of_the_process_leaves_no_file(tmp_path, how):
    with started(tmp_path, how) as process:
        assert process.communicate()[0] == "ready\n"
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
@pytest.mark.parametrize("sent", ["SIGINT", "SIGKILL"])
def test_a_process_that_is_stopped_leaves_no_file(tmp_path, sent):
    with started(tmp_path, "interrupt") as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(getattr(signal, sent))
        process.communicate()
    assert process.returncode
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_that_ends_leaves_the_rows_to_its_parent(tmp_path):
    with started(tmp_path, "fork") as process:
        ready, number = process.communicate()[0].split()
    slope = tn.grad(lambda x: tn.scan(lambda c, _: (np.sin(c), None), x, None, 50)[0])(1.0)
    assert ready == "ready"
    np.testing.assert_allclose(float(number), 1000 * float(slope), rtol=1e-12)


# ---- errors --------------------------------------------------------------------------------------


def test_a_directory_that_does_not_exist_is_named(tmp_path):
    """OffloadError with the directory and the bytes of the rows"""
    missing = tmp_path / "missing"
    gradient = tn.grad(lambda u: heat(u, tn.offload(missing), 20))
    with pytest.raises(tn.OffloadError, match="cannot store") as caught:
        np.asarray(gradient(X))
    assert caught.value.directory == str(missing)
    assert caught.value.bytes == 20 * X.nbytes
    assert float(heat(X, tn.offload(missing), 20)) == float(heat(X, "auto", 20))


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="the disc is filled by this call")
def test_a_full_disc_is_an_error_and_not_a_crash(tmp_path, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(tn.OffloadError, match="No space left on device") as caught:
        np.asarray(tn.grad(lambda u: heat(u, tn.offload(tmp_path), 20))(X))
    assert isinstance(caught.value, OSError)
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="the disc is filled by this call")
def test_file_systems_that_cannot_reserve_are_written(tmp_path, monkeypatch):
    def unknown(*args):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "posix_fallocate", unknown)
    found = tn.grad(lambda u: heat(u, tn.offload(tmp_path), 20))(X)
    np.testing.assert_array_equal(found, tn.grad(lambda u: heat(u, "auto", 20))(X))

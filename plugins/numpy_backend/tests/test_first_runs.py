"""The first runs of a program, which is not planned to the end, give the bits of all later runs."""

import subprocess
import sys
import threading
import traceback

import numpy as np
import pytest

import tenferro as tn
from tenferro import primitives as tp
from tenferro_numpy import draft, executable
from tenferro_numpy.draft import RUNS_BEFORE_PLAN, Draft

R = np.random.default_rng(12)
W = R.standard_normal((6, 6)) * 0.3
H = R.standard_normal(6)
P = np.abs(R.standard_normal((4, 4))) + 0.1


def recurrence(w):
    h = H
    for _ in range(9):
        h = np.tanh(w @ h) + 0.1 * h
    return np.sum(h**2)


def mean_of_squares(w):
    return np.mean((w @ w.T - 1.0) ** 2) / np.max(w)


def log_likelihood(p):
    alpha = np.log(p[0])
    for _ in range(5):
        alpha = np.log(np.exp(alpha) @ p) - np.max(p)
    return np.sum(alpha)


def pieces(x):
    y = x.at[1].set(np.sin(x[0]))
    z = np.concatenate([y[::-1], np.where(x > 0, x, -x)[:3], np.pad(x, ((1, 0), (2, 1)))[:, 1:5]])
    return np.sum(z * np.roll(z, 1, axis=0))


def sorted_and_factored(x):
    return np.sum(np.sort(x, axis=1)[:, :2]) + np.sum(np.linalg.qr(x)[0][0]) + np.linalg.det(x)


def scalars(x):
    a, b = x[0, 0], np.sum(x) / x.size
    for _ in range(4):
        a, b = np.sqrt(a * a + b), np.tanh(b) * a
    return a * b


def complex_values(x):
    z = np.exp(1j * x) @ x
    return np.sum(np.abs(z) ** 2)


PROGRAMS = [recurrence, mean_of_squares, log_likelihood, pieces, sorted_and_factored, scalars,
            complex_values]  # fmt: skip


class Runs:
    """Counts the programs that ran as they were, and those that were planned."""

    def __init__(self, monkeypatch):
        self.as_they_are, self.planned = 0, 0
        run, finish = draft.Run.__call__, Draft._finish

        def counted(this, operands, note):
            self.as_they_are += 1
            return run(this, operands, note)

        def finished(this):
            self.planned += 1
            return finish(this)

        monkeypatch.setattr(draft.Run, "__call__", counted)
        monkeypatch.setattr(Draft, "_finish", finished)


@pytest.fixture
def runs(monkeypatch):
    return Runs(monkeypatch)


@pytest.fixture(autouse=True)
def on_numpy():
    with tn.use("numpy"):
        yield


def bits(tree):
    leaves = tree if isinstance(tree, (tuple, list)) else [tree]
    return [(np.asarray(x).dtype, np.shape(x), np.asarray(x).tobytes()) for x in leaves]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("transform", [tn.grad, tn.value_and_grad, tn.hessian])
def test_the_first_call_gives_the_bits_of_later_ones(f, dtype, transform):
    """bits(g(x)) is equal at every call: before the plan, by the interpreter, by the source"""
    x = P.astype(dtype)
    if f is recurrence:
        x = W.astype(dtype)
    g = transform(f)
    first = bits(g(x))
    for _ in range(72):
        assert bits(g(x)) == first


def test_a_program_is_planned_when_it_has_run_a_few_times(runs):
    def f(x):
        return np.sum(np.tanh(x @ np.cos(x)) * 1.2345)

    for call in range(RUNS_BEFORE_PLAN + 2):
        tn.grad(f)(W)
        ran = min(call + 1, RUNS_BEFORE_PLAN)
        assert (runs.as_they_are, runs.planned) == (ran, int(call >= RUNS_BEFORE_PLAN))


def test_lines_of_numbers_run_as_they_are(runs):
    """Python's numbers are decided on before the plan: f(x) has the same bits at every call."""

    def f(x):
        for _ in range(5):
            x = np.exp(-x) * np.sin(x) + np.sqrt(x) / 2.3456
        return np.where(x > 0.5, x, -x)

    g = tn.value_and_grad(f)
    first = bits(g(0.75))
    assert runs.as_they_are == 1
    for _ in range(72):
        assert bits(g(0.75)) == first
    assert runs.planned == 1


def test_numbers_where_python_raises_run_as_they_are(runs):
    """1/0, exp(1000), log(-1) give what NumPy gives, at every call."""
    f = tn.value_and_grad(lambda x: 1.0 / (x - x) + np.exp(1000.0 * x) + np.log(-x) * 3.4561)
    first = bits(f(1.0))
    for _ in range(RUNS_BEFORE_PLAN + 2):
        assert bits(f(1.0)) == first
    assert (runs.as_they_are, runs.planned) == (RUNS_BEFORE_PLAN, 1)


def test_lines_of_large_arrays_are_planned_at_once(runs):
    """Tiles are decided on by the plan."""
    x = np.linspace(0.0, 1.0, 200_000)
    tn.grad(lambda x: np.sum(np.sin(x) * np.exp(x) * 2.3456))(x)
    assert runs.as_they_are == 0


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_in_any_order_give_the_same_bits(order, runs):
    """A sum adds in the order of memory, which is that of a plan from the first call on

    What is made of the transpose of an array is in another order than row-major, or the gradient.
    """
    shape = {"C": (37, 53), "F": (37, 54)}[order]  # programs of their own
    x = np.asarray(R.standard_normal(shape), order=order)

    def f(x):
        y = np.exp(np.sin(x.T) * 3.4567)
        return np.sum(y * y) + np.sum(y @ x)

    g = tn.value_and_grad(f)
    first = bits(g(x))
    assert runs.planned == 1
    assert first == bits(g(x)) == bits(g(x))


def test_an_error_says_the_same_in_every_run():
    """The equation, the provider and the user's line stand in the notes of the first one, too"""
    singular = np.ones((3, 3))

    def f(x):
        return np.sum(np.linalg.inv(x * 4.5678) @ x)

    notes = []
    for _ in range(RUNS_BEFORE_PLAN + 2):
        with pytest.raises(Exception, match=r".") as raised:
            tn.grad(f)(singular)
        notes.append((type(raised.value), str(raised.value), raised.value.__notes__))
    assert all(each == notes[0] for each in notes)
    assert any("inv" in note or "solve" in note or "lu" in note for note in notes[0][2])


RAISING = {
    "a lowering": (lambda x: np.linalg.inv(x * 4.6789), np.ones((3, 3))),
    "an integer division": (lambda x: x // (x - x), np.arange(5)),
    "a callback": (lambda x: tn.host_callback(lambda x: x[1:], x, results=x), np.ones(3)),
}


@pytest.mark.parametrize("cause", RAISING)
def test_an_error_of_jit_says_the_same_before_and_after_its_source_is_compiled(cause):
    """Text, notes and the frames of the traceback"""
    f, x = RAISING[cause]
    f, told = tn.jit(f), []
    for _ in range(executable._RUNS_OF_PREPARED + 2):
        with pytest.raises(tn.TenferroError) as raised:
            f(x)
        frames = [frame.name for frame in traceback.extract_tb(raised.tb)]
        told.append((type(raised.value), str(raised.value), raised.value.__notes__, frames))
    assert all(each == told[0] for each in told)


def test_results_of_the_first_run_alias_nothing(backend, program, checks):
    def f(x):
        y = tp.sin(x) * x
        return y, tp.transpose(y, (1, 0)), x, tp.constant(2.0, "float64", (3,)), y

    made = program(f, W)
    backend._plans.clear()
    executable = backend.compile(made, made.input_avals)
    first = executable(W)
    checks.assert_detached(first, [W])
    second = executable(W)
    checks.assert_detached((*first, *second), [W])
    assert bits(first) == bits(second)
    assert executable.plan
    assert bits(first) == bits(executable(W))


def test_threads_that_share_a_new_program_get_the_same_bits(backend, program):
    made = program(lambda x: tp.tanh(x * x) * x, W)
    for _ in range(20):
        backend._plans.clear()
        executable = backend.compile(made, made.input_avals)
        start, found = threading.Barrier(4), []

        def work(start=start, found=found, executable=executable):
            start.wait()
            found.append(bits(executable(W)))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 4
        assert all(each == found[0] for each in found)


FIRST_GRADIENT = """
import gc, sys
import numpy as np
collections = []
gc.callbacks.append(lambda phase, info: collections.append(phase))
import tenferro as tn
with tn.use("numpy"):
    tn.grad(lambda x: np.sum(np.log(np.sin(1.3 * x) * np.exp(-x) + x)))(np.linspace(0.5, 2.0, 10))
print(gc.isenabled(), len(collections), *sys.modules)
"""


def test_a_first_gradient_loads_only_what_it_needs_and_is_not_interrupted_by_the_collector():
    done = subprocess.run(
        [sys.executable, "-c", FIRST_GRADIENT], capture_output=True, text=True, check=True
    )
    is_enabled, collections, *loaded = done.stdout.split()
    rare = {
        "mmap", "tenferro.arrays.diagnosis.copy_warnings", "tenferro.arrays.diagnosis.hints",
        "tenferro.arrays.functions.broadcasting", "tenferro.arrays.functions.complex",
        "tenferro.arrays.functions.creation", "tenferro.arrays.functions.structural",
        "tenferro.arrays.handle.scipy_operators", "tenferro.backend._plugin_passes",
        "tenferro.backend.discovery.hints", "tenferro.backend.discovery.listed",
        "tenferro.backend.discovery.refusals", "tenferro.backend.exporting",
        "tenferro.backend.interpreter", "tenferro.backend.lowering.gaps",
        "tenferro.backend.lowering.splice", "tenferro.backend.timings",
        "tenferro.computegraph._evaluate", "tenferro.passes._transposed_slices",
        "tenferro.primitives._faults", "tenferro.primitives.special",
        "tenferro.tidu._record_template", "tenferro_numpy.machine.kept_pages",
        "tenferro_numpy.plan_passes.elements", "tenferro_numpy.plan_passes.row_major",
        "tenferro_numpy.python_scalars",
    }  # fmt: skip
    assert not rare.intersection(loaded)
    assert is_enabled == "True"
    assert int(collections) < 20  # a start and an end each; about 50 without the pauses


NOTHING_TO_REWRITE = """
import sys
import numpy as np
import tenferro as tn
def f(x):
    both = np.sin(np.concatenate([x, x[:70] * x[3], np.exp(x[:80])]))  # 250 floats
    return np.sum(both * both) + np.sum((x > 0) * x) + np.sum(x[10:20]) + np.sum(x[20:50])
with tn.use("numpy"):
    tn.value_and_grad(f)(np.linspace(-1.0, 1.0, 100))
print(*sys.modules)
"""


def test_passes_with_nothing_to_rewrite_do_not_load():
    done = subprocess.run(
        [sys.executable, "-c", NOTHING_TO_REWRITE], capture_output=True, text=True, check=True
    )
    passes = {"early_reads", "index_columns", "mask_counts", "slice_indices"}
    unused = {f"tenferro_numpy.plan_passes.{name}" for name in passes}
    unused |= {"tenferro.passes.rewrites.packs", "tenferro_numpy.kernels.tile_reductions"}
    assert not unused.intersection(done.stdout.split())

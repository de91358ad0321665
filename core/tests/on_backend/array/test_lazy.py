"""Nothing runs before it is asked for, nothing runs twice, nothing is held longer than needed."""

import copy
import gc
import pickle
from threading import Thread

import numpy as np
import pytest

import tenferro as tn
from tenferro.arrays import PROGRAMS
from tenferro.computegraph import UNKNOWN
from tenferro.computegraph._keys import table_size
from tenferro.primitives import host_callback


def runs():
    """How many programs were run to evaluate arrays since the process began."""
    return PROGRAMS.stats.hits + PROGRAMS.stats.misses


def compiled():
    return PROGRAMS.stats.misses


def is_known(x):
    return x.key.operand is not UNKNOWN


def array(*values):
    return tn.asarray(np.array(values))


# ---- when something runs -------------------------------------------------------------------------


def test_recording_runs_nothing():
    before = runs()
    y = np.sum(np.sin(array(1.0, 2.0)) * 2 + array(1.0, 1.0)[::-1])
    assert (y.shape, y.dtype, len(array(1.0, 2.0))) == ((), tn.float64, 2)
    assert runs() == before
    assert not is_known(y)


@pytest.mark.parametrize(
    "ask",
    [
        *(repr, str, bool, float, complex, np.asarray, tn.evaluate, tn.Array.item, tn.Array.tolist),
        *(tn.Array.evaluate, "{:.2f}".format),
    ],
)
def test_whatever_asks_for_the_value_runs_one_program_once(ask):
    x = array(1.0, 2.0).sum() * 2
    before = runs()
    ask(x)
    ask(x)
    assert runs() == before + 1


def test_arrays_evaluated_together_run_as_one_program():
    x = array(0.5, 2.0)
    a, b = np.sin(x), np.cos(x)
    before = runs()
    tn.evaluate(a, b)
    assert (runs(), is_known(a), is_known(b)) == (before + 1, True, True)


def test_a_pending_value_that_somebody_holds_is_computed_with_what_needs_it():
    middle = np.exp(array(0.25, 0.75))
    end = middle.sum()
    before = runs()
    float(end), np.asarray(middle)
    assert runs() == before + 1


def test_positions_of_one_index_are_evaluated_by_one_program():
    x, i, j = tn.arange(12.0).reshape(3, 4), array(0, 2), array(3, 1)
    before = runs()
    y = x[i - 1, j + i]
    assert (runs(), is_known(y)) == (before + 1, False)
    np.testing.assert_array_equal(y, [11.0, 7.0])


def test_losses_read_at_the_end_cost_linear_work():
    w, losses, count = array(1.0, 2.0), [], 200
    for _ in range(count):
        w = w - 0.1 * w
        losses.append((w * w).sum())
    assert float(losses[-1]) == pytest.approx(5 * 0.81**count)
    before = compiled()
    assert float(losses[0]) == pytest.approx(5 * 0.81)
    assert sum([float(x) for x in losses]) == pytest.approx(5 * 0.81 * (1 - 0.81**count) / 0.19)
    assert compiled() <= before + 1  # what is left of every loss is one small program


# ---- programs ------------------------------------------------------------------------------------


def test_the_second_iteration_of_a_loop_compiles_nothing():
    w = (array(1.0, 2.0, 3.0) * 1).evaluate()
    for step in range(6):
        w = w - (0.1 + step / 100) * np.sin(w)
        w.evaluate()
        if step == 0:
            before = compiled()
    assert compiled() == before


def test_numbers_that_the_user_writes_are_inputs_of_one_program():
    x = array(1.0, 2.0, 4.0, 8.0)
    before = compiled()
    results = [float((x * rate + 1).sum()) for rate in (0.5, 0.25, 0.125)]
    assert results == [11.5, 7.75, 5.875]
    assert compiled() == before + 1


def test_the_sign_of_zero_is_kept():
    x = tn.asarray(np.array(1.0))
    assert [np.signbit(np.asarray(x * zero)) for zero in (0.0, -0.0, 0.0)] == [False, True, False]
    halves = [np.sqrt(np.asarray(x * 0 + z)).imag for z in (complex(-1, 0.0), complex(-1, -0.0))]
    assert halves == [1, 1]  # x * 0 is +0, and +0 - 0 = +0
    parts = [np.asarray(tn.asarray(z)).imag for z in (complex(-1, 0.0), complex(-1, -0.0))]
    assert [np.signbit(part) for part in parts] == [False, True]


# ---- memory --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("few_objects")
def test_a_long_loop_of_updates_flushes_and_holds_bounded_memory():
    w, start, sizes, before = array(1.0, 2.0), table_size(), [], compiled()
    for i in range(7000):
        w = w * 0.999 + 0.001
        if i % 200 == 0:
            sizes.append(table_size() - start)
    assert max(sizes) <= 5000
    np.testing.assert_allclose(np.asarray(w), 1 + np.array([0.0, 1.0]) * 0.999**7000)
    assert compiled() <= before + 3
    del w
    gc.collect()
    assert table_size() <= start + 100


def test_results_of_one_operation_are_computed_together():
    """One run of the operation, however many of its results are read one by one."""
    calls = []

    def doubled(*xs):
        calls.append(xs)
        return tuple([np.asarray(x) * 2 for x in xs])

    xs = [array(float(i)) for i in range(12)]
    ys = host_callback(doubled, [x.key.aval for x in xs], *xs)
    assert [float(y[0]) for y in ys] == [2.0 * i for i in range(12)]
    assert len(calls) == 1


def test_history_is_dropped_after_evaluation():
    x = np.sin(array(1.0, 2.0))
    y = x * 2
    tn.evaluate(x)
    assert x.key.definition is None
    assert y.key.definition is not None
    assert y.evaluate().key.definition is None


def test_history_is_kept_while_a_trace_is_open():
    def f(x):
        y = np.sin(x)
        assert y[0] > 0
        assert y.key.definition is not None
        return np.sum(y)

    assert tn.grad(f)(np.ones(2)) == pytest.approx(np.cos(1))


# ---- what is captured, and what leaves -----------------------------------------------------------


@pytest.mark.parametrize("size", [3, 5000])
def test_a_captured_array_is_a_snapshot(size):
    buffer = np.ones(size)
    lazy = tn.asarray(np.zeros(size)) + buffer
    buffer[:] = 7
    assert np.asarray(lazy).max() == 1


def test_small_arrays_of_equal_content_are_one_input():
    assert array(1.0, 2.0).key is array(1.0, 2.0).key
    assert array(1.0, 2.0).key is not array(1.0, 3.0).key
    assert array(0.0).key is not array(-0.0).key
    assert array(0.0).key is not tn.asarray(np.array([0])).key


@pytest.mark.parametrize("size", [3, 5000])
def test_results_are_writeable_and_alias_nothing(size):
    source = np.ones(size)
    x = tn.asarray(source)
    views = [np.asarray(y) for y in (x, x, x[:], x.reshape(size, 1), x + 0, x.copy(), +x)]
    for view in views:
        view[...] = 5
    assert np.asarray(x).max() == source.max() == 1
    assert np.asarray(x + 0).max() == 1


def test_an_array_made_from_numpy_asks_for_a_copy():
    with pytest.raises(ValueError, match="copy"):
        np.asarray(array(1.0), copy=False)
    assert np.array(array(1.0), dtype="float32").dtype == np.float32


def test_rank_0_leaves_as_a_scalar_of_numpy_and_is_an_array_when_asked():
    x = tn.asarray(np.float32(1.5)) * 2
    assert (x.item(), type(x.item())) == (3.0, float)
    assert (np.asarray(x).shape, np.asarray(x).dtype) == ((), np.float32)


# ---- copies, pickles, printing -------------------------------------------------------------------


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copies_and_pickles_carry_the_value(copied):
    x = np.sin(array(1.0, 2.0))
    for _ in range(3000):
        x = x + 1
    np.testing.assert_array_equal(np.asarray(copied(x)), np.asarray(x))
    assert copied(x).dtype is x.dtype


def test_a_pickle_under_a_transform_is_refused():
    with pytest.raises(tn.TracedConversionError):
        tn.grad(lambda x: pickle.loads(pickle.dumps(x)))(1.0)


@pytest.mark.parametrize(
    "x, text",
    [
        (np.array(1.5), "Array(1.5)"),
        (np.array([1, 2]), "Array([1, 2])"),
        (np.array([1, 2], "int32"), "Array([1, 2], dtype=int32)"),
        (np.array([[True]]), "Array([[ True]])"),
        (np.zeros((0, 3)), "Array([], shape=(0, 3), dtype=float64)"),
    ],
)
def test_repr_shows_the_values(x, text):
    assert repr(tn.asarray(x)) == text


def test_repr_of_an_abstract_value_shows_its_aval():
    seen = []
    tn.jit(lambda x: seen.append((repr(x), str(x), f"{x}")) or x)(np.ones(2))
    assert seen == [("Array(f64[2], abstract)",) * 3]


def test_threads_evaluate_shared_values():
    x = tn.asarray(np.ones(10))
    shared = [np.sin(x + i) for i in range(50)]
    results = [[] for _ in range(4)]
    threads = [
        Thread(target=lambda out: out.extend(float((y * 2).sum()) for y in shared), args=(out,))
        for out in results
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[pytest.approx(20 * np.sin(1.0 + i)) for i in range(50)]] * 4


def test_a_program_does_not_depend_on_which_numbers_are_held_elsewhere():
    def step(rate):
        return float((rate * np.sin(array(1.0, 5.0)) + rate).sum())

    held = tn.asarray(0.75) * 1  # this number is older than anything in a step
    first, before = step(0.625), compiled()
    assert step(0.75) != first
    assert compiled() == before
    assert float(held) == 0.75

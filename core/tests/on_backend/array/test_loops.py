"""The second iteration of a loop compiles nothing, whatever else is alive and whatever it reads."""

import gc

import numpy as np
import pytest

import tenferro as tn
from tenferro.arrays import PROGRAMS
from tenferro.computegraph._keys import table_size

N = 5


def compiled():
    return PROGRAMS.stats.misses


def arrays(count=1):
    return [(tn.asarray(np.linspace(0.5, 1.5, N) + i) * 1).evaluate() for i in range(count)]


def descend(a, i):
    a[0] = a[0] - (0.1 + i / 100) * np.sin(a[0])


def write_an_element(a, i):
    a[0][i % N] += 1.0


def write_a_window(a, i):
    a[0][i % 3 : i % 3 + 2] = a[0][1:3] * 0.5


def write_from_the_end(a, i):
    a[0][-1 - i % N] = a[0][i % N] * 0.5


def write_at_positions(a, i):
    a[0][[i % N, (2 * i) % N, -1]] = 0.5 * a[0][2]


def write_where_a_mask_holds(a, i):
    a[0][a[0] > i % 2] *= 0.5


def accumulate_at_positions(a, i):
    a[0] = a[0].at[[i % 2, i % 3]].add(0.25)


def read_a_batch(a, i):
    a[0] = a[0] * 0.9 + a[1][i % 3 + 1 : i % 3 + 2].sum()


def equal_numbers_by_chance(a, i):
    a[0] = a[0] * (0.5, 0.25)[i % 2] + (0.5, 0.25, 0.125)[i % 3]


def equal_arrays_by_chance(a, i):
    rows = np.eye(N)
    a[0] = a[0] * rows[i % 2] + rows[i % 3]


def momentum(a, i):
    w, m, v = a
    gradient = w * 0.5 - 1
    m = 0.9 * m + gradient
    v = 0.99 * v + 0.01 * gradient * gradient
    a[:] = w - 0.01 * m / (np.sqrt(v) + 1e-8), m, v


def swap(a, i):
    a[0], a[1] = a[1] * 0.5, a[0] + a[1]


LOOPS = (
    descend,
    write_an_element,
    write_a_window,
    write_from_the_end,
    write_at_positions,
    write_where_a_mask_holds,
    accumulate_at_positions,
    read_a_batch,
    equal_numbers_by_chance,
    equal_arrays_by_chance,
    momentum,
    swap,
)


@pytest.mark.parametrize("step", LOOPS)
def test_the_second_iteration_compiles_nothing(step):
    state = arrays(3)
    for i in range(8):
        step(state, i)
        tn.evaluate(*state)
        if i == 0:
            before = compiled()
    assert compiled() == before


@pytest.mark.parametrize("step", LOOPS)
def test_it_compiles_nothing_whichever_results_are_kept(step):
    state, kept = arrays(3), []
    for i in range(12):
        step(state, i)
        if i % 3 == 1:
            kept.append(state[0] * 2)  # pending, and alive when the next iterations run
        if i % 4 == 3:
            kept.clear()
        tn.evaluate(*state)
        if i == 3:  # with and without something kept
            before = compiled()
    assert compiled() == before


@pytest.mark.parametrize("order", ["left", "right"])
def test_the_age_of_an_operand_does_not_change_the_program(order):
    """A factor that is held since before the loop, or was made anew, in a commutative product."""
    x, w = arrays(2)
    held = []
    for i in range(8):
        if i % 3 == 1:
            held.append(np.sin(x))  # older than what the product meets below
        if i % 3 == 0:
            held.clear()
        a = np.exp(w)
        b = np.sin(x)
        w = a * b * 0.1 if order == "left" else b * a * 0.1
        w.evaluate()
        if i == 0:
            before = compiled()
    assert compiled() == before


@pytest.mark.usefixtures("few_objects")
@pytest.mark.parametrize("step", LOOPS)
def test_a_loop_that_asks_for_nothing_stays_small(step):
    state, start, sizes = arrays(3), table_size(), []
    for i in range(3000):
        step(state, i)
        if i == 1500:
            before = compiled()
        if i % 200 == 0:
            sizes.append(table_size() - start)
    assert compiled() - before <= 2
    assert max(sizes) <= 12000
    tn.evaluate(*state)
    del state
    gc.collect()
    assert table_size() <= start + 9000  # numbers beside arrays are kept, so many at most


def test_what_is_computed_of_a_small_array_is_computed_once():
    x = c = tn.asarray(np.linspace(0.0, 1.0, N))  # a number by its size: equal ones are one input
    for _ in range(1900):
        x = np.sin(x)
    y = sum(x * (i + 1.0) for i in range(20)) + c
    before = compiled()
    want = np.linspace(0.0, 1.0, N)
    for _ in range(1900):
        want = np.sin(want)
    np.testing.assert_allclose(y, want * 210 + np.linspace(0.0, 1.0, N))
    assert compiled() <= before + 1


def test_losses_and_parameters_together():
    w, losses = arrays()[0], []
    for i in range(600):
        gradient = w * 0.5 - i % 7
        w -= 0.01 * gradient
        losses.append((gradient * gradient).sum())
    want, v = [], np.linspace(0.5, 1.5, N)
    for i in range(600):
        gradient = v * 0.5 - i % 7
        v = v - 0.01 * gradient
        want.append((gradient**2).sum())
    np.testing.assert_allclose([float(x) for x in losses], want)

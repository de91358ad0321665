"""Donated arguments: results do not change, and nothing is written to that others may read."""

import numpy as np
import pytest

import tenferro as tn


def step(x, state):
    return x.at[1].set(7.0), {"m": state["m"] * 2.0 + x.sum(), "count": state["count"] + 1}


def arguments():
    return np.arange(5.0), {"m": np.ones((2, 3)), "count": np.zeros(3, np.int64)}


@pytest.mark.parametrize("donated", [(0,), (1,), (0, 1)])
def test_results_are_those_without_donation(donated):
    want = tn.jit(step)(*arguments())
    for _ in range(3):
        got = tn.jit(step, donate_argnums=donated)(*arguments())
        np.testing.assert_array_equal(got[0], want[0])
        for name in want[1]:
            np.testing.assert_array_equal(got[1][name], want[1][name])


def test_what_is_not_donated_is_not_written_to():
    x, state = arguments()
    tn.jit(step, donate_argnums=1)(x, state)
    np.testing.assert_array_equal(x, np.arange(5.0))


def test_arrays_that_share_their_value_keep_it():
    """Equal expressions are one value: donating one of two must not change the other."""
    x, y = tn.asarray(np.arange(2000.0)) + 1.0, tn.asarray(np.arange(2000.0)) + 1.0
    np.testing.assert_array_equal(np.asarray(x), np.asarray(y))
    tn.jit(lambda x: x.at[0].set(-1.0), donate_argnums=0)(x)
    assert float(y[0]) == float(x[0]) == 1.0


def test_a_donated_array_of_ours_is_left_alone():
    x = tn.asarray(np.arange(3.0)) + 1.0
    assert tn.jit(lambda x: x * 2, donate_argnums=0)(x).tolist() == [2, 4, 6]
    assert x.tolist() == [1, 2, 3]


@pytest.mark.parametrize("bad", ["a", ("a",), (0.0,)], ids=str)
def test_positions_are_numbers(bad):
    with pytest.raises(TypeError, match="donate_argnums are positions of arguments"):
        tn.jit(lambda a: a, donate_argnums=bad)


def test_a_donated_position_counts_static_ones():
    f = tn.jit(lambda n, x, y: (x * n).at[0].set(0.0) + y, static_argnums=0, donate_argnums=1)
    y = np.ones(4)
    for _ in range(2):
        np.testing.assert_array_equal(f(3, np.ones(4), y), [1.0, 4.0, 4.0, 4.0])
    np.testing.assert_array_equal(y, np.ones(4))


def test_a_method_donates_its_own_positions():
    class Model:
        @lambda f: tn.jit(f, donate_argnums=1)
        def update(self, x):
            return x.at[0].set(9.0)

    np.testing.assert_array_equal(Model().update(np.zeros(3)), [9.0, 0.0, 0.0])

"""Donated inputs are written to where nobody reads them any more, and only they."""

import numpy as np
import pytest

import tenferro as tn
from tenferro import primitives as tp


def put(x, value):
    start = tp.constant(2, "int64")
    return tp.dynamic_update_slice(x, tp.broadcast_in_dim(value, (1,), ()), [start])


@pytest.fixture
def donating(backend, program):
    def run(function, *arrays, **options):
        made = program(function, *arrays)
        return backend.compile(made, made.input_avals, {"donated": (0,), **options})(*arrays)

    return run


def test_an_update_of_a_donated_array_is_in_place(donating):
    x = np.zeros(5)
    (result,) = donating(put, x, np.float64(7.0))
    assert np.shares_memory(result, x)
    np.testing.assert_array_equal(result, [0, 0, 7, 0, 0])


@pytest.mark.parametrize("tile", [0, 8])
def test_elementwise_results_go_into_donated_arrays(donating, tile):
    x = np.linspace(0, 1, 100)
    expected = np.sin(x * 2 + 1)
    (result,) = donating(lambda x: tp.sin(x * 2 + 1), x, tile=tile, threads=1)
    assert np.shares_memory(result, x)
    np.testing.assert_array_equal(result, expected)


def test_others_are_not_written_to(backend, program):
    x, y = np.ones(5), np.zeros(5)
    made = program(lambda x, y: (put(y, tp.constant(1.0, "float64")), x + y), x, y)
    results = backend.compile(made, made.input_avals, {"donated": (0,)})(x, y)
    np.testing.assert_array_equal(y, np.zeros(5))
    np.testing.assert_array_equal(results[1], np.ones(5))


def test_what_is_read_again_is_not_written_over(donating):
    x = np.linspace(0, 1, 5)
    before = x.copy()
    updated, total = donating(lambda x, v: (put(x, v), tp.reduce_sum(x, (0,))), x, np.float64(9.0))
    np.testing.assert_allclose(total, before.sum(), rtol=1e-15)
    assert updated[2] == 9.0


def test_a_donated_array_that_another_argument_overlaps_is_copied(donating):
    x = np.arange(6.0)
    (result,) = donating(lambda x, y: put(x, tp.constant(9.0, "float64")) + y, x, x)
    np.testing.assert_array_equal(x, np.arange(6.0))
    np.testing.assert_array_equal(result, [0, 2, 11, 6, 8, 10])


def test_a_read_only_array_is_copied(donating):
    x = np.zeros(5)
    x.flags.writeable = False
    (result,) = donating(put, x, np.float64(7.0))
    assert result[2] == 7.0
    assert not x.any()


def test_a_donated_input_that_is_a_result_is_one_of_its_own(donating, checks):
    x = np.ones(3)
    results = donating(lambda x: (x, tp.neg(x)), x)
    checks.assert_detached(results, [])
    np.testing.assert_array_equal(results[0], np.ones(3))
    np.testing.assert_array_equal(results[1], -np.ones(3))


@pytest.mark.parametrize("bad", [(1,), (-1,), (True,), ("x",), 0, None])
def test_donated_are_numbers_of_inputs(backend, program, bad):
    made = program(lambda x: x + x, np.ones(3))
    with pytest.raises(ValueError, match="numbers of the 1 inputs"):
        backend.compile(made, made.input_avals, {"donated": bad})


def test_a_loop_of_donated_updates_copies_nothing():
    f = tn.jit(lambda x, i: x.at[i].set(1.0), donate_argnums=0, backend="numpy")
    x = np.zeros(100_000)
    first = x.ctypes.data
    for i in range(5):
        x = f(x, np.int64(i))
    np.testing.assert_array_equal(x[:6], [1, 1, 1, 1, 1, 0])
    assert x.ctypes.data == first


def test_a_donated_array_that_overlaps_itself_is_copied(donating):
    windows = np.lib.stride_tricks.sliding_window_view(np.zeros(6), 2, writeable=True)
    start = [0, 0]

    def change(x):
        one = tp.constant(1.0, "float64", (1, 2))
        return tp.dynamic_update_slice(x, one, [tp.constant(i, "int64") for i in start])

    (result,) = donating(change, windows)
    np.testing.assert_array_equal(result, [[1, 1], [0, 0], [0, 0], [0, 0], [0, 0]])


@pytest.mark.parametrize("part", [np.s_[::2], np.s_[:, 1:3], np.s_[::-1, ::-2], np.s_[:, :, None]])
def test_a_part_of_an_array_may_be_donated(donating, part):
    x = np.arange(24.0).reshape(6, 4)[part]
    expected = x * 3
    (result,) = donating(lambda x: x * 3.0, x)
    assert np.shares_memory(result, x)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("step", [1, 2, -1])
def test_a_product_is_not_written_into_a_donated_array_of_any_stride(donating, step):
    """BLAS writes rows alone: a donated vector may be a column, and is read before"""
    x = np.linspace(0.0, 1.0, 12)[::step][:6]
    matrix = np.arange(36.0).reshape(6, 6)
    expected = matrix @ np.sin(x * matrix).sum(axis=0)
    (result,) = donating(
        lambda x, matrix: tp.dot_general(
            matrix,
            tp.reduce_sum(tp.sin(tp.broadcast_in_dim(x, (6, 6), (1,)) * matrix), (0,)),
            (1,),
            (0,),
        ),
        x,
        matrix,
    )
    np.testing.assert_allclose(result, expected, rtol=1e-13)

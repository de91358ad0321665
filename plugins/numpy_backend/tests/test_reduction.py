"""Reductions against NumPy: axes, dtypes, empty, NaN, ties."""

import numpy as np
import pytest

from tenferro import primitives as tp

X = np.array([[[3, 1, 2], [4, 1, 5]], [[9, 2, 6], [5, 3, 5]]])
AXES = [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "float32", "float64", "complex64"])
@pytest.mark.parametrize("name", ["reduce_sum", "reduce_prod"])
def test_sum_and_product(check, name, dtype, axes):
    x = X.astype(dtype)
    reference = {"reduce_sum": np.sum, "reduce_prod": np.prod}[name]
    expected = reference(x, axis=axes, dtype=dtype)
    check(
        lambda x: getattr(tp, name)(x, axes),
        [x],
        expected,
        rtol=1e-5 if x.dtype.kind in "fc" else 0,
    )


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("dtype", ["bool", "int8", "float32"])
@pytest.mark.parametrize("name", ["reduce_max", "reduce_min"])
def test_extremes(check, name, dtype, axes):
    x = (X > 3) if dtype == "bool" else X.astype(dtype)
    reference = {"reduce_max": np.max, "reduce_min": np.min}[name]
    check(lambda x: getattr(tp, name)(x, axes), [x], reference(x, axis=axes))


def test_empty(check):
    x = np.empty((0, 3), "float32")
    check(lambda x: tp.reduce_sum(x, (0,)), [x], np.zeros(3, "float32"))
    check(lambda x: tp.reduce_prod(x, (0, 1)), [x], np.float32(1))
    check(lambda x: tp.reduce_max(x, (1,)), [x], np.empty(0, "float32"))


def test_rank_zero(check):
    check(lambda x: tp.reduce_sum(x, ()), [np.float32(3)], np.float32(3))


@pytest.mark.parametrize("name", ["reduce_max", "reduce_min"])
def test_nan_wins(check, name):
    x = np.array([[1.0, np.nan], [0.0, 2.0]])
    expected = getattr(np, name.removeprefix("reduce_"))(x, axis=0)
    check(lambda x: getattr(tp, name)(x, (0,)), [x], expected)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_positions(check, name, dtype, axis):
    expected = getattr(np, name)(X, axis).astype(dtype)
    check(lambda x: getattr(tp, name)(x, axis, dtype), [X], expected)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_first_and_nan_win_positions(check, name):
    x = np.array([1.0, np.nan, 1.0, np.nan])
    check(lambda x: getattr(tp, name)(x, 0), [x], np.int64(1))
    check(lambda x: getattr(tp, name)(x, 0), [np.array([2, 2, 2])], np.int64(0))


def test_pairwise_summation(check):
    x = np.full(1 << 20, 0.1, "float32")
    check(lambda x: tp.reduce_sum(x, (0,)), [x], np.float32(0.1) * np.float32(1 << 20), rtol=1e-6)

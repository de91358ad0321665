"""Sums of masks are counts: the numbers of NumPy, without an array of converted bools."""

import numpy as np
import pytest

import tenferro as tn
from tenferro import primitives as tp

X = np.random.default_rng(3).normal(size=(6, 7))
X[0, 0], X[1, 1], X[2, 2:4] = np.nan, np.inf, X.max()


def whole(x):
    return np.floor(np.nan_to_num(x, posinf=9.0)).astype("int64")


COUNTS = {  # programs whose sums over all elements read the mask
    "positive": lambda x: np.sum((x > 0).astype("float64")),
    "share": lambda x: np.mean(x > 0.5),
    "not smaller": lambda x: np.sum(np.logical_not(x < 0).astype("float64")),
    "in single precision": lambda x: np.sum((x > 0).astype("float32")),
    "integers": lambda x: np.sum(x > 0),
    "narrow integers": lambda x: np.sum((x > 0).astype("int32")),
    "none": lambda x: np.sum((x[:0] > 0).astype("float64")),
    "nonzero": lambda x: np.sum(np.logical_not(np.isnan(x)).astype("float64")) ** 2,
    "transposed": lambda x: np.sum((x.T[::2] > 0).astype("float64")),
}
OTHERS = {  # programs that need the mask as numbers, too, or another sum
    "rows": lambda x: np.sum((x > 0).astype("float64"), axis=1),
    "read again": lambda x: [np.sum(m := (x > 0).astype("float64")), m],
    "mask returned": lambda x: [np.sum((m := np.logical_not(x > 0)).astype("float64")), m],
    "twice": lambda x: np.sum(m := (x > 0).astype("float64")) + np.sum(m * np.nan_to_num(x)),
    "complex": lambda x: np.sum((x > 0).astype("complex128")),
    "whole numbers": lambda x: np.sum(whole(x).astype("float64")) * np.mean(x > 0),
    "of one element": lambda x: np.sum((x[0, 1] > 0).astype("float64")),
}


def compiled(function):
    return tn.jit(function, backend="numpy")


@pytest.mark.parametrize("name", [*COUNTS, *OTHERS])
@pytest.mark.parametrize("given", [X, np.zeros((6, 7)), np.ones((6, 7))], ids=["", "0", "1"])
def test_counts_are_those_of_numpy(name, given):
    f = {**COUNTS, **OTHERS}[name]
    g, expected = compiled(f), f(given)
    for _ in range(2):
        for found, want in zip(*map(listed, (g(given), expected)), strict=True):
            assert np.asarray(found).dtype == np.asarray(want).dtype
            np.testing.assert_array_equal(found, want)


def listed(values):
    return values if isinstance(values, (list, tuple)) else [values]


@pytest.mark.parametrize("name", COUNTS)
def test_no_mask_is_converted(name):
    text = compiled(COUNTS[name]).explain(X)
    assert "astype" not in text
    assert ".dot(" not in text


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int64", "float32", "complex64"])
def test_sums_wrap_around_in_narrow_integers(check, dtype):
    """300 bools are 44 in int8 and in uint8"""
    mask = np.arange(600).reshape(20, 30) % 2 == 0
    expected = np.sum(mask.astype(dtype), dtype=dtype)
    check(lambda x: tp.reduce_sum(tp.convert(x, dtype), (0, 1)), [mask], expected)


@pytest.mark.parametrize("function, ties", [(np.max, 2), (np.min, 1)])
def test_equal_extremes_share_the_gradient(function, ties):
    """d max(x)/dx is 1/n at each of n equal largest elements, and 0 elsewhere"""
    x = np.where(np.isfinite(X), X, 0.25)
    x[2, 2:4] = 9.0
    found = compiled(tn.grad(function))(x)
    np.testing.assert_array_equal(found, (x == function(x)) / ties)

"""Operands of every dtype, and comparisons of what comes out."""

import numpy as np

inf, nan = np.inf, np.nan
FLOATS = ("float32", "float64")
COMPLEXES = ("complex64", "complex128")
INTEGERS = ("int32", "int64")
NARROW = ("int8", "int16", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16")
NUMERIC = (*FLOATS, *COMPLEXES, *INTEGERS)
REAL = (*FLOATS, *INTEGERS)
ALL = (*NUMERIC, "bool")
SHAPES = ((), (0,), (1,), (2, 3))


def sample(dtype, *shape, seed=0, low=-4, high=5):
    """Numbers of a dtype: small integers, also as floats, so that most results are exact."""
    rng = np.random.default_rng(seed)
    whole = rng.integers(low, high, shape)
    if dtype == "bool":
        return whole > 0
    if dtype in COMPLEXES:
        return (whole + 1j * rng.integers(low, high, shape)).astype(dtype)
    return np.asarray(whole).astype(dtype)


def same(got, want):
    """Shape, dtype and values, a nan like a nan."""
    want = np.asarray(want)
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    np.testing.assert_array_equal(got, want)


def near(got, want, ulps=8):
    """Shape, dtype, and values up to some ulps of the largest part."""
    want = np.asarray(want)
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    np.testing.assert_allclose(got, want, rtol=ulps * np.finfo(want.dtype).eps, atol=1e-30)

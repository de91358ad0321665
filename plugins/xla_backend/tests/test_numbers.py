"""Numbers that a jitted function captures are constants of what XLA compiles."""

import numpy as np
import pytest

import tenferro as tn

X = np.array([0.5, -1.25, 3.0])
NUMBERS = [2.5, 0.0, -0.0, np.inf, -np.inf, 3, -7, True, 2.0 - 1.5j, np.float64(0.1)]


def parameters(function, *args):
    """Return how many operands the compiled program has."""
    text = tn.jit(function, backend="xla").explain(*args)
    return text[text.index("ENTRY ") :].count(" parameter(")


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_the_results_are_those_without_jit(number, dtype):
    x = X.astype(dtype)

    def f(x):
        return x * number, x / (1.0 + np.abs(number)), np.arctan2(x.real * 0.0, number.real)

    with np.errstate(all="ignore"):
        wanted = f(x)
    for found, want in zip(tn.jit(f, backend="xla")(x), wanted, strict=True):
        assert found.dtype == want.dtype
        np.testing.assert_allclose(found, want, rtol=1e-6)
        np.testing.assert_array_equal(np.signbit(found.real), np.signbit(want.real))


def test_only_arrays_are_operands():
    captured = np.linspace(0.0, 1.0, 3)
    assert parameters(lambda x: 0.1 * x + 2.0 * np.sin(x) ** 3.5, X) == 1
    assert parameters(lambda x: 0.1 * x + captured, X) == 2


def test_a_number_is_read_when_the_function_is_traced():
    scale = 2.0

    def f(x):
        return scale * x

    first = tn.jit(f, backend="xla")
    np.testing.assert_array_equal(first(X), 2.0 * X)
    scale = 3.0
    np.testing.assert_array_equal(first(X), 2.0 * X)
    np.testing.assert_array_equal(tn.jit(f, backend="xla")(X), 3.0 * X)

"""Cumulative sums and products: NumPy's own results, from either end."""

import numpy as np
import pytest

import tenferro as tn
from tenferro.primitives.cumulative import cumprod, cumsum

X = np.random.default_rng(1).normal(size=(3, 4))
OPERANDS = [X, X.T, X.astype("float32"), 1j * X, np.arange(6).reshape(2, 3).astype("int8"), X[:0]]


def backwards(x, axis):
    return np.flip(x, axis)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("x", OPERANDS)
@pytest.mark.parametrize("primitive, function", [(cumsum, np.cumsum), (cumprod, np.cumprod)])
def test_either_end_gives_the_elements_of_numpy(primitive, function, x, axis):
    def program(x):
        back = primitive(x, axis, reverse=True)
        return primitive(x, axis), back, back + back

    back = backwards(function(backwards(x, axis), axis, dtype=x.dtype), axis)
    compiled = tn.jit(program, backend="numpy")
    for _ in range(20):  # before and after the program is planned
        found = compiled(x)
        for y, wanted in zip(
            found, (function(x, axis, dtype=x.dtype), back, 2 * back), strict=True
        ):
            np.testing.assert_array_equal(np.asarray(y), wanted)
            assert y.dtype == x.dtype


def test_a_cumulative_sum_is_one_call():
    text = tn.jit(lambda x: tn.cumsum(x, 1) + 1, backend="numpy").explain(X)
    assert "r0.cumsum(" in text

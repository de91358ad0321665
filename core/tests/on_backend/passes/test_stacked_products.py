"""Derivatives by a matrix that several steps multiply by, of stacks and of products one by one."""

import numpy as np
import pytest

import tenferro as tn

RNG = np.random.default_rng(3)
W, V = RNG.normal(size=(2, 4, 4)) / 2
ONE_BY_ONE = {"passes": {"contract": False}}


def steps(w, v):
    """Five steps from a vector."""
    for _ in range(5):
        v = np.tanh(w @ v) + 0.1 * v
    return np.sum(v * v)


def examples(w, rows):
    """Five steps from two rows."""
    for _ in range(5):
        rows = np.sin(rows @ w) * rows
    return np.sum(rows)


def signs(w, v):
    """The derivative has terms of both signs."""
    total = v
    for k in range(8):
        total = total + (-1) ** k * np.cos(w @ total)
    return np.sum(total)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("function, x", [(steps, V[0]), (examples, V[:2]), (signs, V[0])])
def test_the_gradient_is_that_of_products_one_by_one(function, x, dtype):
    real = lambda w, x: np.real(function(w, x))  # noqa: E731
    given = W.astype(dtype), x.astype(dtype)
    gradients = [
        tn.jit(tn.grad(real, (0, 1)), options=options)(*given) for options in ({}, ONE_BY_ONE)
    ]
    rtol = 2e-4 if dtype == "float32" else 1e-11
    for found, wanted in zip(*gradients, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("function, x", [(steps, V[0]), (examples, V[:2]), (signs, V[0])])
def test_products_of_hessians_agree(function, x):
    product = tn.hvp(lambda w: function(w, x))
    found, wanted = [tn.jit(product, options=o)(W, V) for o in ({}, ONE_BY_ONE)]
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)


def test_a_number_without_a_value_stays_in_its_column():
    """Each element of the sum has terms of its own"""

    def function(w, rows):
        return sum(np.sum((w @ row) * row) for row in rows)

    rows = np.ones((4, 3))
    rows[1, 2] = np.inf
    found = tn.jit(tn.grad(function))(np.zeros((3, 3)), list(rows))
    expected = np.full((3, 3), 4.0)
    expected[2], expected[:, 2] = np.inf, np.inf
    np.testing.assert_array_equal(found, expected)

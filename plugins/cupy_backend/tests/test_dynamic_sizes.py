"""Sizes that depend on values, on the stand-in: `jit(dynamic=True)` gives what NumPy gives."""

import numpy as np
import pytest

import tenferro as tn

X = np.array([0.5, -1.5, 2.0, 0.25])


def low_rank(x):
    u, s, vh = np.linalg.svd(np.stack([x, 2 * x, x**2]), full_matrices=False)
    k = int(np.sum(s > 1e-10 * s[0]))
    return (u[:, :k] * s[:k]) @ vh[:k]


FUNCTIONS = {
    "mask": lambda x: np.sum(np.sin(x)[x > 0] ** 2),
    "places": lambda x: np.nonzero(x > 0)[0] * 2,
    "rank": low_rank,
    "distinct": lambda x: np.unique(np.floor(x)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_are_those_of_numpy(name, make_backend):
    """jit(f, dynamic=True)(x) = f(x), and a second call traces nothing"""
    function, backend = FUNCTIONS[name], make_backend()
    jitted = tn.jit(function, backend=backend, dynamic=True)
    for x in (X, -X, X):
        np.testing.assert_allclose(np.asarray(jitted(x)), function(x), rtol=1e-12, atol=1e-14)
    assert jitted.cache_info().hits >= 1


def test_gradient(make_backend):
    """d/dx Σ x[x > 0]³ = 3 x² where x > 0"""
    gradient = tn.grad(lambda x: np.sum(x[x > 0] ** 3))
    jitted = tn.jit(gradient, backend=make_backend(), dynamic=True)
    for _ in range(2):
        np.testing.assert_allclose(np.asarray(jitted(X)), np.where(X > 0, 3 * X**2, 0.0))

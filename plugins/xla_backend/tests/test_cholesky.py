"""The gradient of a logarithm of a determinant through its Cholesky factor, by blocks."""

import numpy as np
import pytest

import tenferro as tn


def positive_definite(n, dtype):
    a = np.random.default_rng(n).normal(size=(n, n))
    return (a @ a.T / n + np.eye(n)).astype(dtype)


def log_determinant(a):
    """log det a"""
    return 2 * np.sum(np.log(np.diag(np.linalg.cholesky(a))))


@pytest.mark.parametrize("n, dtype", [(2, "f8"), (13, "f8"), (43, "f4")])
def test_the_gradient_of_a_log_determinant_is_the_inverse(monkeypatch, n, dtype):
    """Of a function of the lower triangle: the entries below the diagonal count twice"""
    monkeypatch.setattr("tenferro_xla.lowerings.linalg.cholesky._ROWS", 4)
    a = positive_definite(n, dtype)
    gradient = tn.jit(tn.grad(log_determinant), backend="xla")
    assert "cholesky_diagonal_cotangent" in gradient.explain(a)
    inverse = np.linalg.inv(a.astype("f8"))
    want = 2 * np.tril(inverse) - np.diag(np.diag(inverse))
    found = np.asarray(gradient(a))
    assert found.dtype == dtype
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(found, want, atol=64 * eps * abs(want).max(), rtol=0)

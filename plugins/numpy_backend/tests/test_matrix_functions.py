"""Functions of matrices by SciPy, whose versions differ in what they return."""

import numpy as np
import pytest
from scipy import linalg

import tenferro as tn

A = np.array([[3.0, 0.1, -0.1], [-0.3, 2.8, -0.4], [0.02, 0.5, 2.8]])  # has complex eigenvalues


def test_a_real_root_may_come_with_rounding_in_its_imaginary_part(monkeypatch):
    """√a √a = a, whatever SciPy before 1.15 leaves beside the real root"""
    root = linalg.sqrtm
    monkeypatch.setattr(linalg, "sqrtm", lambda x: root(x) + 1e-16j)
    found = tn.linalg.sqrtm(A)
    np.testing.assert_allclose(found @ found, A, rtol=1e-12, atol=1e-12)


def test_a_root_that_is_not_real_is_nan():
    assert np.isnan(tn.linalg.sqrtm(np.diag([1.0, -1e-12]))).all()


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("size", [1e-3, 1.0, 10.0])
def test_exp_of_a_stack_is_that_of_each_matrix(size, dtype):
    """e^A for matrices of one stack whose sizes differ, and along a direction, as mpmath says"""
    mpmath = pytest.importorskip("mpmath")
    rng = np.random.default_rng(0)
    a = size * rng.normal(size=(32, 3, 3)).astype(dtype)
    if dtype == "complex128":
        a += 1j * size * rng.normal(size=a.shape)
    a[::2] *= 0.1
    e = rng.normal(size=a.shape).astype(dtype)
    found, along = tn.jvp(tn.jit(tn.linalg.expm), (a,), (e,))
    for i in (0, 31):
        pair = np.block([[a[i], e[i]], [np.zeros((3, 3)), a[i]]])
        wanted = np.array(mpmath.expm(mpmath.matrix(pair)).tolist(), complex)[:3]
        scale = np.abs(wanted).max()
        np.testing.assert_allclose(found[i], wanted[:, :3], rtol=0, atol=1e-13 * scale)
        np.testing.assert_allclose(along[i], wanted[:, 3:], rtol=0, atol=1e-13 * scale)

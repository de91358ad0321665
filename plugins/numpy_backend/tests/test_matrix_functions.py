"""Functions of matrices by SciPy, whose versions differ in what they return."""

import numpy as np
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

"""Polar factors and bases: what defines them, and derivatives where singular values coincide."""

import numpy as np
import pytest

import tenferro as tn

scipy_linalg = pytest.importorskip("scipy.linalg")

rng = np.random.default_rng(5)
REAL, TALL, WIDE = rng.normal(size=(3, 3)), rng.normal(size=(4, 2)), rng.normal(size=(2, 4))
COMPLEX = REAL + 1j * rng.normal(size=(3, 3))
FLAT = np.outer([1.0, 2.0, 3.0], [1.0, -1.0, 0.5, 2.0])  # of rank 1
EQUAL = 2 * np.linalg.qr(REAL)[0]  # equal singular values
MATRICES = {"real": REAL, "tall": TALL, "wide": WIDE, "complex": COMPLEX, "equal": EQUAL}
by_matrix = pytest.mark.parametrize("name", MATRICES)


@by_matrix
@pytest.mark.parametrize("side", ["right", "left"])
def test_polar(name, side):
    a = MATRICES[name]
    got, want = tn.linalg.polar(a, side), scipy_linalg.polar(a, side)
    for ours, theirs in zip(got, want, strict=True):
        np.testing.assert_allclose(np.asarray(ours), theirs, atol=1e-14)
    tn.check_grads(lambda a: tn.linalg.polar(a, side), (a,), order=2)


@pytest.mark.parametrize("a", [REAL, TALL, WIDE, COMPLEX, FLAT], ids=range(5))
def test_a_basis_of_the_range(a):
    """Its projector is that of SciPy's, which has a derivative."""
    q, want = np.asarray(tn.linalg.orth(a)), scipy_linalg.orth(a)
    np.testing.assert_allclose(q @ q.conj().T, want @ want.conj().T, atol=1e-14)
    np.testing.assert_allclose(q.conj().T @ q, np.eye(want.shape[1]), atol=1e-14)


def projector(q):
    return q @ np.conj(q.T)


@pytest.mark.parametrize("a", [WIDE, WIDE + 1j * WIDE[::-1], FLAT, REAL], ids=range(4))
def test_a_basis_of_the_null_space(a):
    q, want = np.asarray(tn.linalg.null_space(a)), scipy_linalg.null_space(a)
    np.testing.assert_allclose(projector(q), projector(want), atol=1e-14)
    np.testing.assert_allclose(q.conj().T @ q, np.eye(want.shape[1]), atol=1e-14)


@pytest.mark.parametrize("a", [WIDE, WIDE + 1j * WIDE[::-1]], ids=["real", "complex"])
def test_the_null_space_of_a_matrix_that_moves(a):
    """Its vectors stay in it, orthonormal, and turn in no plane of it."""
    da = np.roll(a, 1)
    q, dq = tn.jvp(tn.linalg.null_space, (a,), (da,))
    np.testing.assert_allclose(da @ q + a @ dq, 0, atol=1e-14)
    np.testing.assert_allclose(np.conj(q.T) @ dq, 0, atol=1e-14)
    tn.check_grads(lambda a: projector(tn.linalg.null_space(a)), (a,), order=2)


def test_the_nearest_rotation():
    got = tn.linalg.orthogonal_procrustes(tn.asarray(TALL), TALL[::-1])
    for ours, theirs in zip(got, scipy_linalg.orthogonal_procrustes(TALL, TALL[::-1]), strict=True):
        np.testing.assert_allclose(np.asarray(ours), theirs, atol=1e-13)
    tn.check_grads(tn.linalg.orthogonal_procrustes, (TALL, TALL[::-1].copy()), order=1)

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
SECOND_ORDER = {("tall", "right"), ("complex", "left"), ("equal", "right")}
by_matrix = pytest.mark.parametrize("name", MATRICES)


@by_matrix
@pytest.mark.parametrize("side", ["right", "left"])
def test_polar(name, side):
    """a = u p is SciPy's decomposition on either side; derivatives are those of differences"""
    a = MATRICES[name]
    got, want = tn.linalg.polar(a, side), scipy_linalg.polar(a, side)
    for ours, theirs in zip(got, want, strict=True):
        np.testing.assert_allclose(np.asarray(ours), theirs, atol=1e-14)
    order = 2 if (name, side) in SECOND_ORDER else 1
    tn.check_grads(lambda a: tn.linalg.polar(a, side), (a,), order=order)


def turned(gap):
    """Return a matrix with singular values 2, 2 + gap and 1."""
    u, _, vh = np.linalg.svd(REAL)
    return u @ np.diag([2.0, 2.0 + gap, 1.0]) @ vh


def second_derivative(a):
    def slope(a):
        return tn.jvp(lambda a: tn.linalg.polar(a).u, (a,), (np.roll(REAL, 2, 1),))[1]

    return np.asarray(tn.jvp(slope, (a,), (np.roll(REAL, 1),))[1])


@pytest.mark.parametrize("gap", [1e-13, 3e-12, 1e-9])
def test_polar_near_equal_singular_values(gap):
    """Nothing divides by a difference of them: second derivatives are continuous there."""
    np.testing.assert_allclose(
        second_derivative(turned(gap)), second_derivative(turned(0.0)), atol=1e-7
    )


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("name", ["tall", "wide", "complex"])
def test_polar_of_stacks(name, side):
    """Leading axes, mapped ones and programs give what single matrices give, with derivatives."""
    stack = np.stack([MATRICES[name], 2 * MATRICES[name][::-1]])

    def loss(a):
        u, p = tn.linalg.polar(a, side)
        return np.sum(np.abs(u - 0.5) ** 4) + np.sum(np.abs(p) ** 4)

    one = [np.asarray(tn.grad(loss)(a)) for a in stack]
    for found in (
        tn.grad(loss)(stack),
        tn.vmap(tn.grad(loss))(stack),
        tn.jit(tn.grad(loss))(stack),
    ):
        np.testing.assert_allclose(np.asarray(found), one, rtol=1e-12)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (2, 3, 0), (0, 2, 2)])
def test_polar_of_nothing(shape):
    a = np.zeros(shape, np.float32)
    (u, p), (du, dp) = tn.jvp(tn.linalg.polar, (a,), (a,))
    assert u.shape == du.shape == shape
    assert p.shape == dp.shape == (*shape[:-2], shape[-1], shape[-1])
    assert u.dtype == p.dtype == dp.dtype == np.float32


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

"""Eigenproblems of general matrices: order and phases do not matter, derivatives are right."""

import numpy as np
import pytest

import tenferro as tn

RNG = np.random.default_rng(5)
REAL = RNG.normal(size=(4, 4))
COMPLEX = REAL + 1j * RNG.normal(size=(4, 4))
WEIGHTS = np.arange(16.0).reshape(4, 4) / 8
both_kinds = pytest.mark.parametrize("a", [REAL, COMPLEX], ids=["real", "complex"])


def symmetric(a):
    """A function of the values alone."""
    w = np.linalg.eigvals(a)
    return np.sum(np.abs(w) ** 3) + np.sum(np.real(w**2))


def lengths(a):
    """What depends on the vectors, but on no phase and no order."""
    v = np.linalg.eig(a).eigenvectors
    return np.sum(np.abs(v) ** 4)


def canonical(a):
    w, v = tn.linalg.eig(a, gauge="canonical")
    return np.sum(np.real(v) * np.real(w)) + np.sum(np.abs(v[0]))


@both_kinds
@pytest.mark.parametrize("function", [symmetric, lengths, canonical])
def test_derivatives_are_those_of_differences(function, a):
    tn.check_grads(function, (a,), order=2)


@both_kinds
def test_the_sum_of_cubes_is_a_trace(a):
    """Σ w³ = tr A³, with gradient 3 (A²)ᴴ"""
    got = tn.grad(lambda a: np.real(np.sum(np.linalg.eigvals(a) ** 3)))(a)
    np.testing.assert_allclose(got, 3 * (a @ a).conj().T, atol=1e-11)


def test_vectors_keep_length_one_under_derivatives():
    def squares(a):
        return np.sum(np.abs(np.linalg.eig(a).eigenvectors) ** 2, axis=0)

    values, rates = tn.jvp(squares, (COMPLEX,), (REAL.astype(COMPLEX.dtype),))
    np.testing.assert_allclose(values, 1)
    np.testing.assert_allclose(rates, 0, atol=1e-13)


def test_values_alone_are_paired_with_vectors_that_come_in_another_order():
    """LAPACK orders large matrices differently with and without vectors."""
    n = 120
    a, change = RNG.normal(size=(2, n, n))
    w, rate = tn.jvp(np.linalg.eigvals, (a,), (change,))
    step = 1e-7
    moved = np.linalg.eigvals(a + step * change)
    nearest = moved[np.abs(moved[None] - w[:, None]).argmin(1)]
    assert np.median(np.abs((nearest - w) / step - rate)) < 1e-4


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize(
    "a", [np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([[0.0, -1.0], [1.0, 0.0]])]
)
def test_results_are_complex_whatever_the_values_and_whether_jitted(a, dtype):
    """dtype(eig(a)) = dtype(jit(eig)(a)) is the complex dtype of a's precision"""
    a = a.astype(dtype)
    want = "complex64" if dtype in ("float32", "complex64") else "complex128"
    for function in (
        np.linalg.eigvals,
        lambda a: np.linalg.eig(a)[0],
        lambda a: np.linalg.eig(a)[1],
    ):
        assert function(tn.asarray(a)).dtype.name == want
        assert tn.jit(function)(a).dtype == want
        assert tn.vmap(function)(a[None]).dtype == want


def test_equal_values_of_a_full_set_of_vectors():
    a = 2 * np.eye(3) + np.outer([1, 2, 2], [2, 1, -1.0])
    got = tn.grad(lambda a: np.real(np.sum(np.linalg.eigvals(a + 0j) ** 3)))(a)
    np.testing.assert_allclose(got, 3 * (a @ a).T, atol=1e-10)

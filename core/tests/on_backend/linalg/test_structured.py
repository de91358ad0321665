"""Sylvester's equation and banded systems: SciPy's solutions, derivatives, refusals."""

import numpy as np
import pytest
from scipy import linalg as theirs

import tenferro as tn

ours = tn.linalg
RNG = np.random.default_rng(0)
A, B, Q = RNG.normal(size=(3, 3)), RNG.normal(size=(2, 2)), RNG.normal(size=(3, 2))
BAND = RNG.normal(size=(4, 5)) + np.array([[0.0], [4.0], [0.0], [0.0]])
RIGHT = RNG.normal(size=(5, 2))


@pytest.mark.parametrize("dtype", ["float64", "complex128", "float32"])
def test_a_solution_of_sylvesters_equation(dtype):
    """a x + x b = q"""
    a, b, q = (x.astype(dtype) * (1 + 0.5j if dtype == "complex128" else 1) for x in (A, B, Q))
    x = ours.solve_sylvester(a, b, q)
    assert x.dtype == dtype
    rtol = 1e-3 if dtype == "float32" else 1e-11
    np.testing.assert_allclose(x, theirs.solve_sylvester(a, b, q), rtol=rtol)


def test_derivatives_of_a_solution_of_sylvesters_equation():
    """by all three, twice; in jit and vmap"""
    tn.check_grads(ours.solve_sylvester, (A, B, Q), order=2)
    double = np.array([[2.0, 1.0], [0.0, 2.0]])  # one eigenvalue and one eigenvector
    tn.check_grads(ours.solve_sylvester, (double, double, Q[:2]), order=2)
    found = tn.jit(tn.vmap(ours.solve_sylvester, in_axes=(None, None, 0)))(A, B, np.stack([Q, -Q]))
    np.testing.assert_allclose(found[1], -theirs.solve_sylvester(A, B, Q), rtol=1e-11)


def test_a_stack_of_sylvesters_equations():
    a, b, q = (np.stack([x, 2 * x]) for x in (A, B, Q))
    x = ours.solve_sylvester(a, b, q)
    np.testing.assert_allclose(a @ x + x @ b, q, atol=1e-12)


@pytest.mark.parametrize("lower, upper", [(1, 2), (2, 1), (3, 0), (0, 3)])
@pytest.mark.parametrize("b", [RIGHT, RIGHT[:, 0]], ids=["matrix", "vector"])
def test_a_banded_system(lower, upper, b):
    """what the corners of the band hold does not count, be it NaN"""
    band = np.roll(BAND, upper - 1, axis=0)
    corners = np.array(band)
    for row in range(upper):
        corners[row, : upper - row] = np.nan
    for row in range(lower):
        corners[upper + 1 + row, 5 - 1 - row :] = np.nan
    want = theirs.solve_banded((lower, upper), band, b)
    np.testing.assert_allclose(ours.solve_banded((lower, upper), band, b), want, rtol=1e-10)
    np.testing.assert_allclose(ours.solve_banded((lower, upper), corners, b), want, rtol=1e-10)


def test_derivatives_of_a_banded_system():
    """by the band and the right-hand side, twice; outside of the matrix they are 0"""
    tn.check_grads(lambda band, b: ours.solve_banded((1, 2), band, b), (BAND, RIGHT), order=2)
    slope = tn.grad(lambda band: np.sum(ours.solve_banded((1, 2), band, RIGHT)))(BAND)
    assert not slope[0, :2].any()
    assert not slope[3, -1:].any()


def test_derivatives_of_a_band_with_diagonals_outside_of_the_matrix():
    """two rows, three diagonals above the main one"""
    band = np.array([[9.0, 9], [9, 9], [9, 0.5], [2, 3], [1, 9]])
    tn.check_grads(lambda band, b: ours.solve_banded((1, 3), band, b), (band, RIGHT[:2]), order=2)


def test_a_long_band_takes_no_dense_matrix():
    """of 100,000 rows, whose matrix would take 80 GB; residuals in value and gradient"""
    band = np.array([[-1.0], [3.0], [-1.0]]) + np.zeros((1, 100_000))
    x = np.asarray(ours.solve_banded((1, 1), band, np.ones(100_000)))
    np.testing.assert_allclose(3 * x[1:-1] - x[:-2] - x[2:], 1, rtol=1e-12)
    slope = tn.grad(lambda b: np.sum(ours.solve_banded((1, 1), band, b)))(np.ones(100_000))
    np.testing.assert_allclose(slope, x, rtol=1e-12)


@pytest.mark.parametrize("lower", [False, True])
def test_a_hermitian_band(lower):
    """SciPy's solution and second derivatives, from half of the diagonals"""
    band = RNG.normal(size=(3, 5)) + 1j * RNG.normal(size=(3, 5))
    band[0 if lower else 2] = 6.0
    b = RIGHT + 1j * RIGHT[::-1]
    want = theirs.solveh_banded(band, b, lower=lower)
    np.testing.assert_allclose(ours.solveh_banded(band, b, lower=lower), want, rtol=1e-11)
    tn.check_grads(lambda band: ours.solveh_banded(band, b, lower=lower), (band,), order=2)


def positive_band(u, n, is_complex):
    """Half of the diagonals of a positive definite matrix, lower form; NaN outside of it."""
    band = RNG.normal(size=(u + 1, n)) + (1j * RNG.normal(size=(u + 1, n)) if is_complex else 0)
    band[0] = 9.0
    for d in range(1, u + 1):
        band[d, max(n - d, 0) :] = np.nan
    return band


def upper_form(band):
    u, n = band.shape[0] - 1, band.shape[1]
    found = np.full_like(band, np.nan)
    for d in range(min(u + 1, n)):
        found[u - d, d:] = np.conj(band[d, : n - d])
    return found


@pytest.mark.parametrize("is_complex", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize("u, n", [(2, 5), (0, 3), (3, 2)])
def test_a_cholesky_factor_of_a_band(u, n, is_complex):
    """A = L Lᴴ = Uᴴ U in bands; x = A⁻¹ b; derivatives of both twice; corners do not count"""
    band = positive_band(u, n, is_complex)
    b = (RIGHT + 1j * RIGHT[::-1] if is_complex else RIGHT)[:n]
    dense = sum(np.diag(band[d, : n - d], -d) for d in range(min(u + 1, n)))
    dense = dense + np.tril(dense, -1).conj().T
    want = np.linalg.cholesky(dense)
    for lower, form in ((True, band), (False, upper_form(band))):
        factor = ours.cholesky_banded(form, lower=lower)
        found = np.asarray(factor)
        for d in range(u + 1):
            inside = found[d, : max(n - d, 0)] if lower else np.conj(found[u - d, d:])
            outside = found[d, max(n - d, 0) :] if lower else found[u - d, :d]
            np.testing.assert_allclose(inside, np.diag(want, -d), rtol=1e-12)
            assert not outside.any()
        x = ours.cho_solve_banded((factor, lower), b)
        np.testing.assert_allclose(x, np.linalg.solve(dense, b), rtol=1e-11)
        x = ours.cho_solve_banded((factor, lower), b[:, 0])
        np.testing.assert_allclose(x, np.linalg.solve(dense, b[:, 0]), rtol=1e-11)

    def solved(form, b):
        return ours.cho_solve_banded((ours.cholesky_banded(form), False), b)

    known = np.nan_to_num(upper_form(band))
    if is_complex == (u == 2):
        tn.check_grads(ours.cholesky_banded, (known,), order=2)
        tn.check_grads(solved, (known, b), order=2)


def test_a_band_that_is_not_positive_definite_has_no_factor():
    """an error where the matrix is known, NaN in a program"""
    band = np.array([[0.0, 3.0], [1.0, 1.0]])
    with pytest.raises(tn.InvalidParameterError, match="not positive definite"):
        ours.cholesky_banded(band)
    assert np.isnan(tn.jit(ours.cholesky_banded)(band)[1, 1])


@pytest.mark.parametrize(
    "call",
    [
        lambda: ours.cholesky_banded(BAND[0]),
        lambda: ours.cho_solve_banded((BAND, False), RIGHT[:3]),
        lambda: ours.solve_sylvester(A, B, Q.T),
        lambda: ours.solve_sylvester(np.stack([A, A]), B, Q),
        lambda: ours.solve_banded((1, 1), BAND, RIGHT),
        lambda: ours.solve_banded((1, 2), BAND, RIGHT[:3]),
        lambda: ours.solveh_banded(BAND[0], RIGHT),
    ],
)
def test_operands_that_do_not_fit_are_refused(call):
    with pytest.raises(tn.ShapeMismatchError, match="fit together"):
        call()


def test_counts_of_diagonals_may_be_integers_of_numpy():
    counts = np.array([1, 2])
    want = theirs.solve_banded((1, 2), BAND, RIGHT)
    np.testing.assert_allclose(ours.solve_banded(counts, BAND, RIGHT), want, rtol=1e-10)


def test_a_band_without_a_diagonal_is_refused():
    with pytest.raises(tn.InvalidParameterError, match="diagonal"):
        ours.solve_banded((-1, 4), BAND, RIGHT)

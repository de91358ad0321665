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


@pytest.mark.parametrize(
    "call",
    [
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

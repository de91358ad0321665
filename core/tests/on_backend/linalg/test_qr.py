"""Derivatives of QR, of the pseudoinverse and of what rests on them."""

from functools import partial

import numpy as np
import pytest
from random_numbers import drawn

import tenferro as tn

RANDOM = np.random.default_rng(11)
numbers = partial(drawn, RANDOM)
KINDS = ("real", "complex")
SHAPES = {"square": (3, 3), "tall": (4, 3), "wide": (3, 4)}
by_kind = pytest.mark.parametrize("kind", KINDS)
by_shape = pytest.mark.parametrize("shape", SHAPES)


def sound(kind, m, n):
    """A random matrix with leading columns that are far from dependent."""
    return 2 * np.eye(m, n) + 0.3 * numbers(kind, m, n)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


@by_kind
@by_shape
def test_canonical_factors_have_both_derivatives(kind, shape):
    a = sound(kind, *SHAPES[shape])
    tn.check_grads(lambda a: tn.linalg.qr(a, canonical=True), (a,), order=2)
    q, r = (np.asarray(x) for x in tn.linalg.qr(a, canonical=True))
    diagonal = np.diagonal(r)
    np.testing.assert_allclose(q @ r, a, atol=1e-14)
    np.testing.assert_array_equal(diagonal, abs(diagonal))


@by_kind
@by_shape
def test_raw_factors_have_those_of_their_space(kind, shape):
    a = sound(kind, *SHAPES[shape])

    def products(a):
        q, r = np.linalg.qr(a)
        return q @ (adjoint(q) * 2.0), adjoint(r) @ r

    tn.check_grads(products, (a,), order=2)


@by_kind
def test_r_stays_triangular_and_q_orthonormal(kind):
    a, v = numbers(kind, 4, 3), numbers(kind, 4, 3)
    (q, _), (dq, dr) = tn.jvp(lambda a: tuple(np.linalg.qr(a)), (a,), (v,))
    assert not np.tril(dr, -1).any()
    turn = adjoint(q) @ dq
    np.testing.assert_allclose(turn, -adjoint(turn), atol=1e-14)


def test_complete_factors_have_a_derivative_unless_tall():
    wide = sound("real", 2, 3)
    tn.check_grads(lambda a: np.sin(np.abs(np.linalg.qr(a, "complete").R)), (wide,))
    assert np.linalg.qr(tn.asarray(wide.T), "complete").Q.shape == (3, 3)
    with pytest.raises(tn.MissingRuleError, match="mode='reduced'") as caught:
        tn.grad(lambda a: np.sum(np.linalg.qr(a, "complete").R))(wide.T)
    assert caught.value.primitive == "std::qr"


def test_the_mode_raw_is_refused_by_name():
    with pytest.raises(tn.InvalidParameterError) as caught:
        np.linalg.qr(tn.asarray(np.eye(2)), "raw")
    assert (caught.value.parameter, caught.value.value) == ("mode", "raw")


# ---- pseudoinverse, least squares, condition -----------------------------------------------------


def of_rank_two(kind, m, n):
    """Factors of a matrix of rank 2."""
    return sound(kind, m, 2), sound(kind, 2, n)


@by_kind
@by_shape
def test_the_pseudoinverse_of_full_rank(kind, shape):
    tn.check_grads(lambda a: np.linalg.pinv(a), (sound(kind, *SHAPES[shape]),), order=2)


@by_kind
def test_the_pseudoinverse_at_low_rank_along_directions_that_keep_it(kind):
    """A function of the two factors, which has the rank of 2 everywhere."""
    factors = of_rank_two(kind, 5, 4)
    tn.check_grads(lambda x, y: np.linalg.pinv(x @ y, rcond=1e-8), factors, order=2)


@by_kind
def test_the_pseudoinverse_where_values_are_equal(kind):
    q = np.linalg.qr(numbers(kind, 4, 3))[0]
    tn.check_grads(lambda a: np.linalg.pinv(a), (2 * q,), order=2)


def test_the_hermitian_pseudoinverse():
    x = numbers("complex", 3, 3)
    tn.check_grads(lambda x: np.linalg.pinv(x + adjoint(x), hermitian=True), (x,), order=2)


@by_kind
@by_shape
def test_least_squares(kind, shape):
    """Two derivatives of lstsq are those of differences"""
    a, b = sound(kind, *SHAPES[shape]), numbers(kind, SHAPES[shape][0], 2)
    tn.check_grads(lambda a, b: np.linalg.lstsq(a, b)[:2], (a, b), order=2)


@by_kind
def test_least_squares_at_low_rank(kind):
    x, y = of_rank_two(kind, 5, 3)
    found = np.linalg.lstsq(tn.asarray(x @ y), tn.asarray(numbers(kind, 5)), rcond=1e-8)
    assert found[1].shape == (0,)  # as in NumPy
    b = numbers(kind, 5)
    tn.check_grads(lambda x, y: np.linalg.lstsq(x @ y, b, rcond=1e-8)[0], (x, y), order=2)


def test_under_jit_the_rank_is_taken_to_be_full():
    a, b = numbers("real", 4, 2), numbers("real", 4)
    x, residuals, rank, s = tn.jit(lambda a, b: np.linalg.lstsq(a, b))(a, b)
    want = np.linalg.lstsq(a, b)
    np.testing.assert_allclose(x, want[0], rtol=1e-12)
    np.testing.assert_allclose(residuals, want[1], rtol=1e-12)
    assert (rank, s.shape) == (2, (2,))


def test_a_stack_of_least_squares():
    a, b = numbers("real", 3, 4, 2), numbers("real", 3, 4, 1)
    x, residuals, rank, _ = np.linalg.lstsq(tn.asarray(a), tn.asarray(b))
    want = [np.linalg.lstsq(*pair) for pair in zip(a, b, strict=True)]
    np.testing.assert_allclose(np.asarray(x), [w[0] for w in want], rtol=1e-12)
    np.testing.assert_allclose(np.asarray(residuals), [w[1] for w in want], rtol=1e-12)
    assert np.asarray(rank).tolist() == [2, 2, 2]


@pytest.mark.parametrize("p", [None, -2, "fro", "nuc", 1, -1, np.inf, -np.inf])
def test_the_condition_of_a_singular_matrix_is_infinite(p):
    found = np.linalg.cond(tn.asarray(np.diag([2.0, 0.0])), p)
    assert found == (0 if p == -2 else np.inf)


def test_a_fraction_per_matrix():
    a, fractions = numbers("real", 2, 3, 2), np.array([0.9, 1e-6])
    got = np.linalg.pinv(tn.asarray(a), rcond=fractions)
    np.testing.assert_allclose(np.asarray(got), np.linalg.pinv(a, rcond=fractions), rtol=1e-12)

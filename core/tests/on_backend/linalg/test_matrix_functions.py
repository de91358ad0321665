"""Functions of matrices agree with closed forms, their inverses and differences."""

import numpy as np
import pytest

import tenferro as tn

RNG = np.random.default_rng(7)
A = RNG.normal(size=(3, 3))
C = A + 1j * RNG.normal(size=(3, 3))
E, WEIGHTS = RNG.normal(size=(2, 3, 3))
TAME = 3 * np.eye(3) + 0.4 * A  # eigenvalues in the right half plane
DEFECTIVE = np.array([[2.0, 1, 0], [0, 2, 1], [0, 0, 2]])
L = tn.linalg
ALL = [L.expm, L.sqrtm, L.logm, L.sinm, L.cosm, L.sinhm, L.coshm, L.tanm, L.tanhm]
name_of = lambda f: f.__name__  # noqa: E731


def close(got, want, atol=1e-12):
    np.testing.assert_allclose(np.asarray(got), want, atol=atol)


def weighted(function):
    return lambda a: np.sum(WEIGHTS * np.real(function(a)))


@pytest.mark.parametrize("a", [TAME, TAME + 0.3j * A, DEFECTIVE], ids=["real", "complex", "jordan"])
@pytest.mark.parametrize("function", ALL, ids=name_of)
def test_derivatives_are_those_of_differences(function, a):
    tn.check_grads(weighted(function), (a * 0.4,), order=2, rtol=3e-6)


@pytest.mark.parametrize("function", ALL, ids=name_of)
def test_a_function_of_a_diagonal_is_that_of_its_elements(function):
    d = np.array([0.25, 0.5, 1.25])
    scalar = getattr(
        np, {"expm": "exp", "logm": "log"}.get(name_of(function), name_of(function)[:-1])
    )
    close(function(np.diag(d)), np.diag(scalar(d)), 1e-14)


@pytest.mark.parametrize("a", [A, C, RNG.normal(size=(2, 60, 60)) / 5], ids=["", "complex", "60"])
def test_derivatives_of_exp_where_matrices_commute(a):
    """d exp(A)[E] = exp(A) E and d² exp(A)[E, F] = exp(A) E F for E = p(A), F = q(A)"""
    e, f = a @ a - 2 * a, 1e3 * a
    value, rate = tn.jvp(L.expm, (a,), (e,))
    close(rate, value @ e, 1e-11)
    second = tn.jvp(lambda a: tn.jvp(L.expm, (a,), (e,))[1], (a,), (f,))[1]
    close(second, value @ e @ f, 1e-8)


def test_the_derivative_of_the_root_of_one_is_half():
    close(tn.jvp(L.sqrtm, (np.eye(3),), (E,))[1], E / 2)


def test_the_second_derivative_of_exp_at_zero():
    """exp(tE + sF) = 1 + … + ts (EF + FE)/2"""
    rate = lambda a: tn.jvp(L.expm, (a,), (E,))[1]  # noqa: E731
    close(tn.jvp(rate, (np.zeros((3, 3)),), (A,))[1], (E @ A + A @ E) / 2)


def test_log_and_exp_are_inverse_and_so_are_their_derivatives():
    both = lambda a: L.logm(L.expm(a))  # noqa: E731
    value, rate = tn.jvp(both, (0.5 * C,), (E + 0j,))
    close(value, 0.5 * C)
    close(rate, E)


def test_the_root_times_itself_is_the_matrix():
    square = lambda a: L.sqrtm(a) @ L.sqrtm(a)  # noqa: E731
    value, rate = tn.jvp(square, (TAME,), (E,))
    close(value, TAME)
    close(rate, E)


def test_the_trace_of_a_function_has_second_derivatives_at_equal_values():
    """Σ exp(w) of eigenvalues cannot: tr exp A at 1 has the second derivative e tr E²."""
    rate = lambda a: tn.jvp(lambda a: np.trace(L.expm(a)), (a,), (E,))[1]  # noqa: E731
    close(tn.jvp(rate, (np.eye(3),), (E,))[1], np.e * np.trace(E @ E))


def test_fractional_powers_vary_with_their_exponent():
    close(L.fractional_matrix_power(TAME, 0.5), np.asarray(L.sqrtm(TAME)))
    close(L.fractional_matrix_power(TAME, 2), TAME @ TAME)
    rate = tn.grad(lambda t: np.trace(L.fractional_matrix_power(TAME, t)))(1.5)
    want = np.trace(np.asarray(L.fractional_matrix_power(TAME, 1.5)) @ np.asarray(L.logm(TAME)))
    assert rate == pytest.approx(want)


def test_real_matrices_have_real_functions_or_none():
    negative = np.diag([-1.0, 4.0])
    assert np.isnan(np.asarray(L.sqrtm(negative))).all()
    close(L.sqrtm(negative + 0j), np.diag([1j, 2]))


def test_stacks_and_vmap():
    stack = np.stack([TAME, TAME.T])
    want = [np.asarray(L.logm(a)) for a in stack]
    close(L.logm(stack), want)
    close(tn.vmap(L.logm)(stack), want)


def test_single_precision_stays_single():
    assert L.sqrtm(TAME.astype("float32")).dtype == "float32"


def test_matrices_without_elements():
    assert L.logm(np.zeros((2, 0, 0))).shape == (2, 0, 0)


@pytest.mark.parametrize("function", [tn.linalg.sqrtm, tn.linalg.logm])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_roots_and_logarithms_of_what_is_not_finite_are_errors_of_numpys_kind(function, value):
    """The derivative is linear in its direction, whatever that is."""
    numpy_backend = pytest.importorskip("tenferro_numpy.errors")
    a = np.array([[2.0, 0.3], [0.1, 1.0]])
    with tn.use("numpy"):
        for of in (function, tn.jit(function), lambda x: function(tn.asarray(x)).evaluate()):
            with pytest.raises(np.linalg.LinAlgError, match="nan or an infinity") as caught:
                of(np.stack([a, np.diag([1.0, value])]))
            assert isinstance(caught.value, numpy_backend.NotConvergedError)
        direction = np.stack([a, np.full((2, 2), value)])
        got = tn.jvp(function, (np.stack([a, a]),), (direction,))[1]
        np.testing.assert_allclose(got[0], tn.jvp(function, (a,), (a,))[1], rtol=1e-12)
        assert np.isnan(got[1]).all()


@pytest.mark.parametrize("a", [np.zeros((1, 1)), np.diag([0.0, 1.0]), [[1.0, 2.0], [2.0, 4.0]]])
def test_a_singular_matrix_has_no_logarithm(a):
    """det A = 0, so that no X has exp X = A, whose determinant is exp tr X"""
    for x in (np.asarray(a), np.asarray(a) + 0j):
        assert np.isnan(np.asarray(L.logm(x))).all()
        assert np.isnan(np.asarray(L.fractional_matrix_power(x, 0.5))).all()

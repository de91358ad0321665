"""Hermitian eigenproblems: values, projectors and canonical vectors have right derivatives."""

import numpy as np
import pytest

import tenferro as tn
from tenferro.primitives import ShapeMismatchError

RNG = np.random.default_rng(3)
REAL = RNG.normal(size=(4, 4))
COMPLEX = REAL + 1j * RNG.normal(size=(4, 4))
WEIGHTS = np.arange(16.0).reshape(4, 4) / 8
U = np.linalg.qr(COMPLEX)[0]
EQUAL = (U * [1.0, 1.0, 1.0, 2.0]) @ U.conj().T  # three equal values
EQUAL = (EQUAL + EQUAL.conj().T) / 2
both_kinds = pytest.mark.parametrize("a", [REAL, COMPLEX], ids=["real", "complex"])


def hermitian(a):
    return (a + np.conj(np.swapaxes(a, -1, -2))) * 0.5


def of_triangle(g):
    """The gradient by the lower triangle, of the gradient on the Hermitian matrices."""
    return np.tril(g) + np.tril(g, -1)


def sines(a):
    w, v = np.linalg.eigh(hermitian(a))
    return np.sum(WEIGHTS * np.abs((v * np.sin(w)) @ np.conj(v.T)) ** 2)


def projected(a):
    """What the projector on the space of the three smallest values gives."""
    v = np.linalg.eigh(hermitian(a)).eigenvectors[:, :3]
    return np.sum(WEIGHTS * np.abs(v @ np.conj(v.T)) ** 2)


def cubes(a):
    return np.sum(np.linalg.eigvalsh(hermitian(a)) ** 3)


def canonical(a):
    v = tn.linalg.eigh(hermitian(a), gauge="canonical").eigenvectors
    return np.sum(WEIGHTS * np.real(v)) + np.sum(WEIGHTS.T * np.imag(v + 0j))


@both_kinds
@pytest.mark.parametrize("function", [sines, cubes, canonical])
def test_derivatives_are_those_of_differences(function, a):
    tn.check_grads(function, (a,), order=2)


@both_kinds
def test_the_gradient_of_a_sum_of_functions_is_that_function_of_the_matrix(a):
    """d Σ sin w = tr(cos(A) dA), of a triangle: tril(cos A) + tril(cos A, -1)."""
    h = hermitian(a)
    w, v = np.linalg.eigh(h)
    want = (v * np.cos(w)) @ v.conj().T
    got = tn.grad(lambda a: np.sum(np.sin(np.linalg.eigvalsh(a))))(h)
    np.testing.assert_allclose(got, of_triangle(want), atol=1e-13)
    np.testing.assert_allclose((got + got.conj().T) / 2, want, atol=1e-13)


@both_kinds
@pytest.mark.parametrize("uplo", ["L", "U"])
def test_derivatives_read_the_triangle_that_values_read(a, uplo):
    """What stands in the other triangle, and the diagonal's imaginary part, have gradient 0."""
    a = a + 3 * np.eye(4)
    for function in (
        lambda a: np.sum(np.linalg.eigvalsh(a, uplo) ** 3),
        lambda a: np.sum(WEIGHTS * np.abs(np.linalg.eigh(a, uplo)[1])),
        lambda a: np.sum(WEIGHTS * np.abs(np.linalg.cholesky(a @ np.conj(a.T), upper=uplo == "U"))),
    ):
        tn.check_grads(function, (a,))
    g = tn.grad(lambda a: np.sum(np.linalg.eigvalsh(a, uplo) ** 3))(a)
    assert np.all((np.triu if uplo == "L" else np.tril)(g, 1 if uplo == "L" else -1) == 0)
    assert np.all(np.diagonal(g).imag == 0)


def test_second_derivatives_read_the_same_triangle():
    a = COMPLEX @ COMPLEX.conj().T + np.diag([1.0, 2, 3, 4])
    tn.check_grads(lambda a: np.sum(WEIGHTS * np.abs(np.linalg.cholesky(a)) ** 2), (a,), order=2)
    tn.check_grads(lambda a: np.sum(np.sin(np.linalg.eigvalsh(a))), (a,), order=2)


def test_equal_values_have_the_gradient_of_the_sum():
    """Σ w³ has gradient 3 A², of which a triangle is read, also where values are equal."""
    got = tn.grad(lambda a: np.sum(np.linalg.eigh(a).eigenvalues ** 3))(EQUAL)
    np.testing.assert_allclose(got, of_triangle(3 * EQUAL @ EQUAL), atol=1e-13)


def test_a_projector_on_equal_values_has_first_and_second_derivatives():
    tn.check_grads(projected, (EQUAL,), order=2)


@pytest.mark.filterwarnings("ignore::tenferro.GaugeWarning")
def test_second_derivatives_are_finite_whatever_is_asked():
    got = tn.hessian(lambda a: sines(a) + cubes(a))(np.eye(4))
    assert np.isfinite(got).all()


def test_epsilon_says_what_is_equal():
    near = np.diag([1.0, 1.0 + 1e-6, 2.0])
    change = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0.0]])

    def moved(epsilon):
        function = lambda a: tn.linalg.eigh(a, epsilon=epsilon).eigenvectors  # noqa: E731
        return np.abs(tn.jvp(function, (near,), (change,))[1]).max()

    assert moved(1e-5) == 0
    assert moved(None) > 1e5


def test_canonical_vectors_have_a_real_positive_largest_entry():
    v = np.asarray(tn.linalg.eigh(tn.asarray(hermitian(COMPLEX)), gauge="canonical")[1])
    largest = v[np.abs(v).argmax(0), range(4)]
    np.testing.assert_allclose(largest, np.abs(largest), atol=1e-15)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_single_precision_stays_single(dtype):
    a = hermitian(COMPLEX).astype(dtype) if dtype[0] == "c" else hermitian(REAL).astype(dtype)
    w, v = np.linalg.eigh(tn.asarray(a))
    assert (w.dtype.name, v.dtype.name) == ("float32", dtype)
    assert tn.grad(lambda a: np.sum(np.linalg.eigvalsh(a) ** 2))(a).dtype == dtype


def test_a_matrix_without_elements_has_none():
    assert np.linalg.eigh(tn.asarray(np.zeros((0, 0)))).eigenvalues.shape == (0,)
    assert tn.grad(lambda a: np.sum(np.linalg.eigvalsh(a)))(np.zeros((2, 0, 0))).shape == (2, 0, 0)


def test_vmap_is_a_loop():
    stack = np.stack([hermitian(REAL), hermitian(REAL.T @ REAL)])
    got = tn.vmap(tn.grad(sines))(stack)
    np.testing.assert_allclose(got, [tn.grad(sines)(a) for a in stack], atol=1e-12)


def test_a_matrix_that_is_not_square_is_refused():
    with pytest.raises(ShapeMismatchError, match="not square"):
        np.linalg.eigh(tn.asarray(np.zeros((2, 3))))


def test_what_does_not_converge_is_an_error_of_numpys_kind():
    numpy_backend = pytest.importorskip("tenferro_numpy.errors")
    values = tn.jit(np.linalg.eigvals, backend="numpy")
    with pytest.raises(np.linalg.LinAlgError, match="nan or an infinity") as caught:
        values(np.full((3, 3), np.nan))
    assert isinstance(caught.value, numpy_backend.NotConvergedError)

"""check_grads warns of functions that depend on the gauge of a factorization, and of no others."""

import warnings

import numpy as np
import pytest

import tenferro as tn

RNG = np.random.default_rng(11)
A = RNG.normal(size=(3, 3))
H = A + A.T
B = A + 1j * RNG.normal(size=(3, 3))
ROTATION = np.linalg.qr(A)[0]
EQUAL = (ROTATION * [1.0, 1.0, 2.0]) @ ROTATION.T
EQUAL = (EQUAL + EQUAL.T) / 2
WEIGHTS = np.arange(9.0).reshape(3, 3)


def hermitian(a):
    return (a + np.conj(a.T)) * 0.5


def of_u(a):
    return np.real(np.linalg.svd(a)[0][0, 0])


def of_v(a):
    return np.real(np.linalg.eigh(hermitian(a))[1][0, 0])


def of_r(a):
    return np.real(np.linalg.qr(a)[1][0, 0])


def of_general_v(a):
    return np.real(np.linalg.eig(a + 0j)[1][0, 0])


def of_values(a):
    return np.sum(np.linalg.svd(a)[1] ** 3)


def of_product(a):
    u, s, vh = np.linalg.svd(a)
    return np.sum(WEIGHTS * np.real((u * np.sin(s)) @ vh))


def of_canonical(a):
    return np.sum(WEIGHTS * np.real(tn.linalg.eigh(hermitian(a), gauge="canonical")[1]))


def of_projector(a):
    v = np.linalg.eigh(hermitian(a))[1][:, :2]
    return np.sum(WEIGHTS * np.real(v @ np.conj(v.T)))


def smallest(a):
    return np.linalg.eigvalsh(hermitian(a))[0]


def sine_of_each(a):
    w, v = np.linalg.eigh(hermitian(a))
    return np.sum(WEIGHTS * ((v * np.sin(w)) @ v.T))


def warnings_of(function, a, order=1):
    """What check_grads says, whether differences agree or not."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            tn.check_grads(function, (a,), order=order)
        except tn.GradientCheckError:
            pass
    return [w for w in found if w.category is tn.GaugeWarning]


@pytest.mark.parametrize("a", [A, B], ids=["real", "complex"])
@pytest.mark.parametrize("function", [of_u, of_v, of_r, of_general_v])
def test_a_phase_is_seen(function, a):
    assert warnings_of(function, a)


@pytest.mark.parametrize("a", [A, B], ids=["real", "complex"])
@pytest.mark.parametrize("function", [of_values, of_product, of_canonical, of_projector])
def test_what_is_unique_is_not_warned_of(function, a):
    assert not warnings_of(function, a, order=2)


@pytest.mark.parametrize("function", [smallest, sine_of_each])
def test_a_split_space_of_equal_values_is_seen(function):
    assert warnings_of(function, EQUAL)
    assert not warnings_of(function, H)


def test_a_projector_on_equal_values_is_unique():
    assert not warnings_of(of_projector, EQUAL, order=2)


def test_a_vector_that_completes_a_basis_is_seen_and_the_projector_is_unique():
    tall = RNG.normal(size=(5, 3))
    assert warnings_of(lambda a: np.linalg.svd(a)[0][0, 4], tall)
    assert warnings_of(lambda a: np.linalg.svd(a.T)[2][4, 0], tall)
    rest = lambda a: (lambda u: np.sum(u @ u.T * np.arange(5.0)))(np.linalg.svd(a)[0][:, 3:])  # noqa: E731
    assert not warnings_of(rest, tall, order=2)


def test_a_second_derivative_may_split_what_the_first_does_not():
    cubes = lambda a: np.sum(np.linalg.eigvalsh(hermitian(a)) ** 3)  # noqa: E731
    assert not warnings_of(cubes, EQUAL)
    texts = [str(w.message) for w in warnings_of(cubes, EQUAL, order=2)]
    (found,) = [text for text in texts if "depends on the gauge" in text]
    assert "order 2" in found


def test_the_warning_names_the_operation_and_both_lines():
    (found,) = warnings_of(of_v, H)
    assert "gauge of eigh" in str(found.message)
    assert "np.linalg.eigh(hermitian(a))[1][0, 0]" in str(found.message)
    assert found.filename == __file__

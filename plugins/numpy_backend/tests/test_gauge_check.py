"""Derivatives through vectors of equal values warn at run time where they are wrong, only there."""

import warnings

import numpy as np
import pytest

import tenferro as tn

RANDOM = np.random.default_rng(2)
W, V = RANDOM.normal(size=(2, 3, 3))
Q, P = np.linalg.qr(W)[0], np.linalg.qr(V)[0]
DTYPES = ("float32", "float64", "complex64", "complex128")
#: Gaps that count as none, by the bits of a real number.
EQUAL = {"float32": (0, 1e-16, 1e-12, 1e-8, 1e-6), "float64": (0, 1e-16)}
EQUAL = {**EQUAL, "complex64": EQUAL["float32"], "complex128": EQUAL["float64"]}


def warnings_of(function, *args):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        function(*args)
    return [w for w in found if w.category is tn.GaugeWarning]


def product(a, **keywords):
    u, s, vh = tn.linalg.svd(a, full_matrices=False, **keywords)
    return np.sum(W * np.real((u * s) @ vh))


def exponential(a, **keywords):
    w, v = tn.linalg.eigh(a, **keywords)
    return np.sum(W * np.real((v * np.exp(w)) @ np.conj(v.T)))


def logarithm(a):
    w, v = tn.linalg.eigh(a)
    return np.sum(W * np.real((v * np.log(w)) @ np.conj(v.T)))


def projected(a):
    v = np.linalg.eigh((a + np.conj(a.T)) / 2)[1][:, 1:]
    return np.sum(W * np.real(v @ np.conj(v.T)))


def polar(a):
    u, _, vh = np.linalg.svd(a)
    return np.sum(W * np.real(u @ vh))


def best(a):
    vh = np.linalg.svd(a)[2][:2]
    return np.sum(W * np.real(a @ np.conj(vh.T) @ vh))


def derivatives(function):
    """First derivatives in both modes, eager and compiled."""
    along = lambda a: tn.jvp(function, (a,), ((V + V.T).astype(a.dtype),))  # noqa: E731
    return tn.grad(function), tn.jit(tn.grad(function)), along, tn.jit(along)


def second_derivatives(function):
    along = lambda f: lambda a: tn.jvp(f, (a,), ((V + V.T).astype(a.dtype),))[1]  # noqa: E731
    slope = tn.grad(function)
    return (
        along(slope), along(along(function)), tn.grad(along(function)),
        lambda a: tn.vjp(slope, a)[1](V.astype(a.dtype)),
        tn.jit(tn.grad(lambda a: np.real(np.sum(V * slope(a))))),
    )  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_equal_singular_values_warn(dtype):
    for gap in EQUAL[dtype]:
        near = np.array([1 + gap, 1, 1])
        for a in (np.diag(near), Q * near, (Q * np.array([2 + gap, 2, 1])) @ P):
            for derivative in derivatives(product):
                assert warnings_of(derivative, a.astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_equal_eigenvalues_warn(dtype):
    for gap in EQUAL[dtype]:
        for q in (np.eye(3), Q):
            a = ((q * np.array([1, 2, 2 + gap])) @ q.T).astype(dtype)
            for derivative in derivatives(exponential):
                assert warnings_of(derivative, a)


@pytest.mark.parametrize(
    "function, a",
    [
        (logarithm, np.eye(3)),
        (exponential, np.zeros((3, 3))),
        (product, np.zeros((3, 3))),
        (product, np.diag([2.0, 0, 0])),
        (product, np.diag([2.0, 1, 1e-20])[:, :2] * np.array([1, 0])),
        (polar, np.diag([1.0, 0, 0])),
        (projected, np.eye(3)),
        (lambda a: thin_product(a)[0, 1], np.eye(3)),
        (lambda a: (lambda w, v: (v * np.exp(w)) @ v.T)(*np.linalg.eigh(a))[1, 0], np.eye(3)),
        (lambda a: (lambda w, v: (v * np.log(w)) @ v.T)(*np.linalg.eigh(a))[1, 0], np.eye(3)),
    ],
)
def test_what_vanishes_by_chance_is_not_overlooked(function, a):
    """Where g(w) = 0, vectors of equal values have a cotangent of zero."""
    if a.shape != (3, 3):
        function = lambda a: np.sum(W[:, :2] * (lambda u, s, v: (u * s) @ v)(*thin(a)))  # noqa: E731
    assert warnings_of(tn.grad(function), a)


def thin_product(a):
    u, s, vh = thin(a)
    return (u * s) @ vh


def thin(a):
    return np.linalg.svd(a, full_matrices=False)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", [product, exponential, logarithm, projected, polar, best])
def test_distinct_values_do_not_warn(function, dtype):
    for q in (Q, P):
        a = ((q * np.array([3, 2, 0.5])) @ q.T).astype(dtype)
        for derivative in (*derivatives(function), *second_derivatives(function)):
            assert not warnings_of(derivative, a)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "function, values", [(projected, (1, 2, 2)), (polar, (2, 2, 2)), (best, (1, 2, 2))]
)
def test_projectors_on_whole_spaces_do_not_warn(function, values, dtype):
    a = ((Q * np.array(values)) @ Q.T).astype(dtype)
    for derivative in (*derivatives(function), *second_derivatives(function)):
        assert not warnings_of(derivative, a)


def test_values_alone_and_what_is_said_to_be_a_projectors_do_not_warn():
    for function in (
        lambda a: np.sum(np.sin(np.linalg.eigvalsh(a))),
        lambda a: np.sum(np.linalg.svd(a)[1] ** 2),
        lambda a: product(a, projectors_only=True),
        lambda a: exponential(a, projectors_only=True),
        lambda a: product(a, split=True),
        lambda a: exponential(a, split=True),
    ):
        assert not warnings_of(tn.grad(function), np.eye(3))


def exponential_of_general(a, **keywords):
    w, v = tn.linalg.eig(a, **keywords)
    return np.sum(W * np.real((v * np.exp(w)) @ np.linalg.inv(v)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_equal_values_of_general_matrices_warn(dtype):
    for a in (np.eye(3), W @ np.diag([5.0, 2.0, 2.0]) @ np.linalg.inv(W)):
        a = a.astype(dtype)
        for derivative in derivatives(exponential_of_general):
            assert warnings_of(derivative, a)
        for derivative in derivatives(lambda a: exponential_of_general(a, projectors_only=True)):
            assert not warnings_of(derivative, a)
    (found,) = warnings_of(tn.grad(exponential_of_general), np.eye(3))
    assert "a derivative through eig is wrong" in str(found.message)
    distinct = (W @ np.diag([5.0, 3.0, 2.0]) @ np.linalg.inv(W)).astype(dtype)
    for derivative in derivatives(exponential_of_general):
        assert not warnings_of(derivative, distinct)


VALUES_ALONE = {
    "eigvals": lambda a: np.real(np.linalg.eigvals(a)),
    "values of eig": lambda a: np.real(np.linalg.eig(a)[0]),
    "eigvalsh": np.linalg.eigvalsh,
    "svdvals": np.linalg.svdvals,
    "svdvals of epsilon": lambda a: tn.linalg.svdvals(a, epsilon=1e-9),
    "wide svdvals": lambda a: np.linalg.svdvals(np.concatenate([a, a], axis=1)),
}


@pytest.mark.parametrize("values", VALUES_ALONE.values(), ids=VALUES_ALONE)
def test_second_derivatives_of_values_alone_warn_where_values_are_equal(values):
    """Σ w³ = tr A³ has second derivatives 6 tr(A dA dA), which need 3w² of split values."""
    cubes = lambda a: np.sum(values(a) ** 3)  # noqa: E731
    for a in (np.eye(3), Q @ np.diag([5.0, 2.0, 2.0]) @ Q.T):
        for derivative in second_derivatives(cubes):
            assert warnings_of(derivative, a)
        for derivative in derivatives(cubes):
            assert not warnings_of(derivative, a)
        for derivative in second_derivatives(lambda a: np.sum(values(a))):
            assert not warnings_of(derivative, a)
    for derivative in second_derivatives(cubes):
        assert not warnings_of(derivative, np.diag([5.0, 3.0, 2.0]))


def test_second_derivatives_of_equal_values_of_a_matrix_that_is_not_normal_warn():
    cubes = lambda a: np.sum(np.real(np.linalg.eigvals(a) ** 3))  # noqa: E731
    a = W @ np.diag([5.0, 2.0, 2.0]) @ np.linalg.inv(W)
    for derivative in second_derivatives(cubes):
        assert warnings_of(derivative, a)
    for derivative in (*derivatives(cubes), tn.hessian(lambda a: np.real(np.linalg.eigvals(a)[0]))):
        assert not warnings_of(derivative, a)


def test_single_vectors_that_complete_a_basis_warn():
    a = RANDOM.normal(size=(5, 3))
    (found,) = warnings_of(tn.grad(lambda a: np.linalg.svd(a)[0][0, 4]), a)
    assert "through the full vectors of svd" in str(found.message)
    assert "eigh" not in str(found.message)
    whole = lambda a: (lambda u: (u @ u.T)[0, 1])(np.linalg.svd(a)[0][:, 3:])  # noqa: E731
    assert not warnings_of(tn.grad(whole), a)
    assert not warnings_of(tn.grad(lambda a: np.linalg.svd(a)[0][0, 0]), a)


def test_one_of_many_matrices_is_enough():
    stack = np.stack([np.diag([1.0, 2, 3]), np.diag([1.0, 2, 2])])
    assert not warnings_of(tn.vmap(tn.grad(exponential)), stack[:1])
    assert warnings_of(tn.vmap(tn.grad(exponential)), stack)


def test_the_warning_says_where_and_what_to_do():
    (found,) = warnings_of(tn.grad(exponential), np.eye(3))
    text = str(found.message)
    for part in ("tn.linalg.eigh(a, **keywords)", "spectral_function", "split=True", "projectors"):
        assert part in text
    assert found.filename == __file__


def test_a_place_warns_once():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        for _ in range(3):
            tn.grad(product)(np.eye(3))
    assert len(found) == 1

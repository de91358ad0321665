"""Functions of eigenvalues and singular values have right derivatives where these are equal, nearly
equal and distinct: by closed forms, real and complex, in single and double precision.
"""

import numpy as np
import pytest

import tenferro as tn

RANDOM = np.random.default_rng(5)
W = RANDOM.normal(size=(3, 3))
GAPS = (0.0, 1e-16, 1e-12, 1e-8, 1e-6, 0.3)
TOLERANCE = {"float32": 2e-5, "complex64": 2e-5, "float64": 1e-12, "complex128": 1e-12}
by_dtype = pytest.mark.parametrize("dtype", list(TOLERANCE))
by_gap = pytest.mark.parametrize("gap", GAPS)


def isometry(dtype, m=3, n=3):
    re, im = RANDOM.normal(size=(2, m, n))
    return np.linalg.qr(re + 1j * im if "complex" in dtype else re)[0]


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def with_singular_values(dtype, *s):
    return (isometry(dtype) * np.array(s)) @ isometry(dtype)


def points(dtype, gap):
    """The identity, an orthogonal matrix, and Q diag(2, 2, 1) P; values apart by the gap."""
    near = np.array([1 + 2 * gap, 1 + gap, 1])
    found = np.diag(near), isometry(dtype) * near, with_singular_values(dtype, 2 + gap, 2, 1)
    return [x.astype(dtype) for x in found]


def of_factors(a):
    left, right = tn.linalg.low_rank_factors(a, 3)
    return np.sum(W * np.real(left @ right))


def of_split(a):
    u, s, vh = tn.linalg.svd(a, split=True)
    return np.sum(W * np.real((u * s) @ vh))


@by_dtype
@by_gap
def test_the_product_of_the_factors_is_the_matrix(dtype, gap):
    """f(A) = Σ W∘(L R) = Σ W∘A has the gradient W, and the tangent Σ W∘dA."""
    for a in points(dtype, gap):
        bound = 10 * TOLERANCE[dtype]
        np.testing.assert_allclose(tn.grad(of_factors)(a), W, atol=bound)
        tangent = tn.jvp(of_factors, (a,), (W.astype(dtype),))[1]
        np.testing.assert_allclose(tangent, np.sum(W * W), rtol=bound)


@by_gap
@pytest.mark.parametrize("dtype", ["float64", "complex128", "float32"])
def test_split_values_have_first_derivatives_up_to_the_split(dtype, gap):
    """f(A) = Σ W∘(U S Vᴴ) has the gradient W up to √eps."""
    for a in points(dtype, gap):
        bound = 3e-2 if dtype == "float32" else 1e-6
        np.testing.assert_allclose(tn.grad(of_split)(a), W, atol=bound)


@by_dtype
@by_gap
def test_a_spectral_function_is_the_function_of_the_matrix(dtype, gap):
    """d exp(A) = expm's, which is computed without eigenvectors."""
    q = isometry(dtype)
    a = (q * np.array([1, 1 + gap, 2])) @ adjoint(q)
    a = ((a + adjoint(a)) / 2).astype(dtype)
    e = (W + W.T).astype(dtype)
    got = tn.jvp(lambda a: tn.linalg.spectral_function(a, np.exp), (a,), (e,))[1]
    want = tn.jvp(tn.linalg.expm, (a,), (e,))[1]
    np.testing.assert_allclose(got, want, atol=100 * TOLERANCE[dtype])


def test_the_derivative_of_a_spectral_function_between_equal_values():
    """A = diag(2, 2, 1) along E01 + E10: d exp(A)[0, 1] = e²."""
    a, e = np.diag([2.0, 2, 1]), np.zeros((3, 3))
    e[0, 1] = e[1, 0] = 1
    tangent = tn.jvp(lambda a: tn.linalg.spectral_function(a, np.exp), (a,), (e,))[1]
    np.testing.assert_allclose(tangent, np.exp(2.0) * e, atol=1e-14)

    def split(a):
        w, v = tn.linalg.eigh(a, split=True)
        return (v * np.exp(w)) @ v.T

    np.testing.assert_allclose(tn.jvp(split, (a,), (e,))[1], np.exp(2.0) * e, atol=1e-6)


@pytest.mark.parametrize("kind", ["float64", "complex128"])
@pytest.mark.parametrize("gap", [0.0, 1e-8, 0.3])
def test_second_and_third_derivatives_of_a_spectral_function(kind, gap):
    """Those of expm, in every composition of modes."""
    q = isometry(kind)
    a = (q * np.array([1, 1 + gap, 2])) @ adjoint(q)
    a, v = (a + adjoint(a)) / 2, (W + W.T).astype(kind)

    def loss(exponential):
        return lambda a: np.sum(W * np.real(exponential((a + adjoint(a)) / 2)))

    def along(f, g=None):
        return lambda a: tn.jvp(f, (a,), (v,))[1]

    ours, theirs = loss(lambda a: tn.linalg.spectral_function(a, np.exp)), loss(tn.linalg.expm)
    for compose in (
        lambda f: tn.grad(along(f)),
        lambda f: along(tn.grad(f)),
        lambda f: along(along(f)),
        lambda f: along(along(along(f))),
        lambda f: tn.grad(lambda a: np.sum(np.real(v * tn.grad(f)(a)))),
    ):
        want = np.asarray(compose(theirs)(a))
        np.testing.assert_allclose(compose(ours)(a), want, atol=1e-10 * abs(want).max())


def test_parameters_of_a_spectral_function_are_differentiated():
    a = with_singular_values("float64", 1, 2, 3)
    a = a @ a.T

    def heat(a, t, c):
        return tn.linalg.spectral_function(
            a, lambda w, t, c: np.exp(-t * w) * (c[0] + c[1] * w), t, c
        )

    c = np.array([0.5, 2.0])
    tn.check_grads(heat, (a, 0.3, c))
    tn.check_grads(lambda t, c: heat(a, t, c), (0.3, c), order=2)
    slope = lambda a: tn.grad(lambda t: np.sum(W * heat(a, t, c)))(0.3)  # noqa: E731
    closed = lambda a: -np.sum(W * (a @ tn.linalg.expm(-0.3 * a) @ (c[0] * np.eye(3) + c[1] * a)))  # noqa: E731
    mixed, want = (tn.jvp(f, (a,), (W + W.T,)) for f in (slope, closed))
    np.testing.assert_allclose(mixed, want, rtol=1e-10)
    wave = lambda a, t: tn.linalg.spectral_function(a, lambda w, t: np.exp(-1j * t * w), t) @ W  # noqa: E731
    tn.check_grads(lambda a, t: np.abs(wave(a, t)), (a, 0.3))
    tn.check_grads(lambda a, t: np.imag(wave(a, t)), (a + 0j, 0.3))


def test_a_function_that_hides_a_parameter_is_refused():
    hidden = lambda t: tn.linalg.spectral_function(np.eye(2), lambda w: t * w)[0, 0]  # noqa: E731
    with pytest.raises(tn.InvalidParameterError, match="closes over"):
        tn.grad(hidden)(2.0)
    with pytest.raises(tn.InvalidParameterError, match="same shape"):
        tn.linalg.spectral_function(np.eye(2), np.sum)


def test_spectral_functions_of_stacks_under_vmap_and_jit():
    stack = np.stack([np.eye(3), W + W.T])
    slope = tn.grad(lambda a: np.sum(W * tn.linalg.spectral_function(a, np.exp)))
    want = [slope(a) for a in stack]
    np.testing.assert_allclose(slope(stack), want, atol=1e-12)
    np.testing.assert_allclose(tn.vmap(slope)(stack), want, atol=1e-12)
    np.testing.assert_allclose(tn.jit(slope)(stack[1]), want[1], atol=1e-12)
    assert tn.linalg.spectral_function(np.zeros((2, 0, 0)), np.exp).shape == (2, 0, 0)


@pytest.mark.parametrize("kind", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (3, 4)])
@pytest.mark.parametrize("gap", [0.0, 1e-8])
def test_the_nearest_matrix_of_a_rank(kind, shape, gap):
    """First derivatives, and second ones of square matrices, where kept values are equal."""
    u, v = (isometry(kind, n) for n in shape)
    a = (u * np.array([2 + gap, 2, 1])) @ adjoint(v)
    np.testing.assert_allclose(
        tn.linalg.low_rank(a, 2), (u[:, :2] * np.array([2 + gap, 2])) @ adjoint(v)[:2], atol=1e-13
    )
    tn.check_grads(lambda a: tn.linalg.low_rank(a, 2), (a,), order=2 if shape == (3, 3) else 1)
    product = lambda a: np.matmul(*tn.linalg.low_rank_factors(a, 2))  # noqa: E731
    tn.check_grads(product, (a,))


def test_low_rank_at_the_ends_is_zero_and_the_matrix():
    a = np.eye(3)
    np.testing.assert_array_equal(tn.linalg.low_rank(a, 0), 0 * a)
    slope = tn.grad(lambda a: np.sum(W * tn.linalg.low_rank(a, 3)))(a)
    np.testing.assert_array_equal(slope, W)


def test_a_rank_that_divides_equal_values_is_refused():
    """At once where values are known; nan where they are not."""
    with pytest.raises(tn.InvalidParameterError, match="divides a space"):
        tn.linalg.low_rank(np.eye(3), 2)
    assert np.isnan(tn.jit(lambda a: tn.linalg.low_rank(a, 2))(np.eye(3))).all()
    for k in (-1, 4, 1.5, True):
        with pytest.raises(tn.InvalidParameterError, match="not a valid rank"):
            tn.linalg.low_rank(np.eye(3), k)
    with pytest.raises(tn.InvalidParameterError, match="not a valid distance"):
        tn.linalg.eigh(np.eye(3), split=-1.0)


SX, SY = np.array([[0, 1], [1, 0]]) / 2, np.array([[0, -1j], [1j, 0]]) / 2
SPINS = [np.kron(s, s).real for s in (SX, SY, np.diag([0.5, -0.5]))]
GATE_WEIGHTS = np.random.default_rng(0).normal(size=(4, 4))


def gate(couplings):
    """exp(-0.3 h) of two spins, as a map between what belongs to either site."""
    h = sum(c * s for c, s in zip(couplings, SPINS, strict=True))
    return np.transpose(tn.linalg.expm(-0.3 * h).reshape(2, 2, 2, 2), (0, 2, 1, 3)).reshape(4, 4)


def test_a_gate_between_two_spins_is_split_with_its_derivative():
    """Three Schmidt values are equal at the couplings (1, 1, 1); the product is the gate."""

    def split(couplings):
        left, right = tn.linalg.low_rank_factors(gate([couplings[k] for k in range(3)]), 4)
        return np.sum((left @ right) * GATE_WEIGHTS)

    found = tn.grad(split)(np.ones(3))
    np.testing.assert_allclose(found, [-0.01196885, -0.04838456, -0.13976744], atol=5e-9)

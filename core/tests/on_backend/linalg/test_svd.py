"""Derivatives of singular value decompositions: of what depends on no gauge, where values are
distinct, equal and zero, real and complex, of first and second order.
"""

from functools import partial

import numpy as np
import pytest
from random_numbers import drawn

import tenferro as tn

RANDOM = np.random.default_rng(7)
numbers = partial(drawn, RANDOM)
KINDS = ("real", "complex")
SHAPES = {"square": (4, 4), "tall": (5, 4), "wide": (4, 6)}
VALUES = {"distinct": (4, 3, 2, 1), "equal": (2, 2, 1, 0.5), "zero": (3, 2, 1, 0)}
by_kind = pytest.mark.parametrize("kind", KINDS)
by_shape = pytest.mark.parametrize("shape", SHAPES)
by_values = pytest.mark.parametrize("values", VALUES)


def matrix(kind, shape, values):
    """A matrix with these singular values."""
    (m, n), s = SHAPES[shape], np.array(VALUES[values])
    u, v = (np.linalg.qr(numbers(kind, size, 4))[0] for size in (m, n))
    return (u * s) @ v.conj().T


def thin(a):
    return np.linalg.svd(a, full_matrices=False)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def two(a):
    """The projectors on the spaces of the two largest values."""
    u, _, vh = thin(a)
    return u[:, :2] @ adjoint(u[:, :2]), adjoint(vh[:2]) @ vh[:2]


def rank_two(a):
    """The best approximation of rank 2."""
    return a @ two(a)[1]


def polar(a):
    """The isometry of the polar decomposition."""
    u, _, vh = thin(a)
    return u @ vh


def of_each(a):
    """What sees every pair of vectors."""
    u, s, vh = thin(a)
    return (u * np.sin(s)) @ vh, np.exp(-s)


def second_difference(f, a, v, w, h=1e-3):
    """D²f(a)[v, w], to fourth order."""

    def along(h):
        return sum(
            p * q * np.asarray(f(a + p * h * v + q * h * w)) for p in (1, -1) for q in (1, -1)
        ) / (4 * h * h)

    return (4 * along(h) - along(2 * h)) / 3


def second(f, a, v, w):
    return tn.jvp(lambda a: tn.jvp(f, (a,), (v,))[1], (a,), (w,))[1]


@by_kind
@by_shape
def test_distinct_values(kind, shape):
    """Two derivatives by every factor are those of differences, where no values are equal"""
    tn.check_grads(of_each, (matrix(kind, shape, "distinct"),), order=2)


@by_kind
@by_shape
@by_values
@pytest.mark.parametrize("f", [two, rank_two])
def test_spaces_as_a_whole_have_first_derivatives(kind, shape, values, f):
    tn.check_grads(f, (matrix(kind, shape, values),), order=1)


@by_kind
@by_shape
@pytest.mark.parametrize("values", ["distinct", "equal"])
@pytest.mark.parametrize("f", [lambda a: two(a)[0], rank_two, polar])
def test_and_second_derivatives_in_every_direction(kind, shape, values, f):
    """Those that split equal values too."""
    a = matrix(kind, shape, values)
    v, w = numbers(kind, *a.shape), numbers(kind, *a.shape)
    want = second_difference(f, a, v, w)
    np.testing.assert_allclose(second(f, a, v, w), want, rtol=1e-5, atol=1e-5 * abs(want).max())


@by_kind
def test_the_four_compositions_of_modes_agree_at_equal_values(kind):
    a = matrix(kind, "tall", "equal")
    weight, v, w = (numbers(kind, *shape) for shape in ((5, 5), a.shape, a.shape))

    def loss(a):
        return np.sum(np.real(two(a)[0] * weight))

    def dot(x, y):
        return np.sum(np.real(np.conj(x) * y))

    found = [
        second(loss, a, v, w),
        dot(tn.jvp(tn.grad(loss), (a,), (w,))[1], v),
        dot(tn.grad(lambda a: tn.jvp(loss, (a,), (v,))[1])(a), w),
        dot(tn.grad(lambda a: dot(tn.grad(loss)(a), v))(a), w),
    ]
    np.testing.assert_allclose(found, found[0], rtol=1e-9)


@by_kind
@by_shape
@by_values
@pytest.mark.filterwarnings("ignore::tenferro.GaugeWarning")
def test_nothing_is_nan(kind, shape, values):
    """Whatever the loss: of first and second order, and of the zero matrix too."""
    a = matrix(kind, shape, values)
    weights = [numbers(kind, *x.shape) for x in thin(a)]

    def loss(a):
        return sum(np.sum(np.real(x * w)) for x, w in zip(thin(a), weights, strict=True))

    for point in (a, 0 * a):
        assert np.all(np.isfinite(tn.grad(loss)(point)))
        assert np.all(np.isfinite(tn.jvp(tn.grad(loss), (point,), (np.ones_like(a),))[1]))


@by_kind
@by_shape
def test_the_nuclear_norm_at_full_rank(kind, shape):
    """The gradient is the polar factor, also at equal values."""
    a = matrix(kind, shape, "equal")
    np.testing.assert_allclose(
        tn.grad(lambda a: np.sum(np.linalg.svdvals(a)))(a), np.asarray(polar(a)), atol=1e-14
    )


@by_kind
def test_values_alone_and_with_vectors_have_one_derivative(kind):
    a, v = matrix(kind, "wide", "distinct"), numbers(kind, 4, 6)
    alone = tn.jvp(np.linalg.svdvals, (a,), (v,))[1]
    np.testing.assert_allclose(alone, tn.jvp(lambda a: thin(a)[1], (a,), (v,))[1], rtol=1e-12)


def test_values_alone_ask_for_no_vectors():
    text = str(tn.trace(np.linalg.svdvals, np.ones((3, 2))))
    assert "svdvals" in text
    assert "svd[" not in text


@by_kind
def test_canonical_vectors_are_differentiated_in_their_gauge(kind):
    a, v, h = matrix(kind, "tall", "distinct"), numbers(kind, 5, 4), 1e-4

    def vectors(a):
        u, _, vh = tn.linalg.svd(a, full_matrices=False, gauge="canonical")
        return u, vh

    for k, tangent in enumerate(tn.jvp(vectors, (a,), (v,))[1]):
        steps = [np.asarray(vectors(a + t * h * v)[k]) for t in (1, -1, 2, -2)]
        want = (8 * (steps[0] - steps[1]) - (steps[2] - steps[3])) / (12 * h)
        np.testing.assert_allclose(tangent, want, atol=1e-8)
    vh = np.asarray(vectors(a)[1])
    largest = np.take_along_axis(vh, np.argmax(abs(vh), 1)[:, None], 1)
    np.testing.assert_allclose(largest, abs(largest), atol=1e-15)


def test_canonical_vectors_of_two_by_two():
    """Closed form: a rotation by t of diag(2, 1)."""

    def right(t):
        turn = np.stack([np.stack([np.cos(t), -np.sin(t)]), np.stack([np.sin(t), np.cos(t)])])
        a = np.array([[2.0, 0.0], [0.0, 1.0]]) @ turn
        return tn.linalg.svd(a, gauge="canonical").Vh

    value, slope = tn.jvp(right, (0.3,), (1.0,))
    c, s = np.cos(0.3), np.sin(0.3)
    np.testing.assert_allclose(value, [[c, -s], [s, c]], atol=1e-15)
    np.testing.assert_allclose(slope, [[-s, -c], [c, -s]], atol=1e-14)


@by_kind
@pytest.mark.parametrize("shape", ["tall", "wide"])
def test_the_thin_part_of_full_vectors_has_derivatives(kind, shape):
    a = matrix(kind, shape, "distinct")

    def full(a):
        u, s, vh = np.linalg.svd(a)
        return (u[:, :4] * np.sin(s)) @ vh[:4], s

    tn.check_grads(full, (a,), order=2)
    for got, want in zip(tn.jvp(full, (a,), (a,))[1], tn.jvp(of_sines, (a,), (a,))[1], strict=True):
        np.testing.assert_allclose(got, want, atol=1e-12)


def of_sines(a):
    u, s, vh = thin(a)
    return (u * np.sin(s)) @ vh, s


@by_kind
def test_vectors_that_complete_a_basis_have_a_projector_with_derivatives(kind):
    """P = U₂ U₂ᴴ = I - U₁ U₁ᴴ"""
    a = matrix(kind, "tall", "distinct")

    def rest(a):
        u = np.linalg.svd(a).U[:, 4:]
        return u @ adjoint(u)

    tn.check_grads(rest, (a,), order=2)


def test_values_beside_full_vectors_have_derivatives():
    a = matrix("real", "wide", "distinct")
    tn.check_grads(lambda a: np.linalg.svd(a).S, (a,), order=2)


def test_full_vectors_of_square_matrices_are_thin():
    tn.check_grads(lambda a: np.linalg.svd(a).S, (matrix("real", "square", "distinct"),))


def test_the_relative_gap_is_settable():
    """With a wide gap the pair counts as equal, and the cut term is missing."""
    a, v = np.diag([1.0, 0.999]), np.array([[0.0, 1.0], [1.0, 0.0]])

    def vectors(epsilon):
        return lambda a: tn.linalg.svd(a, epsilon=epsilon).U

    assert np.abs(tn.jvp(vectors(None), (a,), (v,))[1]).max() > 900
    assert np.abs(tn.jvp(vectors(0.01), (a,), (v,))[1]).max() == 0


@pytest.mark.parametrize(
    "keywords, field, value",
    [({"gauge": "none"}, "gauge", "none"), ({"epsilon": -1.0}, "epsilon", -1.0)],
)
def test_parameters_that_do_not_exist(keywords, field, value):
    with pytest.raises(tn.InvalidParameterError) as caught:
        tn.linalg.svd(np.eye(2), **keywords)
    assert (caught.value.parameter, caught.value.value) == (field, value)


@by_kind
def test_hermitian_values_and_vectors(kind):
    x = numbers(kind, 4, 4)
    a = x + adjoint(x)

    def product(x):
        u, s, vh = np.linalg.svd(x + adjoint(x), full_matrices=False, hermitian=True)
        return (u * np.sin(s)) @ vh

    want = (thin(a)[0] * np.sin(thin(a)[1])) @ thin(a)[2]
    np.testing.assert_allclose(np.asarray(product(tn.asarray(x))), want, atol=1e-13)
    tn.check_grads(product, (x,))


def test_vmap_is_a_stack():
    stack = RANDOM.normal(size=(3, 4, 2))
    got = tn.vmap(tn.grad(lambda a: np.sum(polar(a) * np.arange(8.0).reshape(4, 2))))(stack)
    want = [tn.grad(lambda a: np.sum(polar(a) * np.arange(8.0).reshape(4, 2)))(a) for a in stack]
    np.testing.assert_allclose(got, want, atol=1e-13)

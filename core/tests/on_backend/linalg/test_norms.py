"""Derivatives of norms where a norm is not smooth: at zero, at zeros, at ties, at low rank."""

import numpy as np
import pytest

import tenferro as tn

ORDERS = (1, 2, 3, 4, 0.5, 1.5, -1, -1.5, np.inf, -np.inf)
MATRIX_ORDERS = ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)
norm = np.linalg.norm
DTYPES = pytest.mark.parametrize("dtype", [float, complex])
by_order = pytest.mark.parametrize("order", ORDERS)


def second(f, x, direction):
    """The second derivative along a direction, by forward mode twice."""
    return tn.jvp(lambda x: tn.jvp(f, (x,), (direction,))[1], (x,), (direction,))[1]


@by_order
@DTYPES
def test_at_zero_every_derivative_is_zero(order, dtype):
    zero, ones = np.zeros(3, dtype), np.ones(3, dtype)

    def f(x):
        return norm(x, order)

    assert not np.any(tn.grad(f)(zero))
    assert tn.jvp(f, (zero,), (ones,))[1] == 0
    assert second(f, zero, ones) == 0
    assert not np.any(tn.grad(lambda x: np.sum(np.abs(tn.grad(f)(x)) ** 2))(zero))


@pytest.mark.parametrize("order", MATRIX_ORDERS)
@DTYPES
def test_at_the_zero_matrix_every_derivative_is_zero(order, dtype):
    zero, ones = np.zeros((2, 3), dtype), np.ones((2, 3), dtype)
    assert not np.any(tn.grad(lambda x: norm(x, order))(zero))
    assert second(lambda x: norm(x, order), zero, ones) == 0


@by_order
@DTYPES
def test_a_zero_among_others_is_left_out(order, dtype):
    """The other elements have the derivatives that they have without it."""
    x, kept = np.array([3, 0, -1.5]).astype(dtype), np.array([3, -1.5]).astype(dtype)
    got = tn.grad(lambda x: norm(x, order))(x)
    with np.errstate(all="ignore"):
        want = tn.grad(lambda x: norm(x, order))(kept) if order > 0 else np.zeros(2)
    np.testing.assert_allclose(got, [want[0], 0, want[1]], rtol=1e-14)
    bend = tn.jvp(tn.grad(lambda x: norm(x, order)), (x,), (np.ones_like(x),))[1]
    assert np.all(np.isfinite(bend))


def test_ties_share_equally():
    x = np.array([2.0, -2.0, 1.0, 1.0])
    np.testing.assert_array_equal(tn.grad(lambda x: norm(x, np.inf))(x), [0.5, -0.5, 0, 0])
    np.testing.assert_array_equal(tn.grad(lambda x: norm(x, -np.inf))(x), [0, 0, 0.5, 0.5])
    columns = np.array([[1.0, 2.0], [2.0, 1.0]])
    np.testing.assert_array_equal(tn.grad(lambda a: norm(a, 1))(columns), np.full((2, 2), 0.5))


@pytest.mark.parametrize("order", [2, -2])
def test_equal_singular_values_share_equally(order):
    """The largest of n equal ones: the gradient is their isometry divided by n."""
    c, s = np.cos(0.7), np.sin(0.7)
    turn = np.array([[c, -s], [s, c]])
    got = tn.grad(lambda a: norm(a, order))(3 * turn)
    np.testing.assert_allclose(got, turn / 2, atol=1e-14)


@DTYPES
def test_the_nuclear_norm_at_low_rank(dtype):
    """Zero singular values are left out: the gradient is u vᴴ of the others."""
    u, v = np.array([3, 4]) / 5, np.array([1, 2, 2]) / 3
    u, v = (u * 1j, v) if dtype is complex else (u, v)
    a = (2 * np.outer(u, v)).astype(dtype)
    got = tn.grad(lambda a: norm(a, "nuc"))(a)
    np.testing.assert_allclose(got, np.outer(u, v.conj()), atol=1e-14)


@pytest.mark.parametrize("order", [2, 3, 1.5, -1.5])
def test_the_complex_gradient_is_the_direction_of_growth(order):
    """Along it the norm grows by its length, across it not at all."""
    z = np.array([1 + 2j, -0.5j, 0.3])
    slope = tn.grad(lambda z: norm(z, order))(z)
    h = 1e-6
    for direction in (slope, 1j * slope, np.array([1, 1j, 0])):
        grows = (norm(z + h * direction, order) - norm(z - h * direction, order)) / (2 * h)
        assert abs(grows - np.sum(np.conj(slope) * direction).real) < 1e-8


def test_powers_cost_a_logarithm_of_products():
    a = np.eye(2) / 2
    text = str(tn.trace(lambda a: np.linalg.matrix_power(a, 1000), a))
    assert text.count("dot_general") <= 15
    slope = str(tn.trace(tn.grad(lambda a: np.sum(np.linalg.matrix_power(a, 1000))), a))
    assert slope.count("dot_general") <= 45


def test_a_power_and_its_derivative():
    a = np.array([[1.0, 0.5], [0.0, 2.0]])
    da = np.array([[0.0, 1.0], [1.0, 0.0]])
    value, change = tn.jvp(lambda a: np.linalg.matrix_power(a, 3), (a,), (da,))
    np.testing.assert_allclose(value, a @ a @ a)
    np.testing.assert_allclose(change, da @ a @ a + a @ da @ a + a @ a @ da)

"""Gradients of Gaussian likelihoods, however they are written, against closed forms.

For f = ½ yᵀ K⁻¹ y + ½ log |K|:   ∂f/∂K = ½ (K⁻¹ - α αᵀ),  α = K⁻¹ y   (Rasmussen, Williams (2006),
equation 5.9), here through K = A Aᵀ + n·1, so that ∂f/∂A = 2 ∂f/∂K A.
"""

import numpy as np
import pytest

import tenferro as tn


def by_solve_triangular(k, y):
    factor = tn.linalg.cholesky(k)
    z = tn.linalg.solve_triangular(factor, y, lower=True)
    return tn.dot(z, z) / 2 + tn.sum(tn.log(tn.diag(factor)))


def by_columns(k, y):
    factor = tn.linalg.cholesky(k)
    z = tn.linalg.solve_triangular(factor, y[:, None], lower=True)
    return 0.5 * tn.sum(z**2) + 0.5 * tn.sum(tn.log(tn.diagonal(factor) ** 2))


def by_cho_solve(k, y):
    factor = tn.linalg.cho_factor(k, lower=True)
    return 0.5 * tn.dot(y, tn.linalg.cho_solve(factor, y)) + tn.sum(tn.log(tn.diag(factor[0])))


def by_two_solves(k, y):
    factor = tn.linalg.cholesky(k)
    alpha = tn.linalg.solve(factor.T, tn.linalg.solve(factor, y))
    return 0.5 * tn.dot(y, alpha) + tn.sum(tn.log(tn.diag(factor)))


def by_solve_and_slogdet(k, y):
    return 0.5 * (y @ tn.linalg.solve(k, y) + tn.linalg.slogdet(k)[1])


def by_inverse(k, y):
    return 0.5 * (y @ tn.linalg.inv(k) @ y + tn.linalg.slogdet(k)[1])


def by_inverse_and_cholesky(k, y):
    logs = tn.sum(tn.log(tn.diag(tn.linalg.cholesky(k))))
    return 0.5 * tn.einsum("i,ij,j->", y, tn.linalg.inv(k), y) + logs


WAYS = [
    by_solve_triangular,
    by_columns,
    by_cho_solve,
    by_two_solves,
    by_solve_and_slogdet,
    by_inverse,
    by_inverse_and_cholesky,
]


def given(n, dtype="float64"):
    rng = np.random.default_rng(n)
    return rng.normal(size=(n, n)).astype(dtype), rng.normal(size=n).astype(dtype)


def covariance(a):
    return a @ a.T + len(a) * np.eye(len(a), dtype=a.dtype.name)


def close(found, wanted, dtype="float64"):
    scale = np.abs(wanted).max()
    np.testing.assert_allclose(
        np.asarray(found), wanted, rtol=0, atol=scale * (1e-12 if dtype == "float64" else 2e-5)
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_the_gradient_by_the_covariance(way, n, dtype):
    a, y = given(n, dtype)
    k = covariance(a.astype(float))
    alpha = np.linalg.solve(k, y)
    by_a, by_y = tn.jit(tn.grad(lambda a, y: way(covariance(a), y), argnums=(0, 1)))(a, y)
    close(by_a, (np.linalg.inv(k) - np.outer(alpha, alpha)) @ a, dtype)
    close(by_y, alpha, dtype)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_its_second_derivative(way):
    """∂²f along da, by the closed form of the gradient at complex steps of 1e-30 (exact)."""
    a, y = given(5)
    da = np.random.default_rng(1).normal(size=a.shape)
    gradient = tn.grad(lambda a: way(covariance(a), y))
    found = tn.jit(lambda a, da: tn.jvp(gradient, (a,), (da,))[1])(a, da)
    moved = a + 1e-30j * da
    k = moved @ moved.T + 5 * np.eye(5)
    alpha = np.linalg.solve(k, y)
    close(found, ((np.linalg.inv(k) - np.outer(alpha, alpha)) @ moved).imag / 1e-30)


def test_a_bilinear_form_and_weights():
    """xᵀ K⁻¹ y is no quadratic form, and logarithms of different weights are no determinant."""
    (a, y), x, weights = given(6), np.arange(6.0) - 2, np.arange(6.0) + 1

    def f(a):
        factor = tn.linalg.cholesky(covariance(a))
        first = tn.linalg.solve_triangular(factor, x, lower=True)
        second = tn.linalg.solve_triangular(factor, y, lower=True)
        return tn.dot(first, second) - 3 * tn.dot(second, second), tn.dot(
            weights, tn.log(tn.diag(factor))
        )

    k = covariance(a)
    alpha, beta = np.linalg.solve(k, y), np.linalg.solve(k, x)
    by_forms = tn.jit(tn.grad(lambda a: f(a)[0]))(a)
    close(
        by_forms,
        (-(np.outer(alpha, beta) + np.outer(beta, alpha)) + 6 * np.outer(alpha, alpha)) @ a,
    )
    by_weights = tn.jit(tn.grad(lambda a: f(a)[1]))(a)
    step = 1e-6 * y[:, None] * x

    def logs(a):
        return weights @ np.log(np.diag(np.linalg.cholesky(a @ a.T + 6 * np.eye(6))))

    slope = (logs(a + step) - logs(a - step)) / 2
    np.testing.assert_allclose(np.vdot(np.asarray(by_weights), step), slope, rtol=1e-7)


COTANGENTS = {
    "w zᵀ": lambda w, z, d: tn.outer(w, z),
    "a minus, scaled": lambda w, z, d: -tn.outer(w, -3.0 * z),
    "subtracted": lambda w, z, d: tn.outer(2.0 * w, z) - tn.outer(w, 0.5 * z),
    "z wᵀ": lambda w, z, d: tn.outer(z, w),
    "in the lower triangle": lambda w, z, d: tn.tril(tn.outer(w, z)),
    "and a diagonal": lambda w, z, d: tn.diag(d) - tn.outer(w, z),
    "and another product": lambda w, z, d: tn.outer(w, z) + tn.outer(d, d),
}


@pytest.mark.parametrize("name", COTANGENTS)
def test_cotangents_of_a_factor(name):
    """L⁻ᵀ Φ(Lᵀ C) L⁻¹, once on the diagonal and twice below (Murray (2016), equation 10)."""
    (a, d), n = given(6), 6
    k = np.asarray(covariance(a))
    column = np.arange(1.0, n + 1)

    def run(k):
        factor, pull = tn.vjp(tn.linalg.cholesky, k)
        z = tn.linalg.solve_triangular(factor, column, lower=True)
        w = tn.linalg.solve_triangular(factor, z, lower=True, trans=1)
        return pull(COTANGENTS[name](w, z, d))[0]

    factor = np.linalg.cholesky(k)
    z = np.linalg.solve(factor, column)
    w = np.linalg.solve(factor.T, z)
    ct = np.asarray(COTANGENTS[name](w, z, d))
    half = np.tril(factor.T @ np.tril(ct))
    np.fill_diagonal(half, np.diagonal(half) / 2)
    inverse = np.linalg.inv(factor)
    one = inverse.T @ half @ inverse
    wanted = np.tril(one + one.T) - np.diag(np.diagonal(one))
    close(tn.jit(run)(k), wanted)


def test_a_determinant_alone_and_with_a_weight():
    a, _ = given(9)

    def f(a, c):
        return c * tn.sum(tn.log(tn.diag(tn.linalg.cholesky(covariance(a)))))

    by_a, by_c = tn.jit(tn.grad(f, argnums=(0, 1)))(a, -1.5)
    close(by_a, -1.5 * np.linalg.inv(covariance(a)) @ a)
    np.testing.assert_allclose(float(by_c), np.linalg.slogdet(covariance(a))[1] / 2, rtol=1e-13)


def test_a_complex_covariance():
    """∂ log |K| = tr K⁻¹ dK, with dK Hermitian."""
    rng = np.random.default_rng(3)
    b = rng.normal(size=(5, 5)) + 1j * rng.normal(size=(5, 5))
    k = b @ b.conj().T + 5 * np.eye(5)
    d = rng.normal(size=(5, 5)) + 1j * rng.normal(size=(5, 5))
    d = d + d.conj().T

    def f(t):
        return 2 * tn.sum(tn.log(tn.real(tn.diag(tn.linalg.cholesky(k + t * d)))))

    found = tn.jit(tn.grad(f))(0.0)
    np.testing.assert_allclose(float(found), np.trace(np.linalg.solve(k, d)).real, rtol=1e-12)


def test_many_likelihoods_at_once():
    stacks = [given(4), given(4)]
    a = np.stack([stacks[0][0], stacks[1][0] + 1])
    y = np.stack([stacks[0][1], stacks[1][1]])
    gradient = tn.grad(lambda a, y: by_cho_solve(covariance(a), y))
    found = tn.jit(tn.vmap(gradient))(a, y)
    for got, one, other in zip(np.asarray(found), a, y, strict=True):
        k = covariance(one)
        alpha = np.linalg.solve(k, other)
        close(got, (np.linalg.inv(k) - np.outer(alpha, alpha)) @ one)

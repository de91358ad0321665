"""The marginal likelihood of a Gaussian process and its gradient by three parameters, in nine ways.

−log p(y | x, θ), the kernel θ₂² exp(−|x − x'|²/(2 θ₁²)) with noise θ₃², parameters in logarithms
(Rasmussen, Williams (2006), equations 5.8 and 5.9). By hand: one triangle of the inverse, by
LAPACK's `potrf` and `potri`, in place. The ways differ in the distances (broadcasting, products,
scaled points), in how the noise reaches the diagonal, and in what solves and what gives the
determinant.
Read next: `factorizations.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness.workload import Call, Case

from .library import Formulations, Library


def inputs(n: int) -> tuple[Any, ...]:
    """Logarithms of length, amplitude and noise; points in a square; values."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, (n, 2))
    return np.log([0.7, 1.3, 0.3]), x, np.sin(x[:, 0]) + 0.3 * rng.normal(size=n)


GP = Formulations(
    inputs,
    cases=[Case("gp, n = 500", ("gp", 500))],
    quick=[Case("gp, n = 40", ("gp", 40))],
)


@GP.hand
def by_hand(theta: Any, x: Any, y: Any) -> Call:
    """Columns of Fortran's order: the upper triangle in rows is its lower one."""
    from scipy.linalg.blas import dsyr
    from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

    n = len(y)
    halves = np.triu(np.full((n, n), 2.0), 1) + np.eye(n)  # how often an entry of it counts
    distances, kernel, covariance = (np.empty((n, n)) for _ in range(3))

    def value_and_gradient() -> Any:
        length, amplitude, noise = np.exp(2 * theta)
        np.subtract.outer(x[:, 0], x[:, 0], out=distances)
        np.multiply(distances, distances, out=distances)
        for column in x.T[1:]:
            np.subtract.outer(column, column, out=kernel)
            np.multiply(kernel, kernel, out=kernel)
            np.add(distances, kernel, out=distances)
        np.multiply(distances, -0.5 / length, out=kernel)
        np.exp(kernel, out=kernel)
        np.multiply(kernel, amplitude, out=kernel)
        np.copyto(covariance, kernel)
        covariance.flat[:: n + 1] += noise
        factor = dpotrf(covariance.T, lower=1, clean=0, overwrite_a=1)[0]
        alpha = dpotrs(factor, y, lower=1)[0]
        value = y @ alpha / 2 + np.log(factor.diagonal()).sum() + n / 2 * np.log(2 * np.pi)
        inverse = dpotri(factor, lower=1, overwrite_c=1)[0]
        inverse = dsyr(-1.0, alpha, a=inverse, lower=1, overwrite_a=1).T
        by_noise = noise * inverse.trace()
        np.multiply(inverse, kernel, out=inverse)
        np.multiply(inverse, halves, out=inverse)  # below the diagonal is no inverse
        return value, np.array(
            [np.vdot(inverse, distances) / (2 * length), inverse.sum(), by_noise]
        )

    return value_and_gradient


# ---- parts that the ways share -------------------------------------------------------------------


def broadcast_kernel(np: Any, scales: Any, x: Any) -> Any:
    """The kernel of all pairs from an array of their differences."""
    distances = np.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=-1)
    return scales[1] * np.exp(-0.5 * distances / scales[0])


def constant(n: int) -> float:
    """What depends on no parameter."""
    return float(n / 2 * np.log(2 * np.pi))


# ---- ways by a Cholesky factor -------------------------------------------------------------------


@GP.way("cholesky, solve_triangular")
def by_cholesky(lib: Library, theta: Any, x: Any, y: Any) -> Any:
    """One triangular solution, noise by a unit matrix."""
    np, n = lib.np, x.shape[0]
    scales = np.exp(2 * theta)
    factor = np.linalg.cholesky(broadcast_kernel(np, scales, x) + scales[2] * np.eye(n))
    z = lib.linalg.solve_triangular(factor, y, lower=True)
    return z @ z / 2 + np.sum(np.log(np.diag(factor))) + constant(n)


@GP.way("cho_solve, Gram matrix", without=("autograd",))
def by_cho_solve(lib: Library, theta: Any, x: Any, y: Any) -> Any:
    """Distances as |x|² + |x'|² − 2 x·x', `cho_factor` and `cho_solve`, noise on the diagonal."""
    np, n = lib.np, x.shape[0]
    squares, scales = np.sum(x**2, axis=1), np.exp(2 * theta)
    distances = np.maximum(squares[:, None] + squares - 2 * x @ x.T, 0)
    kernel = scales[1] * np.exp(-distances / (2 * scales[0]))
    factor = lib.linalg.cho_factor(kernel + np.diag(scales[2] * np.ones(n)), lower=True)
    quadratic = np.dot(y, lib.linalg.cho_solve(factor, y))
    return 0.5 * quadratic + np.log(np.diagonal(factor[0])).sum() + constant(n)


@GP.way("cholesky, two solve, scaled points")
def by_two_solves(lib: Library, theta: Any, x: Any, y: Any) -> Any:
    """`solve` with both factors, as tutorials write it; points are divided by the length."""
    np, n = lib.np, x.shape[0]
    length, amplitude, noise = np.exp(theta[0]), np.exp(theta[1]), np.exp(theta[2])
    scaled = x / length
    differences = np.expand_dims(scaled, 1) - np.expand_dims(scaled, 0)
    kernel = amplitude**2 * np.exp(-0.5 * np.sum(differences**2, axis=2))
    factor = np.linalg.cholesky(kernel + noise**2 * np.eye(n))
    alpha = np.linalg.solve(factor.T, np.linalg.solve(factor, y))
    return 0.5 * np.dot(y, alpha) + np.sum(np.log(np.diag(factor))) + constant(n)


@GP.way("cholesky, noise in a buffer", without=("autograd",))
def noise_in_a_buffer(lib: Library, theta: Any, x: Any, y: Any) -> Any:
    """Distances summed over coordinates in a loop, the noise assigned to the diagonal."""
    np, n = lib.np, x.shape[0]
    scales, each = np.exp(2 * theta), np.arange(n)
    distances = sum((x[:, i, None] - x[:, i]) ** 2 for i in range(x.shape[1]))
    kernel = scales[1] * np.exp(distances * (-0.5 / scales[0]))
    covariance = lib.put(kernel, (each, each), scales[1] + scales[2])
    factor = np.linalg.cholesky(covariance)
    z = lib.linalg.solve_triangular(factor, y[:, None], lower=True)
    return np.sum(z**2) / 2 + 0.5 * np.sum(np.log(np.diag(factor) ** 2)) + constant(n)


# ---- ways without one ----------------------------------------------------------------------------


@GP.way("solve, slogdet")
def by_slogdet(lib: Library, theta: Any, x: Any, y: Any) -> Any:
    """Nothing says that the matrix is symmetric."""
    np, n = lib.np, x.shape[0]
    scales = np.exp(2 * theta)
    covariance = broadcast_kernel(np, scales, x) + scales[2] * np.eye(n)
    quadratic = y @ np.linalg.solve(covariance, y)
    return (quadratic + np.linalg.slogdet(covariance)[1]) / 2 + constant(n)


@GP.way("inv, slogdet, Gram matrix")
def by_inverse(lib: Library, theta: Any, x: Any, y: Any) -> Any:
    """The inverse, and the logarithm of the determinant."""
    np, n = lib.np, x.shape[0]
    scales, gram = np.exp(2 * theta), np.dot(x, x.T)
    squares = np.diag(gram)
    distances = squares[:, None] + squares[None, :] - 2 * gram
    covariance = scales[1] * np.exp(-0.5 * distances / scales[0]) + scales[2] * np.eye(n)
    quadratic = y.T @ np.linalg.inv(covariance) @ y
    return 0.5 * (quadratic + np.linalg.slogdet(covariance)[1]) + constant(n)


@GP.way("noise by where, quadratic form by einsum")
def by_einsum(lib: Library, theta: Any, x: Any, y: Any) -> Any:
    """The diagonal chosen by a mask, the inverse contracted by einsum, log |K| by its factor."""
    np, n = lib.np, x.shape[0]
    scales = np.exp(2 * theta)
    kernel = broadcast_kernel(np, scales, x)
    covariance = np.where(np.eye(n, dtype=bool), kernel + scales[2], kernel)
    inverse = np.linalg.inv(covariance)
    logs = 2 * np.sum(np.log(np.diag(np.linalg.cholesky(covariance))))
    return 0.5 * (np.einsum("i,ij,j->", y, inverse, y) + logs) + constant(n)


@GP.way("one pair, mapped", without=("autograd",))
def one_pair_mapped(lib: Library, theta: Any, x: Any, y: Any) -> Any:
    """The kernel of one pair of points, mapped over both; a triangular solution."""
    np, n = lib.np, x.shape[0]

    def kernel(p: Any, q: Any) -> Any:
        return np.exp(2 * theta[1]) * np.exp(-np.sum((p - q) ** 2) / (2 * np.exp(2 * theta[0])))

    rows = lib.vmap(lambda p: lib.vmap(lambda q: kernel(p, q))(x))(x)
    factor = np.linalg.cholesky(rows + np.exp(2 * theta[2]) * np.eye(n))
    z = lib.linalg.solve_triangular(factor, y, lower=True)
    return 0.5 * np.sum(z * z) + np.log(factor.diagonal()).sum() + constant(n)


@GP.way("eigh", other=True)
def by_eigh(lib: Library, theta: Any, x: Any, y: Any) -> Any:
    """Another algorithm: eigenvalues and the values in their basis."""
    np, n = lib.np, x.shape[0]
    scales = np.exp(2 * theta)
    w, v = np.linalg.eigh(broadcast_kernel(np, scales, x) + scales[2] * np.eye(n))
    return np.sum((v.T @ y) ** 2 / w) / 2 + np.sum(np.log(w)) / 2 + constant(n)

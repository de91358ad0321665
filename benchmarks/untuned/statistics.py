"""Estimators: a mixture by EM, a logistic regression by Newton, ridge regressions, a copula.

Derivatives go through the iterations or the linear systems of the estimator.
Read next: `imaging.py`.
"""

from __future__ import annotations

from typing import Any

import numpy

from benchmarks.formulations.library import Library
from benchmarks.programs.small import program

# ---- mixture by expectation maximization ---------------------------------------------------------


def clusters(size: tuple[int, int]) -> tuple[Any, ...]:
    """Means that EM begins with, [k, d], and points [n, d]."""
    points, k = size
    rng = numpy.random.default_rng(0)
    centers = 3 * rng.normal(size=(k, 2))
    x = centers[rng.integers(0, k, points)] + rng.normal(size=(points, 2))
    return centers + 0.5 * rng.normal(size=(k, 2)), x


EM = program("em", clusters, (200, 3), (8, 2))


@EM.way("10 iterations")
def expectation_maximization(lib: Library, means: Any, x: Any) -> Any:
    """How the likelihood after ten iterations depends on where they began."""
    np, logsumexp = lib.np, lib.special.logsumexp
    k = len(means)
    weights, variances = np.ones(k) / k, np.ones((k, 2))
    for _ in range(10):
        squares = (x[:, None, :] - means) ** 2 / variances
        logs = np.log(weights) - 0.5 * np.sum(squares + np.log(2 * np.pi * variances), axis=2)
        likelihood = logsumexp(logs, axis=1)
        shares = np.exp(logs - likelihood[:, None])
        counts = np.sum(shares, axis=0)
        weights = counts / len(x)
        means = shares.T @ x / counts[:, None]
        squares = (x[:, None, :] - means) ** 2
        variances = np.sum(shares[:, :, None] * squares, axis=0) / counts[:, None] + 1e-3
    return np.sum(likelihood)


# ---- logistic regression by Newton's method ------------------------------------------------------


def patients(size: tuple[int, int]) -> tuple[Any, ...]:
    """Logarithms of penalties, [d]; two sets of features and outcomes."""
    n, d = size
    rng = numpy.random.default_rng(1)
    truth = rng.normal(size=d)
    x = rng.normal(size=(2, n, d))
    y = (rng.uniform(size=(2, n)) < 1 / (1 + numpy.exp(-x @ truth))).astype(float)
    return numpy.zeros(d), x[0], y[0], x[1], y[1]


NEWTON = program("newton", patients, (200, 8), (10, 2))


@NEWTON.way("6 steps")
def held_out(lib: Library, logs: Any, x: Any, y: Any, x_new: Any, y_new: Any) -> Any:
    """The loss on new patients of the regression that Newton's method fits with penalties."""
    np = lib.np
    w, penalties = np.zeros(len(logs)), np.exp(logs)
    for _ in range(6):
        p = 1 / (1 + np.exp(-x @ w))
        gradient = x.T @ (p - y) + penalties * w
        hessian = (x.T * (p * (1 - p))) @ x + np.diag(penalties)
        w = w - np.linalg.solve(hessian, gradient)
    z = x_new @ w
    return np.mean(np.logaddexp(0.0, z) - y_new * z)


# ---- ridge path ----------------------------------------------------------------------------------


def features(size: tuple[int, int]) -> tuple[Any, ...]:
    """Logarithms of the scales of features, [d]; two sets of features and responses."""
    n, d = size
    rng = numpy.random.default_rng(2)
    x = rng.normal(size=(2, n, d))
    y = x @ rng.normal(size=d) + rng.normal(size=(2, n))
    return 0.1 * rng.normal(size=d), x[0], y[0], x[1], y[1]


RIDGE = program("ridge", features, (60, 10), (6, 2))


@RIDGE.way("12 penalties")
def path(lib: Library, logs: Any, x: Any, y: Any, x_new: Any, y_new: Any) -> Any:
    """The sum over penalties of the errors of ridge regressions on new data."""
    np = lib.np
    scales = np.exp(logs)
    x, x_new = x * scales, x_new * scales
    gram, right = x.T @ x, x.T @ y
    total = 0.0
    for penalty in numpy.logspace(-2, 2, 12):
        w = np.linalg.solve(gram + penalty * numpy.eye(len(logs)), right)
        total = total + np.mean((x_new @ w - y_new) ** 2)
    return total


# ---- Gaussian copula -----------------------------------------------------------------------------


def scores(size: tuple[int, int]) -> tuple[Any, ...]:
    """Numbers below a diagonal without constraints, [d, d], and normal scores [n, d]."""
    n, d = size
    rng = numpy.random.default_rng(3)
    return 0.3 * rng.normal(size=(d, d)), rng.normal(size=(n, d)) @ rng.normal(size=(d, d))


COPULA = program("copula", scores, (100, 5), (5, 2))


@COPULA.way("Cholesky")
def copula(lib: Library, free: Any, z: Any) -> Any:
    """n/2 log det R + ½ Σ zᵀ(R⁻¹ − 1)z, with R = L Lᵀ and rows of L of length 1."""
    np = lib.np
    low = np.tril(free, -1) + numpy.eye(len(free))
    low = low / np.sqrt(np.sum(low**2, axis=1, keepdims=True))
    r = low @ low.T
    white = np.linalg.solve(np.linalg.cholesky(r), z.T)
    logdet = np.linalg.slogdet(r)[1]
    return 0.5 * len(z) * logdet + 0.5 * (np.sum(white**2) - np.sum(z**2))

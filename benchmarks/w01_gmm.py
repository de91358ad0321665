"""W1: the log likelihood of a Gaussian mixture and its gradient: ADBench's GMM.

d = 10 dimensions, K = 25 components, n points, a Wishart prior on the precisions, all parameters.
Precision k is Wₖᵀ Wₖ with Wₖ lower triangular: the first d columns of `icf` are the logarithms of
its diagonal, the others its lower triangle by columns. All points go through all Wₖ in one product.

Source: Šrajer, Kukelova, Fitzgibbon (2018), A benchmark of selected algorithmic differentiation
tools on some problems in computer vision and machine learning.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.harness.peers import numpy_like
from benchmarks.harness.workload import Call, Case, Goal, Workload

D, K = 10, 25
GAMMA, M = 1.0, 0

# Where each entry of W is found in (diagonal, lower triangle by columns, 0).
LOWER = [(i, j) for j in range(D) for i in range(j + 1, D)]
PLACES = np.full((D, D), D + len(LOWER))
PLACES[np.arange(D), np.arange(D)] = np.arange(D)
PLACES[tuple(np.array(LOWER).T)] = D + np.arange(len(LOWER))


def inputs(n: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    alphas, means = rng.normal(size=K), rng.normal(size=(K, D))
    return alphas, means, 0.3 * rng.normal(size=(K, D + len(LOWER))), rng.normal(size=(n, D))


def constant(n: int) -> float:
    """What does not depend on the parameters."""
    degrees = D + M + 1
    gamma = D * (D - 1) / 4 * math.log(math.pi)
    gamma += sum(math.lgamma(degrees / 2 - j / 2) for j in range(D))
    prior = degrees * D * (math.log(GAMMA) - math.log(2) / 2) - gamma
    return -n * D / 2 * math.log(2 * math.pi) - K * prior


W = Workload(
    "W1",
    "ADBench GMM, d = 10, K = 25: value and gradient of all parameters",
    cases=[Case("n = 1,000", 1000, 1000), Case("n = 10,000", 10_000, 10_000)],
    quick=[Case("n = 100", 100, 100)],
    inputs=inputs,
    goals=[
        Goal(0.9, case="n = 1,000"),
        Goal(0.7, case="n = 10,000"),
        Goal(1.0, case="n = 1,000", contestant="tenferro xla", over="jax"),
        Goal(0.5, case="n = 10,000", contestant="tenferro xla", over="jax"),
    ],
    tolerance=1e-8,
    large=True,
    memory=True,
)


@W.contestant("numpy")
def with_numpy(*given: Any) -> Call:
    return by_hand(np, *given)


def by_hand(np: Any, alphas: Any, means: Any, icf: Any, x: Any) -> Call:
    """With the arrays of NumPy, or of a library with its names."""
    n = len(x)
    triangle = np.array(LOWER).T

    def value_and_gradient() -> Any:
        diagonal = np.exp(icf[:, :D])
        logs = icf[:, :D].sum(axis=1)
        w = np.zeros((K, D, D))
        w[:, np.arange(D), np.arange(D)] = diagonal
        w[:, triangle[0], triangle[1]] = icf[:, D:]
        shift = np.einsum("kij,kj->ki", w, means)
        y = (x @ w.reshape(K * D, D).T).reshape(n, K, D) - shift
        inner = alphas + logs - 0.5 * np.einsum("nki,nki->nk", y, y)
        top = inner.max(axis=1, keepdims=True)
        e = np.exp(inner - top)
        total = e.sum(axis=1, keepdims=True)
        weights = np.exp(alphas - alphas.max())
        value = np.sum(np.log(total)) + np.sum(top) + constant(n)
        value -= n * (np.log(weights.sum()) + alphas.max())
        value += GAMMA**2 / 2 * (np.sum(diagonal**2) + np.sum(icf[:, D:] ** 2)) - M * logs.sum()

        e /= total
        mass = e.sum(axis=0)
        y *= e[:, :, None]  # minus the cotangent of y
        moved = y.sum(axis=0)
        ct_w = moved[:, :, None] * means[:, None, :] - (y.reshape(n, K * D).T @ x).reshape(w.shape)
        ct_means = np.einsum("kij,ki->kj", w, moved)
        ct_icf = np.empty_like(icf)
        by_diagonal = ct_w[:, np.arange(D), np.arange(D)] + GAMMA**2 * diagonal
        ct_icf[:, :D] = by_diagonal * diagonal + mass[:, None] - M
        ct_icf[:, D:] = ct_w[:, triangle[0], triangle[1]] + GAMMA**2 * icf[:, D:]
        return value, (mass - n * weights / weights.sum(), ct_means, ct_icf)

    return value_and_gradient


def loss(np: Any, alphas: Any, means: Any, icf: Any, x: Any) -> Any:
    n = x.shape[0]
    diagonal = np.exp(icf[:, :D])
    logs = np.sum(icf[:, :D], axis=1)
    entries = np.concatenate([diagonal, icf[:, D:], np.zeros((K, 1))], axis=1)
    w = entries[:, PLACES]
    shift = np.einsum("kij,kj->ki", w, means)
    y = np.reshape(x @ np.reshape(w, (K * D, D)).T, (n, K, D)) - shift
    inner = alphas + logs - 0.5 * np.sum(y * y, axis=2)
    value = np.sum(log_sum_exp(np, inner)) - n * log_sum_exp(np, alphas) + constant(n)
    squares = np.sum(diagonal**2) + np.sum(icf[:, D:] ** 2)
    return value + GAMMA**2 / 2 * squares - M * np.sum(logs)


def log_sum_exp(np: Any, x: Any) -> Any:
    """Over the last axis."""
    top = np.max(x, axis=-1, keepdims=True)
    return np.log(np.sum(np.exp(x - top), axis=-1)) + np.squeeze(top, -1)


numpy_like(W, loss, argnums=(0, 1, 2))


@W.contestant("torch", needs="torch")
def with_torch(alphas: Any, means: Any, icf: Any, x: Any) -> Call:
    import torch

    alphas, means, icf = (torch.as_tensor(p).requires_grad_() for p in (alphas, means, icf))
    x, places = torch.as_tensor(x), torch.as_tensor(PLACES)
    n, zero = len(x), torch.zeros((K, 1), dtype=x.dtype)

    def value_and_gradient() -> Any:
        diagonal = torch.exp(icf[:, :D])
        logs = icf[:, :D].sum(1)
        w = torch.cat([diagonal, icf[:, D:], zero], 1)[:, places]
        shift = torch.einsum("kij,kj->ki", w, means)
        y = (x @ w.reshape(K * D, D).T).reshape(n, K, D) - shift
        inner = alphas + logs - 0.5 * (y * y).sum(2)
        value = torch.logsumexp(inner, 1).sum() - n * torch.logsumexp(alphas, 0) + constant(n)
        squares = (diagonal**2).sum() + (icf[:, D:] ** 2).sum()
        value = value + GAMMA**2 / 2 * squares - M * logs.sum()
        return value, torch.autograd.grad(value, (alphas, means, icf))

    return value_and_gradient

"""The log likelihood of a Gaussian mixture (W1) and its gradient, in eleven ways.

By hand: points go through everything in blocks that stay in the cache, two products per block, all
arrays made once. The ways differ in how the triangular factors are made, in the order of axes, in
the words for products and sums, in the logarithm of the sum, and in loops over components or blocks
of points. Read next: `benchmarks/w01_gmm.py`, which defines the function.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness.workload import Call, Case
from benchmarks.w01_gmm import GAMMA, LOWER, PLACES, D, K, M, constant, inputs

from .library import Formulations, Library

GMM = Formulations(
    inputs,
    cases=[Case(f"gmm, n = {n:,}", ("gmm", n)) for n in (1000, 10_000)],
    quick=[Case("gmm, n = 100", ("gmm", 100))],
    argnums=(0, 1, 2),
)
ROWS, COLUMNS = np.array(LOWER).T
BLOCK = 512  # points: 1 MiB of y, which stays in the cache of a core
STRICT = np.tril(np.ones((D, D), bool), -1)


# ---- by hand -------------------------------------------------------------------------------------


@GMM.hand
def by_hand(alphas: Any, means: Any, icf: Any, x: Any) -> Call:
    n = len(x)
    y, e = np.empty((BLOCK, K * D)), np.empty((BLOCK, K))
    w, ct_w, part = np.zeros((K, D, D)), np.empty((K * D, D)), np.empty((K * D, D))
    each = np.arange(D)

    def value_and_gradient() -> Any:
        diagonal = np.exp(icf[:, :D])
        logs = icf[:, :D].sum(axis=1)
        w[:, each, each] = diagonal
        w[:, ROWS, COLUMNS] = icf[:, D:]
        shift = (w @ means[:, :, None]).ravel()
        bias = alphas + logs
        value, mass, moved = 0.0, np.zeros(K), np.zeros(K * D)
        ct_w.fill(0)
        for start in range(0, n, BLOCK):
            points = x[start : start + BLOCK]
            a, b = y[: len(points)], e[: len(points)]
            np.matmul(points, w.reshape(K * D, D).T, out=a)
            a -= shift
            cube = a.reshape(-1, K, D)
            np.einsum("nki,nki->nk", cube, cube, out=b)
            b *= -0.5
            b += bias
            top = b.max(axis=1)
            b -= top[:, None]
            np.exp(b, out=b)
            total = b.sum(axis=1)
            value += np.log(total).sum() + top.sum()
            b /= total[:, None]
            mass += b.sum(axis=0)
            cube *= b[:, :, None]  # minus the cotangent of y
            moved += a.sum(axis=0)
            np.add(ct_w, np.matmul(a.T, points, out=part), out=ct_w)
        weights = np.exp(alphas - alphas.max())
        value += constant(n) - n * (np.log(weights.sum()) + alphas.max())
        value += GAMMA**2 / 2 * ((diagonal**2).sum() + (icf[:, D:] ** 2).sum()) - M * logs.sum()
        shares = moved.reshape(K, D)
        found = shares[:, :, None] * means[:, None, :] - ct_w.reshape(K, D, D)
        ct_icf = np.empty_like(icf)
        ct_icf[:, :D] = (found[:, each, each] + GAMMA**2 * diagonal) * diagonal
        ct_icf[:, :D] += mass[:, None] - M
        ct_icf[:, D:] = found[:, ROWS, COLUMNS] + GAMMA**2 * icf[:, D:]
        ct_means = (shares[:, None, :] @ w)[:, 0]
        return value, (mass - n * weights / weights.sum(), ct_means, ct_icf)

    return value_and_gradient


# ---- parts that the ways share -------------------------------------------------------------------


def by_gather(np: Any, icf: Any) -> Any:
    """All triangular factors [K, D, D], gathered from the diagonal, the triangle, and a zero."""
    parts = [np.exp(icf[:, :D]), icf[:, D:], np.zeros((K, 1))]
    return np.concatenate(parts, axis=1)[:, PLACES]


def prior(np: Any, alphas: Any, icf: Any, n: int, log_sum: Any) -> Any:
    """Everything but the points' part."""
    squares = np.sum(np.exp(icf[:, :D]) ** 2) + np.sum(icf[:, D:] ** 2)
    logs = np.sum(icf[:, :D])
    return constant(n) - n * log_sum + GAMMA**2 / 2 * squares - M * logs


def shifted(np: Any, x: Any, axis: int = -1) -> Any:
    """The logarithm of a sum of exponentials by hand."""
    top = np.max(x, axis=axis, keepdims=True)
    return np.squeeze(top, axis) + np.log(np.sum(np.exp(x - top), axis=axis))


# ---- ways ----------------------------------------------------------------------------------------


@GMM.way("one product")
def one_product(lib: Library, alphas: Any, means: Any, icf: Any, x: Any) -> Any:
    """All points through all factors in one product; factors by a gather."""
    np, n = lib.np, x.shape[0]
    w = by_gather(np, icf)
    shift = np.einsum("kij,kj->ki", w, means)
    y = np.reshape(x @ np.reshape(w, (K * D, D)).T, (n, K, D)) - shift
    inner = alphas + np.sum(icf[:, :D], axis=1) - 0.5 * np.sum(y * y, axis=2)
    return np.sum(shifted(np, inner)) + prior(np, alphas, icf, n, shifted(np, alphas))


@GMM.way("einsum of differences")
def einsum_of_differences(lib: Library, alphas: Any, means: Any, icf: Any, x: Any) -> Any:
    """Differences [n, K, D] first, then einsum; factors by `tril`; `logsumexp` of the library."""
    np, n = lib.np, x.shape[0]
    places = np.where(STRICT, PLACES - D, 0)
    triangle = np.tril(icf[:, D:][:, places], -1)
    w = triangle + np.eye(D) * np.exp(icf[:, :D])[:, :, None]
    y = np.einsum("kij,nkj->nki", w, x[:, None, :] - means)
    inner = alphas + np.sum(icf[:, :D], axis=1) - 0.5 * np.einsum("nki,nki->nk", y, y)
    value = np.sum(lib.special.logsumexp(inner, axis=1))
    return value + prior(np, alphas, icf, n, lib.special.logsumexp(alphas))


@GMM.way("points in columns")
def points_in_columns(lib: Library, alphas: Any, means: Any, icf: Any, x: Any) -> Any:
    """Points as columns, components first: a batch of products [K, D, n]; factors by `where`."""
    np, n = lib.np, x.shape[0]
    w = np.where(STRICT, by_gather(np, icf), np.eye(D) * np.exp(icf[:, :D])[:, None, :])
    y = w @ (x.T[None] - means[:, :, None])
    quadratic = np.sum(y**2, axis=1)
    inner = (alphas + np.sum(icf[:, :D], axis=1))[:, None] - quadratic / 2
    return np.sum(shifted(np, inner, 0)) + prior(np, alphas, icf, n, shifted(np, alphas))


@GMM.way("loop over components")
def loop_over_components(lib: Library, alphas: Any, means: Any, icf: Any, x: Any) -> Any:
    """One component after the other, stacked; the logarithm of the plain sum."""
    np, n = lib.np, x.shape[0]
    w, columns = by_gather(np, icf), []
    for k in range(K):
        y = (x - means[k]) @ w[k].T
        columns.append(alphas[k] + np.sum(icf[k, :D]) - 0.5 * np.sum(y**2, axis=1))
    inner = np.stack(columns, axis=1)
    value = np.sum(np.log(np.sum(np.exp(inner), axis=1)))
    return value + prior(np, alphas, icf, n, np.log(np.sum(np.exp(alphas))))


@GMM.way("buffer by components", without=("autograd",))
def buffer_by_components(lib: Library, alphas: Any, means: Any, icf: Any, x: Any) -> Any:
    """A buffer filled by columns, one component after the other."""
    np, n = lib.np, x.shape[0]
    w, inner = by_gather(np, icf), lib.own.zeros((n, K))
    for k in range(K):
        y = (x - means[k]) @ w[k].T
        quadratic = np.sum(y * y, axis=-1)
        inner = lib.put(inner, (slice(None), k), alphas[k] + np.sum(icf[k, :D]) - quadratic / 2)
    return np.sum(shifted(np, inner)) + prior(np, alphas, icf, n, shifted(np, alphas))


@GMM.way("blocks of points")
def blocks_of_points(lib: Library, alphas: Any, means: Any, icf: Any, x: Any) -> Any:
    """Eight blocks of points in a Python loop, each as in one product."""
    np, n = lib.np, x.shape[0]
    w = by_gather(np, icf)
    shift = np.einsum("kij,kj->ki", w, means)
    bias, value, size = alphas + np.sum(icf[:, :D], axis=1), 0.0, -(-n // 8)
    for start in range(0, n, size):
        points = x[start : start + size]
        y = np.reshape(points @ np.reshape(w, (K * D, D)).T, (-1, K, D)) - shift
        value = value + np.sum(lib.special.logsumexp(bias - 0.5 * np.sum(y * y, 2), axis=1))
    return value + prior(np, alphas, icf, n, lib.special.logsumexp(alphas))


@GMM.way("tensordot")
def by_tensordot(lib: Library, alphas: Any, means: Any, icf: Any, x: Any) -> Any:
    """`tensordot` with the factors' last axis; the square of a norm."""
    np, n = lib.np, x.shape[0]
    w = by_gather(np, icf)
    y = np.tensordot(x, w, axes=(1, 2)) - np.sum(w * means[:, None, :], axis=2)
    inner = alphas + np.sum(icf[:, :D], axis=1) - 0.5 * np.square(y).sum(axis=-1)
    value = np.sum(lib.special.logsumexp(inner, axis=-1))
    return value + prior(np, alphas, icf, n, lib.special.logsumexp(alphas))


@GMM.way("broadcast products")
def broadcast_products(lib: Library, alphas: Any, means: Any, icf: Any, x: Any) -> Any:
    """No products of matrices: an array [n, K, D, D], summed."""
    np, n = lib.np, x.shape[0]
    differences = x[:, None, :] - means[None]
    y = np.sum(by_gather(np, icf)[None] * differences[:, :, None, :], axis=-1)
    inner = alphas + np.sum(icf[:, :D], axis=1) - 0.5 * np.sum(y**2, axis=-1)
    return np.sum(shifted(np, inner)) + prior(np, alphas, icf, n, shifted(np, alphas))


@GMM.way("precision matrices")
def precision_matrices(lib: Library, alphas: Any, means: Any, icf: Any, x: Any) -> Any:
    """Precisions Wᵀ W first, then the quadratic form of the differences by einsum."""
    np, n = lib.np, x.shape[0]
    w = by_gather(np, icf)
    precisions = np.swapaxes(w, 1, 2) @ w
    differences = x[:, None, :] - means
    moved = np.einsum("nki,kij->nkj", differences, precisions)
    inner = alphas + np.sum(icf[:, :D], axis=1) - 0.5 * np.sum(moved * differences, axis=2)
    value = np.sum(lib.special.logsumexp(inner, axis=1))
    return value + prior(np, alphas, icf, n, lib.special.logsumexp(alphas))


@GMM.way("one point, mapped", without=("autograd",))
def one_point_mapped(lib: Library, alphas: Any, means: Any, icf: Any, x: Any) -> Any:
    """The likelihood of one point and one component, mapped over both."""
    np, n = lib.np, x.shape[0]

    def of_component(point: Any, alpha: Any, mean: Any, row: Any, w: Any) -> Any:
        y = w @ (point - mean)
        return alpha + np.sum(row[:D]) - 0.5 * y @ y

    def of_point(point: Any) -> Any:
        parts = lib.vmap(of_component, (None, 0, 0, 0, 0))
        return lib.special.logsumexp(parts(point, alphas, means, icf, by_gather(np, icf)))

    value = np.sum(lib.vmap(of_point)(x))
    return value + prior(np, alphas, icf, n, lib.special.logsumexp(alphas))


@GMM.way("normalized weights")
def normalized_weights(lib: Library, alphas: Any, means: Any, icf: Any, x: Any) -> Any:
    """Logarithms of the weights first, as `alphas` − `logsumexp`; points in the last axis."""
    np, n = lib.np, x.shape[0]
    weights = alphas - lib.special.logsumexp(alphas)
    w = by_gather(np, icf)
    y = np.einsum("kij,jn->kin", w, x.T) - np.einsum("kij,kj->ki", w, means)[:, :, None]
    inner = (weights + np.sum(icf[:, :D], 1))[:, None] - 0.5 * np.einsum("kin,kin->kn", y, y)
    return np.sum(lib.special.logsumexp(inner, axis=0)) + prior(np, alphas, icf, n, 0.0)

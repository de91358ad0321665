"""Likelihoods of time series: hidden semi-Markov, linear chain, Kalman with smoother, GARCH.

All are loops over a few dozen steps on arrays of a few numbers. Read next: `statistics.py`.
"""

from __future__ import annotations

from typing import Any

import numpy

from benchmarks.formulations.library import Library
from benchmarks.programs.small import program

STATES = 4


def probabilities(rng: Any, *shape: int) -> Any:
    """Return logarithms of probabilities that sum to 1 along the last axis."""
    return numpy.log(rng.dirichlet(numpy.ones(shape[-1]), shape[:-1]))


# ---- hidden semi-Markov model --------------------------------------------------------------------


def semi_markov(size: tuple[int, int]) -> tuple[Any, ...]:
    """Means [k], logarithms of start, of transitions and of durations [k, d], observations [t]."""
    steps, longest = size
    rng = numpy.random.default_rng(0)
    means = numpy.linspace(-2.0, 2.0, STATES)
    start, transitions = probabilities(rng, STATES), probabilities(rng, STATES, STATES)
    seen = numpy.repeat(means[rng.integers(0, STATES, steps // 3 + 1)], 3)[:steps]
    durations = probabilities(rng, STATES, longest)
    return means, start, transitions, durations, seen + 0.3 * rng.normal(size=steps)


HSMM = program("hsmm", semi_markov, (12, 3), (5, 2), (0, 1, 2, 3))


@HSMM.way("forward")
def semi_markov_likelihood(
    lib: Library, means: Any, start: Any, transitions: Any, durations: Any, seen: Any
) -> Any:
    """α_t(j) = Σ_d e_{t−d}(j) p_j(d) Π_{s=t−d+1..t} N(x_s; μ_j, 1), e_t = α_t A: log Σ_j α_T(j)."""
    np, logsumexp = lib.np, lib.special.logsumexp
    each = -0.5 * (seen[:, None] - means) ** 2 - 0.5 * np.log(2 * np.pi)
    total = np.concatenate([np.zeros((1, len(means))), np.cumsum(each, axis=0)])
    entered = [start]
    for t in range(1, len(seen) + 1):
        terms = [
            entered[t - d] + durations[:, d - 1] + total[t] - total[t - d]
            for d in range(1, min(t, durations.shape[1]) + 1)
        ]
        alpha = logsumexp(np.stack(terms), axis=0)
        entered.append(logsumexp(alpha[:, None] + transitions, axis=0))
    return logsumexp(alpha)


# ---- linear-chain model with a margin ------------------------------------------------------------


def chain(size: tuple[int, int]) -> tuple[Any, ...]:
    """Weights of features and of transitions; features of words, and the right labels."""
    words, features = size
    rng = numpy.random.default_rng(1)
    weights = rng.normal(size=(features, STATES)), rng.normal(size=(STATES, STATES))
    return *weights, rng.normal(size=(words, features)), rng.integers(0, STATES, words)


CHAIN = program("chain", chain, (15, 10), (4, 2), (0, 1))


@CHAIN.way("Viterbi")
def margin(lib: Library, weights: Any, transitions: Any, x: Any, labels: Any) -> Any:
    """The largest score of labels, with 1 added per wrong label, minus that of the right ones."""
    np = lib.np
    scores = x @ weights
    steps = numpy.arange(len(labels))
    wrong = scores + (numpy.arange(scores.shape[1]) != labels[:, None])
    best = wrong[0]
    for t in range(1, len(labels)):
        best = np.max(best[:, None] + transitions, axis=0) + wrong[t]
    right = np.sum(scores[steps, labels]) + np.sum(transitions[labels[:-1], labels[1:]])
    return np.max(best) - right + 0.01 * np.sum(weights**2)


# ---- Kalman filter and smoother ------------------------------------------------------------------


def track(steps: int) -> tuple[Any, ...]:
    """The transition of place and speed, logarithms of two variances, and what was seen."""
    rng = numpy.random.default_rng(2)
    places = numpy.cumsum(0.1 * numpy.cumsum(rng.normal(size=steps)))
    return numpy.array([[1.0, 0.1], [0.0, 0.95]]), numpy.array([-2.0, -1.0]), places


KALMAN = program("kalman", track, 12, 3, (0, 1))


@KALMAN.way("filter and smoother")
def smoothed(lib: Library, a: Any, logs: Any, seen: Any) -> Any:
    """−log p(seen) by Kalman's filter, and the curvature of the path by the RTS smoother."""
    np = lib.np
    h, q, r = numpy.array([[1.0, 0.0]]), np.exp(logs[0]) * numpy.eye(2), np.exp(logs[1])
    m, p, loss = numpy.zeros(2), numpy.eye(2), 0.0
    filtered, predicted = [], []
    for y in seen:
        m, p = a @ m, a @ p @ a.T + q
        predicted.append((m, p))
        residual, s = y - (h @ m)[0], (h @ p @ h.T)[0, 0] + r
        gain = (p @ h.T)[:, 0] / s
        m, p = m + gain * residual, p - np.outer(gain, gain) * s
        filtered.append((m, p))
        loss = loss + 0.5 * (residual**2 / s + np.log(2 * np.pi * s))
    path = [m]
    for t in range(len(seen) - 2, -1, -1):
        (m, p), (ahead, p_ahead) = filtered[t], predicted[t + 1]
        path.append(m + p @ a.T @ np.linalg.solve(p_ahead, path[-1] - ahead))
    places = np.stack(path)[:, 0]
    return loss + np.sum((places[2:] - 2 * places[1:-1] + places[:-2]) ** 2)


# ---- GARCH ---------------------------------------------------------------------------------------


def returns(days: int) -> tuple[Any, ...]:
    """Parameters without constraints, and returns."""
    return numpy.array([-2.0, -1.5, 1.5]), numpy.random.default_rng(3).standard_t(5, size=days)


GARCH = program("garch", returns, 40, 6)


@GARCH.way("loop over days")
def garch(lib: Library, parameters: Any, r: Any) -> Any:
    """σ²_t = ω + α r²_{t−1} + β σ²_{t−1}: the negative logarithm of the likelihood."""
    np = lib.np
    omega = np.exp(parameters[0])
    alpha = 1 / (1 + np.exp(-parameters[1]))
    beta = (1 - alpha) / (1 + np.exp(-parameters[2]))
    variance, loss = numpy.var(r), 0.0
    for t in range(1, len(r)):
        variance = omega + alpha * r[t - 1] ** 2 + beta * variance
        loss = loss + 0.5 * (np.log(2 * np.pi * variance) + r[t] ** 2 / variance)
    return loss

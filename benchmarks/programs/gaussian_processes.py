"""Regression, a deep process and Bayesian optimization with Gaussian processes.

After autograd's `gaussian_process`, `deep_gaussian_process` and `bayesian_optimization`.
The optimization's inner function is here: expected improvement and its gradient by the candidates.
Read next: `variational.py`.
"""

from __future__ import annotations

from typing import Any

import numpy

from benchmarks.formulations.library import Library

from .small import program

Theta = dict[str, Any]


def parameters(dimensions: int) -> Theta:
    """Mean, and logarithms of scale, noise and lengths."""
    return {
        "mean": 0.1,
        "scale": 0.2,
        "noise": -2.0,
        "lengths": numpy.linspace(-0.5, 0.0, dimensions),
    }


def data(n: int, dimensions: int = 1) -> tuple[Any, Any]:
    """Places and values with noise."""
    rng = numpy.random.default_rng(0)
    x = rng.uniform(-3, 3, (n, dimensions))
    return x, numpy.sin(x).sum(axis=1) + 0.1 * rng.normal(size=n)


def kernel(np: Any, theta: Theta, x: Any, z: Any) -> Any:
    """Return the squared exponential of all pairs."""
    lengths = np.exp(theta["lengths"])
    differences = (x / lengths)[:, None, :] - (z / lengths)[None, :, :]
    return np.exp(theta["scale"] - 0.5 * np.sum(differences**2, axis=2))


def covariance(np: Any, theta: Theta, x: Any) -> Any:
    """Return the kernel with noise on its diagonal."""
    return kernel(np, theta, x, x) + np.exp(theta["noise"]) * numpy.eye(len(x))


def log_likelihood(np: Any, theta: Theta, x: Any, y: Any) -> Any:
    """Return ln p(y | x, θ) (Rasmussen, Williams (2006), equation 2.30)."""
    k, r = covariance(np, theta, x), y - theta["mean"]
    _, log_det = np.linalg.slogdet(k)
    return -0.5 * (r @ np.linalg.solve(k, r) + log_det + len(x) * numpy.log(2 * numpy.pi))


def predicted(np: Any, theta: Theta, x: Any, y: Any, at: Any) -> tuple[Any, Any]:
    """Return mean and variances at other places (the same, equations 2.25 and 2.26)."""
    k, cross = covariance(np, theta, x), kernel(np, theta, x, at)
    solved = np.linalg.solve(k, cross)
    variance = np.exp(theta["scale"]) - np.sum(cross * solved, axis=0)
    return theta["mean"] + solved.T @ (y - theta["mean"]), variance


GP = program("gp", lambda n: (parameters(1), *data(n)), 40, 6)


@GP.way("log likelihood")
def regression(lib: Library, theta: Theta, x: Any, y: Any) -> Any:
    """The negative log likelihood by all parameters."""
    return -log_likelihood(lib.np, theta, x, y)


def deep_inputs(n: int) -> tuple[Any, ...]:
    """Parameters of two layers, hidden values at places of their own, and data."""
    x, y = data(n)
    places, _ = data(n // 2)
    theta = [parameters(1), parameters(1)]
    return {"layers": theta, "places": places, "hidden": numpy.cos(places[:, 0])}, x, y


DEEP_GP = program("deep gp", deep_inputs, 40, 6)


@DEEP_GP.way("two layers")
def deep_process(lib: Library, theta: Theta, x: Any, y: Any) -> Any:
    """Hidden values by the first layer, data by the second at what the first predicts."""
    np, (first, second) = lib.np, theta["layers"]
    mean, _ = predicted(np, first, theta["places"], theta["hidden"], x)
    prior = log_likelihood(np, first, theta["places"], theta["hidden"])
    return -prior - log_likelihood(np, second, mean[:, None], y)


def candidates(n: int) -> tuple[Any, ...]:
    """Places that may be tried next; parameters and data."""
    return numpy.linspace(-2, 2, 20).reshape(10, 2), parameters(2), *data(n, 2)


BAYES_OPT = program("bayes opt", candidates, 40, 5)


@BAYES_OPT.way("expected improvement")
def expected_improvement(lib: Library, at: Any, theta: Theta, x: Any, y: Any) -> Any:
    """Σ (b − μ) Φ(z) + σ φ(z) with z = (b − μ)/σ (Jones et al. (1998), equation 15)."""
    np = lib.np
    mean, variance = predicted(np, theta, x, y, at)
    deviation, gap = np.sqrt(variance), np.min(y) - mean
    z = gap / deviation
    density = np.exp(-(z**2) / 2) / numpy.sqrt(2 * numpy.pi)
    below = (1 + lib.special.erf(z / numpy.sqrt(2))) / 2
    return np.sum(gap * below + deviation * density)

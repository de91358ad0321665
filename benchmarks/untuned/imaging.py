"""Signals: unrolled shrinkage, tomography, a spline through points, smoothing on a graph.

Read next: `physics.py`.
"""

from __future__ import annotations

from typing import Any

import numpy

from benchmarks.formulations.library import Library
from benchmarks.programs.small import program

# ---- unrolled shrinkage --------------------------------------------------------------------------


def sparse(size: tuple[int, int]) -> tuple[Any, ...]:
    """Logarithms of step and threshold, a dictionary [m, n], a signal [m], and the truth [n]."""
    m, n = size
    rng = numpy.random.default_rng(0)
    a = rng.normal(size=(m, n)) / numpy.sqrt(m)
    x = rng.normal(size=n) * (rng.uniform(size=n) < 0.2)
    return numpy.array([-1.6, -3.0]), a, a @ x + 0.01 * rng.normal(size=m), x


ISTA = program("ista", sparse, (30, 60), (4, 6), (0, 1))


@ISTA.way("FISTA, 20 steps")
def shrinkage(lib: Library, logs: Any, a: Any, y: Any, truth: Any) -> Any:
    """Beck and Teboulle's FISTA: how far its twentieth iterate is from the truth."""
    np = lib.np
    step, threshold = np.exp(logs[0]), np.exp(logs[1])
    x = momentum = numpy.zeros(a.shape[1])
    t = 1.0
    for _ in range(20):
        z = momentum - step * (a.T @ (a @ momentum - y))
        new = np.sign(z) * np.maximum(np.abs(z) - step * threshold, 0.0)
        later = (1 + numpy.sqrt(1 + 4 * t**2)) / 2
        momentum = new + (t - 1) / later * (new - x)
        x, t = new, later
    return np.sum((x - truth) ** 2)


# ---- tomography ----------------------------------------------------------------------------------


def rays(size: tuple[int, int]) -> tuple[Any, ...]:
    """A picture [n, n], what rays have seen, and how much of each pixel each ray crosses."""
    n, count = size
    rng = numpy.random.default_rng(1)
    x = numpy.zeros((n, n))
    x[n // 4 : n // 2, n // 3 :] = 1.0
    crossed = rng.uniform(size=(count, n * n)) * (rng.uniform(size=(count, n * n)) < 0.05)
    return x + 0.1 * rng.normal(size=(n, n)), crossed @ x.reshape(-1), crossed


TOMOGRAPHY = program("tomography", rays, (32, 200), (4, 5))


@TOMOGRAPHY.way("total variation")
def reconstruction(lib: Library, x: Any, seen: Any, crossed: Any) -> Any:
    """‖P x − y‖²/2, and the total variation of x, smoothed."""
    np = lib.np
    right = x[:-1, 1:] - x[:-1, :-1]
    down = x[1:, :-1] - x[:-1, :-1]
    variation = np.sum(np.sqrt(right**2 + down**2 + 1e-4))
    return 0.5 * np.sum((crossed @ x.reshape(-1) - seen) ** 2) + 0.1 * variation


# ---- spline --------------------------------------------------------------------------------------


def knots(size: tuple[int, int]) -> tuple[Any, ...]:
    """Values at knots, the knots, and points to fit."""
    k, points = size
    rng = numpy.random.default_rng(2)
    t = numpy.sort(rng.uniform(size=points))
    return rng.normal(size=k), numpy.linspace(0.0, 1.0, k), t, numpy.sin(7 * t)


SPLINE = program("spline", knots, (12, 200), (4, 6))


@SPLINE.way("natural")
def fitted(lib: Library, y: Any, x: Any, t: Any, seen: Any) -> Any:
    """The squared distance of points from the natural cubic spline, and the spline's bending."""
    np = lib.np
    h = x[1:] - x[:-1]
    inner = np.diag(2 * (h[1:] + h[:-1])) + np.diag(h[1:-1], 1) + np.diag(h[1:-1], -1)
    slopes = (y[1:] - y[:-1]) / h
    curved = np.linalg.solve(inner, 6 * (slopes[1:] - slopes[:-1]))
    m = np.concatenate([np.zeros(1), curved, np.zeros(1)])
    i = np.clip(np.searchsorted(x, t) - 1, 0, len(h) - 1)
    left, right, width = t - x[i], x[i + 1] - t, h[i]
    cubic = (m[i] * right**3 + m[i + 1] * left**3) / (6 * width)
    linear = (y[i] / width - m[i] * width / 6) * right
    values = cubic + linear + (y[i + 1] / width - m[i + 1] * width / 6) * left
    return np.mean((values - seen) ** 2) + 1e-6 * np.sum(m**2)


# ---- smoothing on a graph ------------------------------------------------------------------------


def mesh(n: int) -> tuple[Any, ...]:
    """Heights of a noisy surface, [n²], its logarithm of stiffness, and the neighbours [n², 4]."""
    rng = numpy.random.default_rng(3)
    row, column = numpy.divmod(numpy.arange(n * n), n)
    around = [
        (row + 1) % n * n + column,
        (row - 1) % n * n + column,
        row * n + (column + 1) % n,
        row * n + (column - 1) % n,
    ]
    return rng.normal(size=n * n), numpy.array(0.5), numpy.stack(around, axis=1)


GRAPH = program("graph", mesh, 16, 3, (0, 1))


@GRAPH.way("10 steps")
def diffusion(lib: Library, f: Any, stiffness: Any, around: Any) -> Any:
    """Perona and Malik's diffusion on a graph: the roughness after ten steps, and the drift."""
    np = lib.np
    given = f
    for _ in range(10):
        differences = f[around] - f[:, None]
        flux = differences * np.exp(-np.exp(stiffness) * differences**2)
        f = f + 0.2 * np.sum(flux, axis=1)
    return np.sum((f[around] - f[:, None]) ** 2) + np.sum((f - given) ** 2)

"""Programs for plan passes that W1 to W13 hardly use: masks, differences, gradients of parts.

Each is something that users write, value and gradient. `harness/ablation.py` runs them without each
plan pass of the NumPy backend.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness.workload import Call, Case, Workload


def causal_attention(np: Any, x: Any) -> Any:
    """Rows of a sequence, each of which sees those before it: a mask of constants."""
    n = len(x)
    scores = x @ x.T / n
    steps = _steps(n)
    seen = np.where(steps[:, None] >= steps[None, :], np.exp(scores), 0.0)
    return np.sum((seen / np.sum(seen, axis=1, keepdims=True)) @ x)


def differences(np: Any, x: Any) -> Any:
    """A sum over neighbours: each cotangent is a sum of padded arrays."""
    return np.sum(np.exp(x[1:]) * x[:-1] ** 2)


def smoothness(np: Any, x: Any) -> Any:
    """The energy of a picture: differences along both axes."""
    return np.sum((x[1:] - x[:-1]) ** 2) + np.sum((x[:, 1:] - x[:, :-1]) ** 2)


def rectifier(np: Any, x: Any) -> Any:
    """Layers of max(x, 0): their cotangents are selected against zero."""
    for _ in range(4):
        x = np.maximum(x @ x.T @ x / 100, 0.0)
    return np.sum(x)


def largest(np: Any, x: Any) -> Any:
    """A sum of the largest of many: its cotangent is scattered into zeros."""
    return np.sum(np.sort(x.reshape(-1))[-10:])


def table(np: Any, x: Any) -> Any:
    """Rows looked up in a table, as of embedded words."""
    return np.sum(np.tanh(x[_steps(2000) * 7 % len(x)]))


def pairs(np: Any, x: Any) -> Any:
    """Distances of all pairs: broadcasts that only elementwise lines read."""
    return np.sum(np.exp(-np.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=2)))


def columns(np: Any, x: Any) -> Any:
    """Points as columns, shifted and scaled by numbers of each coordinate."""
    y = x.T
    return np.sum(np.exp(-(((y - y[:, :1]) / (1.0 + y[:, 1:2] ** 2)) ** 2)))


def _steps(n: int) -> Any:
    """0 … n − 1, recorded."""
    import tenferro as tn

    return tn.arange(n)


def inverse(np: Any, x: Any) -> Any:
    """An inverse: identities and triangles are masks of comparisons of constants."""
    import tenferro as tn

    return np.sum(np.linalg.inv(x @ x.T + tn.eye(len(x))))


def rotations(np: Any, x: Any) -> Any:
    """A point turned by angles: matrices are put together of numbers, which are read one by one."""
    point = x[:2]
    for k in range(0, len(x), len(x) // 8):
        c, s = np.cos(x[k]), np.sin(x[k])
        point = np.stack([np.stack([c, -s]), np.stack([s, c])]) @ point
    return np.sum(point**2 * x[-2:])


def tracking(np: Any, x: Any) -> Any:
    """The covariance of a filter of place and speed: matrices of two rows."""
    a, p = np.stack([np.stack([1.0 + x[0], x[1]]), np.stack([-x[1], 0.9 - x[0]])]), np.outer(x, x)
    for _ in range(8):
        p = a @ p @ a.T + 0.1 * a
        gain = p[:, 0] / (p[0, 0] ** 2 + 1.0)
        p = p - np.outer(gain, gain)
    return np.sum(np.linalg.solve(p + 9.0 * a, x))


def scaled(np: Any, x: Any) -> Any:
    """One number that many lines on arrays read."""
    t = x[0] * x[1]
    for _ in range(6):
        x = (x - t) * (x + t) / (t - x * t + 9.0)
    return np.sum(x)


def masked_mean(np: Any, x: Any) -> Any:
    """A mean over the positive elements: a mask is counted."""
    m = x > 0
    return np.sum(np.where(m, x, 0.0)) / np.sum(m)


def power_law(np: Any, x: Any) -> Any:
    """Powers with one exponent, which is fitted: a test of that number guards masks."""
    return np.sum(np.exp(x) ** x[0])


def picked(np: Any, x: Any) -> Any:
    """One element of each row, at a place that depends on the row."""
    return np.sum(np.tanh(x[_steps(len(x)), np.argmin(x, axis=1)]))


def ordered(np: Any, x: Any) -> Any:
    """Rows in the order of their first elements, each compared with the next."""
    y = x[np.argsort(x[:, 0])]
    return np.sum((y[1:] - y[:-1]) ** 2)


def buffer(np: Any, x: Any) -> Any:
    """A buffer that a loop fills row by row: its cotangent is read and overwritten part by part."""
    y = np.zeros_like(x)
    for k in range(1, len(x)):
        y[k] = 0.5 * y[k - 1] + x[k] ** 2
    return np.sum(y**2)


def entropy(np: Any, x: Any) -> Any:
    """The logarithm of sums of exponentials along rows."""
    import tenferro as tn

    return np.sum(tn.special.logsumexp(x, axis=1) ** 2)


def diffusion(np: Any, x: Any) -> Any:
    """Steps of a diffusion, each by Fourier transforms of 64 numbers."""
    decay = np.exp(-0.01 * _steps(33) ** 2)
    for _ in range(8):
        x = np.fft.irfft(decay * np.fft.rfft(x + 0.1 * x**2), 64)
    return np.sum(x**2)


def operator_on_pairs(np: Any, x: Any) -> Any:
    """A tensor that one operator is applied to, again and again."""
    import tenferro as tn

    u, y = x[:256].reshape(8, 4, 8), x[256:].reshape(8, 4, 8)

    def applied(y: Any, _: Any) -> Any:
        z = np.einsum("abc,dbe->acde", y, u)
        return np.einsum("acde,dfe->afc", z, u) / 100.0, None

    return np.sum(tn.scan(applied, y, None, length=20)[0] ** 2)


def columns_in_turn(np: Any, x: Any) -> Any:
    """A recurrence that reads one column of an array after the other."""
    y = x[:, 0]
    for k in range(1, x.shape[1]):
        y = np.sin(y + x[:, k])
    return np.sum(y)


LOSSES: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "causal attention, n = 300": (causal_attention, (300, 16)),
    "differences, n = 1,000": (differences, (1000,)),
    "differences, n = 10,000": (differences, (10_000,)),
    "smoothness, 50 × 50": (smoothness, (50, 50)),
    "smoothness, 200 × 200": (smoothness, (200, 200)),
    "inverse, n = 30": (inverse, (30, 30)),
    "inverse, n = 200": (inverse, (200, 200)),
    "rectifier, 100 × 50": (rectifier, (100, 50)),
    "largest of 10,000": (largest, (100, 100)),
    "table of 1,000 rows": (table, (1000, 16)),
    "pairs, n = 200": (pairs, (200, 3)),
    "pairs, n = 50": (pairs, (50, 3)),
    "columns, n = 1,000": (columns, (1_000, 3)),
    "rotations by 8 of 100 angles": (rotations, (100,)),
    "filter of two states": (tracking, (2,)),
    "a number beside 100 elements": (scaled, (100,)),
    "mean of the positive of 1,000": (masked_mean, (1000,)),
    "powers of 100": (power_law, (100,)),
    "an element of each of 500 rows": (picked, (500, 20)),
    "500 rows in order": (ordered, (500, 20)),
    "a buffer of 50 rows": (buffer, (50, 200)),
    "logsumexp of 100 rows": (entropy, (100, 20)),
    "diffusion on 64 points": (diffusion, (64,)),
    "an operator, 20 times": (operator_on_pairs, (512,)),
    "columns in turn, 20 × 6": (columns_in_turn, (20, 6)),
}


def inputs(given: str) -> tuple[Any, ...]:
    return given, np.random.default_rng(0).normal(size=LOSSES[given][1])


W = Workload(
    "narrow_passes",
    "programs for plan passes of a narrow purpose",
    cases=[Case(name, name) for name in LOSSES],
    quick=[Case(name, name) for name in LOSSES],
    inputs=inputs,
)


@W.contestant("tenferro")
def with_tenferro(name: str, x: Any) -> Call:
    import tenferro as tn

    f = tn.jit(tn.value_and_grad(lambda x: LOSSES[name][0](np, x)))
    return lambda: f(x)


@W.contestant("tenferro un-jitted")
def with_tenferro_unjitted(name: str, x: Any) -> Call:
    import tenferro as tn

    f = tn.value_and_grad(lambda x: LOSSES[name][0](np, x))
    return lambda: f(x)

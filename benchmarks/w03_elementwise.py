"""W3: value and gradient of Σ tanh(ax+b)·exp(−x²) + log1p(x²) for an array of 10⁷.

Memory traffic counts: whoever runs it in tiles, or compiled, touches main memory a few times only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness.peers import numpy_like
from benchmarks.harness.workload import Call, Case, Goal, Workload

A, B = 1.3, 0.2


def inputs(n: int) -> tuple[Any, ...]:
    return (np.random.default_rng(0).normal(size=n),)


W = Workload(
    "W3",
    "Σ tanh(ax+b)·exp(−x²) + log1p(x²)",
    cases=[Case("10⁷", 10**7)],
    quick=[Case("10⁵", 10**5)],
    inputs=inputs,
    goals=[
        Goal(0.36),
        Goal(0.27, threads=2),
        Goal(0.6, contestant="tenferro xla", over="jax"),
    ],
    large=True,
    memory=True,
)


@W.contestant("numpy")
def with_numpy(x: Any) -> Call:
    return by_hand(np, x)


def by_hand(np: Any, x: Any) -> Call:
    """With the arrays of NumPy, or of a library with its names."""

    def value_and_gradient() -> Any:
        t = np.tanh(A * x + B)
        square = x * x
        e = np.exp(-square)
        value = np.sum(t * e + np.log1p(square))
        gradient = (A * (1 - t * t) - 2 * x * t) * e + 2 * x / (1 + square)
        return value, gradient

    return value_and_gradient


def loss(np: Any, x: Any) -> Any:
    """The function in the names of NumPy, for all who have them."""
    return np.sum(np.tanh(A * x + B) * np.exp(-x * x) + np.log1p(x * x))


numpy_like(W, loss)


@W.contestant("torch", needs="torch")
def with_torch(x: Any) -> Call:
    import torch

    x = torch.as_tensor(x).requires_grad_()

    def value_and_gradient() -> Any:
        value = torch.sum(torch.tanh(A * x + B) * torch.exp(-x * x) + torch.log1p(x * x))
        return value, torch.autograd.grad(value, x)[0]

    return value_and_gradient

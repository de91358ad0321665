"""W2: loss and gradient of all parameters of a perceptron 784-256-128-10, a batch of 256, float32.

ReLU between the layers, softmax and cross entropy at the end. Matrix products are most of it, so
the ratios depend on the BLAS that each library brings.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from benchmarks.harness.peers import numpy_like
from benchmarks.harness.workload import Call, Case, Goal, Workload

SIZES = (784, 256, 128, 10)


def inputs(batch: int) -> tuple[Any, ...]:
    """Parameters, images, and labels."""
    rng = np.random.default_rng(0)
    parameters = []
    for m, n in itertools.pairwise(SIZES):
        w = rng.normal(size=(m, n)) * np.sqrt(2 / m)
        parameters.append((w.astype("float32"), np.zeros(n, "float32")))
    return parameters, rng.random((batch, SIZES[0]), "float32"), rng.integers(0, 10, batch)


W = Workload(
    "W2",
    "MLP 784-256-128-10, float32, cross entropy, all parameters",
    cases=[Case("batch 256", 256)],
    quick=[Case("batch 16", 16)],
    inputs=inputs,
    goals=[Goal(1.0), Goal(1.0, contestant="tenferro xla", over="jax")],
    tolerance=1e-4,
)


@W.contestant("numpy")
def with_numpy(*given: Any) -> Call:
    return by_hand(np, *given)


def by_hand(np: Any, parameters: Any, x: Any, labels: Any) -> Call:
    """With the arrays of NumPy, or of a library with its names."""
    (w1, b1), (w2, b2), (w3, b3) = parameters
    rows = np.arange(len(labels))

    def value_and_gradient() -> Any:
        h1 = np.maximum(x @ w1 + b1, 0)
        h2 = np.maximum(h1 @ w2 + b2, 0)
        z = h2 @ w3 + b3
        z -= z.max(axis=1, keepdims=True)
        e = np.exp(z)
        total = e.sum(axis=1, keepdims=True)
        value = np.mean(np.log(total[:, 0]) - z[rows, labels])
        g3 = e / total
        g3[rows, labels] -= 1
        g3 /= len(labels)
        g2 = (g3 @ w3.T) * (h2 > 0)
        g1 = (g2 @ w2.T) * (h1 > 0)
        return value, [
            (x.T @ g1, g1.sum(axis=0)),
            (h1.T @ g2, g2.sum(axis=0)),
            (h2.T @ g3, g3.sum(axis=0)),
        ]

    return value_and_gradient


def loss(np: Any, parameters: Any, x: Any, labels: Any) -> Any:
    *hidden, (w, b) = parameters
    for weight, bias in hidden:
        x = np.maximum(x @ weight + bias, 0)
    z = x @ w + b
    z = z - np.max(z, axis=1, keepdims=True)
    return np.mean(np.log(np.sum(np.exp(z), axis=1)) - z[np.arange(labels.shape[0]), labels])


numpy_like(W, loss)


@W.contestant("torch", needs="torch")
def with_torch(parameters: Any, x: Any, labels: Any) -> Call:
    import torch

    leaves = [torch.as_tensor(p).requires_grad_() for layer in parameters for p in layer]
    x, labels = torch.as_tensor(x), torch.as_tensor(labels)

    def value_and_gradient() -> Any:
        w1, b1, w2, b2, w3, b3 = leaves
        h = torch.relu(torch.addmm(b1, x, w1))
        h = torch.relu(torch.addmm(b2, h, w2))
        value = torch.nn.functional.cross_entropy(torch.addmm(b3, h, w3), labels)
        return value, torch.autograd.grad(value, leaves)

    return value_and_gradient

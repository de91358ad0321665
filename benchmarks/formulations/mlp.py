"""Loss and gradient of a perceptron (W2), in twelve ways.

By hand: six products into arrays that are there before, all else in place. The ways differ in the
cross entropy (gather, `take_along_axis`, one-hot arrays, softmax of the library or by hand), in how
ReLU is written, in the order of axes, and in how biases and the batch are treated.
Read next: `benchmarks/w02_mlp.py`, which defines the function.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness.workload import Call, Case
from benchmarks.w02_mlp import SIZES, inputs

from .library import Formulations, Library

CLASSES = SIZES[-1]
MLP = Formulations(
    inputs,
    cases=[Case("mlp, batch 256", ("mlp", 256), tolerance=1e-4)],
    quick=[Case("mlp, batch 16", ("mlp", 16), tolerance=1e-4)],
)


@MLP.hand
def by_hand(parameters: Any, x: Any, labels: Any) -> Call:
    (w1, b1), (w2, b2), (w3, b3) = parameters
    n, rows = len(labels), np.arange(len(labels))
    h1, h2, z = (np.empty((n, size), np.float32) for size in SIZES[1:])
    g1, g2 = np.empty_like(h1), np.empty_like(h2)

    def value_and_gradient() -> Any:
        np.matmul(x, w1, out=h1)
        np.add(h1, b1, out=h1)
        np.maximum(h1, 0, out=h1)
        np.matmul(h1, w2, out=h2)
        np.add(h2, b2, out=h2)
        np.maximum(h2, 0, out=h2)
        np.matmul(h2, w3, out=z)
        np.add(z, b3, out=z)
        np.subtract(z, z.max(axis=1, keepdims=True), out=z)
        chosen = z[rows, labels]
        np.exp(z, out=z)
        total = z.sum(axis=1, keepdims=True)
        value = np.mean(np.log(total[:, 0]) - chosen)
        np.divide(z, total * np.float32(n), out=z)
        z[rows, labels] -= np.float32(1 / n)
        np.matmul(z, w3.T, out=g2)
        np.multiply(g2, h2 > 0, out=g2)
        np.matmul(g2, w2.T, out=g1)
        np.multiply(g1, h1 > 0, out=g1)
        return value, [
            (x.T @ g1, g1.sum(axis=0)),
            (h1.T @ g2, g2.sum(axis=0)),
            (h2.T @ z, z.sum(axis=0)),
        ]

    return value_and_gradient


def scores(np: Any, parameters: Any, x: Any) -> Any:
    """The last layer's sums, as most users write the layers."""
    *hidden, (w, b) = parameters
    for weight, bias in hidden:
        x = np.maximum(x @ weight + bias, 0)
    return x @ w + b


# ---- ways to write the cross entropy -------------------------------------------------------------


@MLP.way("shifted, gather")
def shifted_gather(lib: Library, parameters: Any, x: Any, labels: Any) -> Any:
    """The largest score subtracted, the chosen one by two indices."""
    np = lib.np
    z = scores(np, parameters, x)
    z = z - np.max(z, axis=1, keepdims=True)
    return np.mean(np.log(np.sum(np.exp(z), axis=1)) - z[np.arange(labels.shape[0]), labels])


@MLP.way("log_softmax, one-hot by eye", without=("autograd",))
def library_softmax_one_hot(lib: Library, parameters: Any, x: Any, labels: Any) -> Any:
    """`log_softmax` of the library times rows of the unit matrix."""
    np = lib.np
    logs = lib.special.log_softmax(scores(np, parameters, x), axis=-1)
    one_hot = lib.own.eye(CLASSES, dtype="float32")[labels]
    return -np.mean(np.sum(one_hot * logs, axis=-1))


@MLP.way("logsumexp, take_along_axis", without=("autograd",))
def along_axis(lib: Library, parameters: Any, x: Any, labels: Any) -> Any:
    """`logsumexp` of the library, the chosen score along the axis."""
    np = lib.np
    z = scores(np, parameters, x)
    chosen = np.take_along_axis(z, labels[:, None], axis=1)[:, 0]
    return np.mean(lib.special.logsumexp(z, axis=1) - chosen)


@MLP.way("softmax by hand, then log")
def probabilities(lib: Library, parameters: Any, x: Any, labels: Any) -> Any:
    """Probabilities first, then the logarithm of the chosen ones."""
    np = lib.np
    e = np.exp(scores(np, parameters, x))
    p = e / np.sum(e, axis=1, keepdims=True)
    return -np.mean(np.log(p[np.arange(labels.shape[0]), labels]))


@MLP.way("comparison as one-hot, ReLU by where")
def masks(lib: Library, parameters: Any, x: Any, labels: Any) -> Any:
    """One-hot by comparing with all classes, `where` for ReLU and for the choice."""
    np = lib.np
    *hidden, (w, b) = parameters
    for weight, bias in hidden:
        h = np.dot(x, weight) + bias
        x = np.where(h > 0, h, 0)
    z = np.dot(x, w) + b
    z = z - np.max(z, axis=1, keepdims=True)
    is_chosen = labels[:, None] == np.arange(CLASSES)
    logs = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.sum(np.where(is_chosen, logs, 0)) / labels.shape[0]


# ---- ways to write the layers --------------------------------------------------------------------


@MLP.way("images in columns")
def images_in_columns(lib: Library, parameters: Any, x: Any, labels: Any) -> Any:
    """Features first: every layer is Wᵀ x + b, classes lie in axis 0; ReLU as a product."""
    np = lib.np
    *hidden, (w, b) = parameters
    x = x.T
    for weight, bias in hidden:
        h = weight.T @ x + bias[:, None]
        x = h * (h > 0)
    z = w.T @ x + b[:, None]
    z = z - np.max(z, axis=0)
    return np.mean(np.log(np.sum(np.exp(z), axis=0)) - z[labels, np.arange(labels.shape[0])])


@MLP.way("biases as a row of weights")
def biases_as_a_row(lib: Library, parameters: Any, x: Any, labels: Any) -> Any:
    """A column of ones beside the inputs, the bias below the weights; ReLU as (h + |h|)/2."""
    np, rows = lib.np, lib.np.arange(labels.shape[0])
    ones = np.ones((labels.shape[0], 1), dtype="float32")
    for i, (weight, bias) in enumerate(parameters):
        whole = np.concatenate([weight, bias[None]], axis=0)
        x = np.concatenate([x, ones], axis=1) @ whole
        if i < len(parameters) - 1:
            x = 0.5 * (x + np.abs(x))
    return np.mean(lib.special.logsumexp(x, axis=1) - x[rows, labels])


@MLP.way("einsum, updates in place")
def einsum_in_place(lib: Library, parameters: Any, x: Any, labels: Any) -> Any:
    """Layers by einsum, `+=` for biases and shifts; one-hot contracted by einsum."""
    np = lib.np
    *hidden, (w, b) = parameters
    for weight, bias in hidden:
        x = np.einsum("ni,io->no", x, weight)
        x += bias
        x = np.maximum(x, 0)
    z = np.einsum("ni,io->no", x, w)
    z += b
    z -= np.max(z, axis=1)[:, None]
    one_hot = lib.own.eye(CLASSES, dtype="float32")[labels]
    logs = np.log(np.einsum("nc->n", np.exp(z))) - np.einsum("nc,nc->n", z, one_hot)
    return np.sum(logs) / labels.shape[0]


@MLP.way("four parts of the batch")
def parts_of_the_batch(lib: Library, parameters: Any, x: Any, labels: Any) -> Any:
    """The batch in four parts, in a Python loop, as users do who count memory."""
    np, total, size = lib.np, 0.0, labels.shape[0] // 4
    for start in range(0, 4 * size, size):
        z = scores(np, parameters, x[start : start + size])
        own = labels[start : start + size]
        chosen = z[np.arange(size), own]
        total = total + np.sum(lib.special.logsumexp(z, axis=1) - chosen)
    return total / labels.shape[0]


@MLP.way("batch split in eight, losses stacked", without=("autograd",))
def losses_stacked(lib: Library, parameters: Any, x: Any, labels: Any) -> Any:
    """The loss of each of eight parts, which `np.split` makes, and their mean."""
    np, losses = lib.np, []
    for part, own in zip(np.split(x, 8), np.split(labels, 8), strict=True):
        z = scores(np, parameters, part)
        chosen = np.take_along_axis(z, own[:, None], axis=1)[:, 0]
        losses.append(np.mean(lib.special.logsumexp(z, axis=1) - chosen))
    return np.mean(np.stack(losses))


@MLP.way("halves of the neurons")
def halves_of_the_neurons(lib: Library, parameters: Any, x: Any, labels: Any) -> Any:
    """Each layer in two halves, as over two devices, joined again."""
    np = lib.np
    *hidden, (w, b) = parameters
    for weight, bias in hidden:
        half = bias.shape[0] // 2
        parts = [np.maximum(x @ weight[:, i : i + half] + bias[i : i + half], 0) for i in (0, half)]
        x = np.concatenate(parts, axis=1)
    z = x @ w + b
    return np.mean(lib.special.logsumexp(z, axis=1) - z[np.arange(labels.shape[0]), labels])


@MLP.way("one image, mapped", without=("autograd",))
def one_image_mapped(lib: Library, parameters: Any, x: Any, labels: Any) -> Any:
    """The loss of one image, mapped over the batch."""
    np = lib.np

    def of_image(image: Any, label: Any) -> Any:
        z = scores(np, parameters, image)
        return lib.special.logsumexp(z) - z[label]

    return np.mean(lib.vmap(of_image)(x, labels))

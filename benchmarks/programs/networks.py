"""A convolutional network and an ODE network, after autograd's `convnet` and `ode_net`.

The convolution is one product of patches, which are slices; the ODE's slope is a small network, and
the step is Runge's and Kutta's. Read next: `recurrent.py`.
"""

from __future__ import annotations

from typing import Any

import numpy

from benchmarks.formulations.library import Library

from .small import program

WIDTH, FILTERS, CLASSES = 5, 6, 10
STEPS, SPAN = 20, 2.0


def image_inputs(images: int) -> tuple[Any, ...]:
    """Parameters, images [n, 14, 14], and their classes as rows of the identity."""
    rng = numpy.random.default_rng(0)
    pooled = ((14 - WIDTH + 1) // 2) ** 2 * FILTERS
    parameters = [
        (0.2 * rng.normal(size=(WIDTH * WIDTH, FILTERS)), 0.1 * rng.normal(size=FILTERS)),
        (0.1 * rng.normal(size=(pooled, CLASSES)), 0.1 * rng.normal(size=CLASSES)),
    ]
    classes = rng.integers(0, CLASSES, images)
    return parameters, rng.normal(size=(images, 14, 14)), numpy.eye(CLASSES)[classes]


CONVNET = program("convnet", image_inputs, 16, 2)


@CONVNET.way("patches")
def image_loss(lib: Library, parameters: Any, images: Any, targets: Any) -> Any:
    """One convolution, maxima of 2 × 2, one layer; minus the mean log probability."""
    np, ((kernels, shift), (w, b)) = lib.np, parameters
    n, size = len(images), images.shape[1] - WIDTH + 1
    corners = [(i, j) for i in range(WIDTH) for j in range(WIDTH)]
    patches = np.stack([images[:, i : i + size, j : j + size] for i, j in corners], axis=3)
    maps = np.tanh(patches @ kernels + shift)
    cells = np.reshape(maps, (n, size // 2, 2, size // 2, 2, FILTERS))
    pooled = np.max(cells, axis=(2, 4))
    scores = np.reshape(pooled, (n, -1)) @ w + b
    log_p = scores - lib.special.logsumexp(scores, axis=1, keepdims=True)
    return -np.mean(np.sum(targets * log_p, axis=1))


def path_inputs(paths: int) -> tuple[Any, ...]:
    """Parameters of the slope, starts, and where the paths should be after each step."""
    rng = numpy.random.default_rng(0)
    hidden = 5 if paths < 10 else 30
    parameters = [
        (0.3 * rng.normal(size=(2, hidden)), 0.1 * rng.normal(size=hidden)),
        (0.3 * rng.normal(size=(hidden, 2)), 0.1 * rng.normal(size=2)),
    ]
    return parameters, rng.normal(size=(paths, 2)), rng.normal(size=(STEPS, paths, 2))


ODE_NET = program("ode net", path_inputs, 40, 2)


@ODE_NET.way("RK4")
def path_loss(lib: Library, parameters: Any, y: Any, targets: Any) -> Any:
    """The mean absolute distance of the paths from where they should be."""
    np, h = lib.np, SPAN / STEPS

    def slope(y: Any) -> Any:
        for w, b in parameters[:-1]:
            y = np.tanh(y @ w + b)
        w, b = parameters[-1]
        return y @ w + b

    path = []
    for _ in range(STEPS):
        k1 = slope(y)
        k2 = slope(y + h / 2 * k1)
        k3 = slope(y + h / 2 * k2)
        k4 = slope(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path.append(y)
    return np.mean(np.abs(np.stack(path) - targets))

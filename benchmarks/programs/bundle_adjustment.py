"""GradBench's ba: the blocks of the Jacobian of a bundle adjustment, ADBench's definition.

Cameras with rotation, center, focal length, principal point and two coefficients of distortion see
points. A residual depends on one camera, one point and one weight. So the gradient of the sum of
first residuals holds the first row of every block, and that of the second ones the second row.
Read next: `hand_tracking.py`.
"""

from __future__ import annotations

from typing import Any

import numpy

from benchmarks.formulations.library import Library

from .small import program


def inputs(size: tuple[int, int, int]) -> tuple[Any, ...]:
    """Cameras [n, 11], points [m, 3], weights [p], features [p, 2]; who sees what."""
    n, m, p = size
    rng = numpy.random.default_rng(0)
    cameras = rng.normal(size=(n, 11)) * 0.1
    cameras[:, 5] -= 5.0
    cameras[:, 6] += 1.0
    points = rng.normal(size=(m, 3))
    weights, features = rng.uniform(0.5, 1.5, p), rng.normal(size=(p, 2))
    return cameras, points, weights, features, numpy.arange(p) % n, numpy.arange(p) * 7 % m


BA = program("ba", inputs, (20, 300, 600), (2, 5, 8))


def cross(np: Any, a: Any, b: Any) -> Any:
    """Return cross products of rows, written out."""
    a0, a1, a2 = a[:, 0], a[:, 1], a[:, 2]
    b0, b1, b2 = b[:, 0], b[:, 1], b[:, 2]
    return np.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], axis=1)


def rotated(np: Any, axes: Any, x: Any) -> Any:
    """Rotate by Rodrigues' formula; an axis has the length of its angle."""
    angle = np.sqrt(np.sum(axes**2, axis=1, keepdims=True))
    axis = axes / angle
    along = np.sum(axis * x, axis=1, keepdims=True)
    cosine = np.cos(angle)
    return x * cosine + cross(np, axis, x) * np.sin(angle) + axis * along * (1 - cosine)


def projected(np: Any, cameras: Any, x: Any) -> Any:
    """Return where cameras see points."""
    seen = rotated(np, cameras[:, :3], x - cameras[:, 3:6])
    flat = seen[:, :2] / seen[:, 2:]
    r2 = np.sum(flat**2, axis=1, keepdims=True)
    distortion = 1 + cameras[:, 9:10] * r2 + cameras[:, 10:11] * r2**2
    return flat * distortion * cameras[:, 6:7] + cameras[:, 7:9]


@BA.task("two gradients")
def blocks(lib: Library) -> Any:
    """Return residuals, rows by camera, point and weight, and derivatives of the weights' own."""
    np = lib.np

    def residuals(cameras: Any, x: Any, weights: Any, features: Any) -> Any:
        return weights[:, None] * (projected(np, cameras, x) - features)

    def jacobian(
        cameras: Any, points: Any, weights: Any, features: Any, camera: Any, point: Any
    ) -> Any:
        given = cameras[camera], points[point], weights
        rows = [
            lib.grad(lambda *a, k=k: np.sum(residuals(*a, features)[:, k]), (0, 1, 2))(*given)
            for k in range(2)
        ]
        own = lib.grad(lambda w: np.sum(1 - w**2))(weights)
        return residuals(*given, features), rows, own

    return jacobian

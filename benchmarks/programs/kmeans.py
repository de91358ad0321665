"""GradBench's k-means: the direction of Newton's method for the sum of squared distances.

The Hessian of the cost is diagonal, so its product with ones is its diagonal: the gradient of a
gradient. Read next: `bundle_adjustment.py`.
"""

from __future__ import annotations

from typing import Any

from benchmarks.formulations.library import Library

from .small import program, random


def inputs(size: tuple[int, int, int]) -> tuple[Any, ...]:
    """Centers and points; the first points are the centers."""
    n, k, d = size
    points = random(0, n, d)
    return points[:k].copy(), points


KMEANS = program("kmeans", inputs, (1000, 5, 4), (20, 2, 3))


@KMEANS.task("Newton")
def direction(lib: Library) -> Any:
    """Return gradient over diagonal of the Hessian."""
    np = lib.np

    def cost(centers: Any, points: Any) -> Any:
        differences = points[:, None, :] - centers[None, :, :]
        return np.sum(np.min(np.sum(differences**2, axis=2), axis=1))

    def newton(centers: Any, points: Any) -> Any:
        gradient = lib.grad(cost)
        diagonal = lib.grad(lambda centers: np.sum(gradient(centers, points)))(centers)
        return gradient(centers, points) / diagonal

    return newton

"""A fluid that carries smoke, after autograd's `fluidsim`: the gradient by its first velocity.

Semi-Lagrangian advection on a periodic grid with projection to flows without divergence by Jacobi's
iteration (Stam (1999)). The start is chosen so that the smoke ends as a picture. Peak memory is a
figure of W20 here, since every step's arrays are alive until the backward sweep reaches them.
Read next: `networks.py`.
"""

from __future__ import annotations

from typing import Any

import numpy

from benchmarks.formulations.library import Library

from .small import program

STEPS, ITERATIONS = 20, 6


def inputs(n: int) -> tuple[Any, ...]:
    """Both components of the velocity, the smoke, the picture."""
    at = 2 * numpy.pi * numpy.arange(n) / n
    smoke = numpy.where(numpy.sin(at)[:, None] > 0, 1.0, 0.0) * numpy.ones(n)
    picture = numpy.exp(numpy.cos(at)[:, None] + numpy.cos(at) - 2)
    first = 0.6 * numpy.sin(at)[:, None] * numpy.cos(at) + 0.05
    second = 0.4 * numpy.cos(at)[:, None] + 0.3 * numpy.sin(at) + 0.07
    return first, second, smoke, picture


FLUID = program("fluid", inputs, 40, 8, (0, 1))


def projected(np: Any, u: Any, v: Any) -> tuple[Any, Any]:
    """Subtract the gradient of a pressure, so that little divergence is left."""
    divergence = -0.5 * (
        np.roll(u, -1, axis=1) - np.roll(u, 1, axis=1) + np.roll(v, -1, axis=0)
        - np.roll(v, 1, axis=0)
    )  # fmt: skip
    p = divergence / 4
    for _ in range(ITERATIONS):
        around = np.roll(p, 1, axis=1) + np.roll(p, -1, axis=1)
        around = around + np.roll(p, 1, axis=0) + np.roll(p, -1, axis=0)
        p = (divergence + around) / 4
    u = u - 0.5 * (np.roll(p, -1, axis=1) - np.roll(p, 1, axis=1))
    v = v - 0.5 * (np.roll(p, -1, axis=0) - np.roll(p, 1, axis=0))
    return u, v


def advected(np: Any, f: Any, u: Any, v: Any) -> Any:
    """Return the field where the flow came from, between the four nearest cells."""
    rows, columns = f.shape
    y = numpy.arange(rows)[:, None] - v
    x = numpy.arange(columns)[None, :] - u
    top, left = np.floor(y), np.floor(x)
    down, right = y - top, x - left
    i, j = top.astype(int) % rows, left.astype(int) % columns
    below, beside = (i + 1) % rows, (j + 1) % columns
    upper = (1 - right) * f[i, j] + right * f[i, beside]
    lower = (1 - right) * f[below, j] + right * f[below, beside]
    return (1 - down) * upper + down * lower


@FLUID.way("loop", without=("jax", "tenferro xla"))
def distance(lib: Library, u: Any, v: Any, smoke: Any, picture: Any) -> Any:
    """The mean square of the difference after all steps."""
    np = lib.np
    for _ in range(STEPS):
        u, v = advected(np, u, u, v), advected(np, v, u, v)
        u, v = projected(np, u, v)
        smoke = advected(np, smoke, u, v)
    return np.mean((smoke - picture) ** 2)

"""Programs of points compute the same with their short axis first, and so do their derivatives."""

import numpy as np
import optree
import pytest

import tenferro as tn

RNG = np.random.default_rng(3)
X, Y, W = RNG.standard_normal((40, 3)), RNG.standard_normal((60, 3)), RNG.random((40, 60))


def kernel(x, y, w):
    return np.exp(-0.5 * np.sum((x[:, None] - y[None]) ** 2, axis=-1)) * w


def forces(x, y, w):
    d = x[:, None] - y[None]
    r = np.sqrt(np.sum(d * d, axis=-1, keepdims=True) + 0.1)
    return np.sum(w[..., None] * d / r**3, axis=1)


def nearest(x, y, w):
    d = np.abs(x[:, None] - y[None]) * w[..., None]
    return np.max(d, axis=2).min(axis=1), np.sum(np.where(d > 0.5, d, 0.0), axis=(0, 2))


def cross(x, y, w):
    return np.cross(x[:, None], y[None]) * w[..., None] + 1.0


def standardized(x, y, w):
    z = np.tile(x, (40, 1))
    z = (z - z.mean(0)) / z.std(0) * x[0] + y[1]
    return np.tanh(z @ np.ones((3, 2)))


def complex_phases(x, y, w):
    return np.sum(np.exp(1j * (x[:, None] * y[None])) * w[..., None], axis=2).imag


def kept(x, y, w):
    d = x[:, None] - y[None]
    return d, np.swapaxes(d, 0, 1), d.sum((0, 1)), d[3], d.reshape(-1, 3)


PROGRAMS = (kernel, forces, nearest, cross, standardized, complex_phases, kept)


def compiled(function, passes):
    return tn.jit(function, options={"passes": passes})


def total(function):
    def number(*args):
        return sum(np.sum(np.sin(part)) for part in optree.tree_leaves(function(*args)))

    return number


def compare(function, *args):
    with_layout = compiled(function, {"layout": True})(*args)
    without = compiled(function, "none")(*args)
    for a, b in zip(optree.tree_leaves(with_layout), optree.tree_leaves(without), strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_values(function):
    """Values do not depend on the pass"""
    compare(function, X, Y, W)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(function):
    """Gradients by all operands do not depend on the pass"""
    compare(tn.grad(total(function), argnums=(0, 1, 2)), X, Y, W)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives_of_second_order(function):
    def along(x, y, w):
        return tn.hvp(lambda x: total(function)(x, y, w))(x, np.cos(x))

    compare(along, X, Y, W)


def test_batches():
    """A batch does not depend on the pass"""
    compare(tn.vmap(kernel, in_axes=(0, None, None)), np.stack([X, 2 * X, -X]), Y, W)


def test_loops():
    """The body of a loop does not depend on the pass"""

    def steps(x, y, w):
        def step(x, _):
            return x + 0.01 * forces(x, y, w), np.sum(x**2, axis=1)

        return tn.scan(step, x, None, length=5)

    compare(steps, X, Y, W)

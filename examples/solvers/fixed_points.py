"""Fixed points x = g(x), and a model whose layer is one: a deep equilibrium model.

    z* = tanh(W z* + U x + b)

The forward pass iterates in a loop that keeps one state. The backward pass solves one linear system
by GMRES; its memory does not depend on the number of iterations.

Source: S. Bai, J. Z. Kolter, V. Koltun, Deep equilibrium models (2019).
"""

import numpy as np

import tenferro as tn
from solvers.krylov import solve_gmres


def fixed_point(g, x0, tolerance=1e-12, max_steps=2000):
    """Return x with x = g(x), for a vector x and a contraction g; differentiable to any order."""

    def iterate(residual, x):
        def unfinished(state):
            x, step = state
            return (np.max(np.abs(residual(x))) > tolerance) & (step < max_steps)

        return tn.while_loop(unfinished, lambda s: (s[0] + residual(s[0]), s[1] + 1), (x, 0))[0]

    return tn.custom_root(lambda x: g(x) - x, x0, iterate, solve_gmres)


def equilibrium(parameters, x):
    """The state of the layer for one input."""
    w, u, b = parameters["w"], parameters["u"], parameters["b"]
    # a matrix of norm below 1 makes the layer a contraction
    w = 0.9 * w / np.sqrt(1 + np.sum(np.square(w)))
    return fixed_point(lambda z: np.tanh(w @ z + u @ x + b), np.zeros(b.shape))


def predict(parameters, x):
    """A number for one input."""
    return parameters["out"] @ equilibrium(parameters, x)


def loss(parameters, xs, ys):
    """The mean square error over examples."""
    return np.mean(np.square(tn.vmap(predict, in_axes=(None, 0))(parameters, xs) - ys))

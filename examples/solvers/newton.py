"""Newton's method for systems of equations, with the derivative of the solution.

    f(x, θ) = 0:   dx = -(∂f/∂x)⁻¹ (∂f/∂θ) dθ

The iteration runs until the residual is small; `tn.custom_root` differentiates the solution by the
implicit function theorem, through everything that f closes over.
"""

import numpy as np

import tenferro as tn


def find_root(f, x0, tolerance=1e-12, max_steps=50):
    """Return x with f(x) = 0, for a vector x; differentiable to any order.

    Each step halves the Newton step until the residual falls.
    """

    def solve(f, x):
        def unfinished(state):
            x, step = state
            return (np.max(np.abs(f(x))) > tolerance) & (step < max_steps)

        def iterate(state):
            x, step = state
            value, slope = f(x), tn.jacfwd(f)(x)
            change = np.linalg.solve(slope, value)
            return x - damping(f, x, change, value) * change, step + 1

        return tn.while_loop(unfinished, iterate, (x, 0))[0]

    def tangent_solve(g, y):
        return np.linalg.solve(tn.jacfwd(g)(y), y)

    return tn.custom_root(f, x0, solve, tangent_solve)


def damping(f, x, change, value):
    """The largest of 1, 1/2, 1/4, … that makes the residual smaller."""
    size = np.sum(np.square(value))

    def too_far(rate):
        return ~(np.sum(np.square(f(x - rate * change))) < size) & (rate > 1e-6)

    return tn.while_loop(too_far, lambda rate: rate / 2, 1.0)

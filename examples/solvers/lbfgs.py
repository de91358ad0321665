"""L-BFGS: minimization by gradients, with an approximate inverse Hessian of a few vectors.

The whole minimization is one loop, so it can be jitted, and run under `vmap` for many starts.

Source: J. Nocedal, S. J. Wright, Numerical Optimization, 2nd ed. (2006), algorithms 7.4 and 3.1.
"""

from typing import Any, NamedTuple

import numpy as np

import tenferro as tn


class State(NamedTuple):
    """What goes from step to step; the last `memory` changes of x and of the gradient are rows."""

    x: Any
    value: Any
    gradient: Any
    changes: Any
    slopes: Any
    step: Any


def minimize(f, x0, memory=10, tolerance=1e-8, max_steps=500):
    """Return a vector near x0 where the gradient of f is small, and the number of steps."""
    value_and_grad = tn.value_and_grad(f)

    def unfinished(state):
        return (np.max(np.abs(state.gradient)) > tolerance) & (state.step < max_steps)

    def iterate(state):
        direction = -descent(state)
        rate = backtrack(f, state, direction)
        x = state.x + rate * direction
        value, gradient = value_and_grad(x)
        change, slope = x - state.x, gradient - state.gradient
        is_convex = change @ slope > 1e-12 * (slope @ slope)
        shifted = [np.concatenate([old[1:], new[None]]) for old, new in
                   ((state.changes, change), (state.slopes, slope))]  # fmt: skip
        changes = np.where(is_convex, shifted[0], state.changes)
        slopes = np.where(is_convex, shifted[1], state.slopes)
        return State(x, value, gradient, changes, slopes, state.step + 1)

    value, gradient = value_and_grad(x0)
    none = np.zeros((memory, x0.shape[0]))
    last = tn.while_loop(unfinished, iterate, State(x0, value, gradient, none, none, 0))
    return last.x, last.step


def descent(state):
    """The approximate inverse Hessian times the gradient, by two loops over the memory."""
    products = np.sum(state.changes * state.slopes, axis=1)
    is_there = products > 0
    weights = np.where(is_there, 1 / np.where(is_there, products, 1.0), 0.0)
    rows = (state.changes, state.slopes, weights)

    def backward(q, row):
        s, y, weight = row
        a = weight * (s @ q)
        return q - a * y, a

    def forward(r, row):
        (s, y, weight), a = row
        return r + (a - weight * (y @ r)) * s, None

    q, factors = tn.scan(backward, state.gradient, rows, reverse=True)
    newest = state.slopes[-1] @ state.slopes[-1]
    scale = np.where(newest > 0, products[-1] / np.where(newest > 0, newest, 1.0), 1.0)
    return tn.scan(forward, scale * q, (rows, factors))[0]


def backtrack(f, state, direction):
    """The largest of 1, 1/2, 1/4, … with enough descent (Armijo's rule)."""
    slope = state.gradient @ direction

    def too_far(rate):
        enough = f(state.x + rate * direction) <= state.value + 1e-4 * rate * slope
        return ~enough & (rate > 1e-10)

    return tn.while_loop(too_far, lambda rate: rate / 2, 1.0)

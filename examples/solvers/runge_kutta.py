"""The last value of y′ = f(t, y, p), with the derivative of the continuous adjoint equation.

`tenferro.integrate.solve_ivp` differentiates the steps that were taken; `final_state` solves
another equation backward in time instead, and keeps one state. Both go by the method of Dormand
and Prince, 5(4), with steps of controlled size.

Source: E. Hairer, S. P. Nørsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed.
(1993), table II.5.2, section II.4 (control of the step).
"""

import numpy as np

import tenferro as tn

TIMES = (0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1)
STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
ERROR = (71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)


def combine(weights, slopes):
    """Σ weight · slope, without the terms of weight 0."""
    terms = [w * k for w, k in zip(weights, slopes, strict=False) if w]
    return sum(terms[1:], terms[0])


def attempt(f, t, y, h, first):
    """One step of size h from (t, y), where f is `first`: the new y, its error, the last slope."""
    slopes = [first]
    for time, weights in zip(TIMES[1:], STAGES, strict=True):
        after = y + h * combine(weights, slopes)
        slopes.append(f(t + time * h, after))
    return after, h * combine(ERROR, slopes), slopes[-1]


def next_size(h, error, y, after, tolerance):
    """Whether the step is accepted, and the size of the next one."""
    relative, absolute = tolerance
    scale = absolute + relative * np.maximum(np.abs(y), np.abs(after))
    ratio = tn.stop_gradient(np.sqrt(np.mean(np.square(error / scale))))
    factor = np.clip(0.9 * np.maximum(ratio, 1e-10) ** -0.2, 0.2, 5.0)
    return ratio <= 1, h * factor


def integrate(f, y0, t0, t1, tolerance):
    """The state at t1, by a loop that keeps one state; not for reverse mode."""

    def unfinished(state):
        return state[0] < t1

    def step(state):
        t, y, h, first = state
        h = np.minimum(h, t1 - t)
        after, error, last = attempt(f, t, y, h, first)
        accepted, size = next_size(h, error, y, after, tolerance)
        end = np.where(h >= t1 - t, t1, t + h)
        ahead = np.where(accepted, end, t), np.where(accepted, after, y), size
        return (*ahead, np.where(accepted, last, first))

    t0 = t0 + 0.0 * np.sum(y0)
    init = (t0, y0, 0.01 * (t1 - t0), f(t0, y0))
    return tn.while_loop(unfinished, step, init)[1]


def final_state(f, y0, p, t0, t1, rtol=1e-8, atol=1e-10):
    """The state at t1 of y′ = f(t, y, p), for vectors y and p, in the memory of one state.

    The cotangents a of y and g of p follow the adjoint equation backward in time:
    a′ = -(∂f/∂y)ᵀ a,  g′ = -(∂f/∂p)ᵀ a.
    """
    tolerance = rtol, atol

    @tn.custom_vjp
    def solution(y0, p):
        return integrate(lambda t, y: f(t, y, p), y0, t0, t1, tolerance)

    def forward(y0, p):
        y1 = solution(y0, p)
        return y1, (y1, p)

    def backward(residuals, ct):
        y1, p = residuals
        n = y1.shape[0]

        def augmented(s, state):
            y, a = state[:n], state[n : 2 * n]
            slope, pull = tn.vjp(lambda y, p: f(t1 - s, y, p), y, p)
            return np.concatenate([-slope, *pull(a)])

        state = np.concatenate([y1, ct, 0 * p])
        state = integrate(augmented, state, 0.0, t1 - t0, tolerance)
        return state[n : 2 * n], state[2 * n :]

    solution.defvjp(forward, backward)
    return solution(y0, p)

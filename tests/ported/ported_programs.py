"""Ten programs that people wrote for JAX, each as a function that takes the library.

The ideas are those of the files that are cited; the code is our own. `lib` has NumPy's functions
as `lib.np`, and the transforms and loops under one name for both libraries; `two_libraries.py` says
what each name is. Programs return a number, which is differentiated.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Ported(NamedTuple):
    """A program, the point at which it is differentiated, and where the idea is from."""

    function: Callable[[Any, Any], Any]
    point: np.ndarray
    source: str
    licence: str
    uses: str


# 1


def control(lib, p):  # noqa: C901 - one program
    """Iterative LQR: steer a damped pendulum to its upper rest with little torque."""
    xp, horizon = lib.np, 8

    def dynamics(x, u):
        angle, speed = x
        after = speed + 0.1 * (p[0] * xp.sin(angle) - p[1] * speed + u[0])
        return xp.stack([angle + 0.1 * after, after])

    def cost(x, u):
        return 0.5 * (x @ x + 0.1 * u @ u)

    def trajectory(us, x0):
        def step(t, xs):
            return xs.at[t + 1].set(dynamics(xs[t], us[t]))

        return lib.fori_loop(0, horizon, step, lib.zeros((horizon + 1, 2)).at[0].set(x0))

    def expand(x, u):
        a, b = lib.jacobian(dynamics, (0, 1))(x, u)
        q, r = lib.grad(cost, (0, 1))(x, u)
        qq = lib.jacfwd(lib.grad(cost))(x, u)
        rr = lib.jacfwd(lib.grad(cost, 1), 1)(x, u)
        return a, b, q, r, qq, rr

    def gains(rows, last):
        def back(state, row):
            big, small = state
            a, b, q, r, qq, rr = row
            g = rr + b.T @ big @ b
            h = b.T @ big @ a
            gain, offset = -xp.linalg.solve(g, h), -xp.linalg.solve(g, r + b.T @ small)
            after = qq + a.T @ big @ a + gain.T @ h, q + a.T @ small + gain.T @ (r + b.T @ small)
            return after, (gain, offset)

        return lib.scan(back, (xp.eye(2), last), rows, reverse=True)[1]

    def improve(_, us):
        xs = trajectory(us, start)
        rows = lib.vmap(expand)(xs[:-1], us)
        big, small = gains(rows, xs[-1])

        def forward(dx, row):
            gain, offset, a, b = row
            du = gain @ dx + offset
            return a @ dx + b @ du, du

        changes = lib.scan(forward, xp.zeros(2), (big, small, rows[0], rows[1]))[1]
        return us + 0.5 * changes

    start = lib.asarray(np.array([0.6, 0.0]))
    us = lib.fori_loop(0, 3, improve, lib.zeros((horizon, 1)))
    xs = trajectory(us, start)
    return xp.sum(lib.vmap(cost)(xs[:-1], us)) + 0.5 * xs[-1] @ xs[-1]


# 2


def adaptive_ode(lib, p):  # noqa: C901 - one program
    """An adaptive Runge–Kutta method that stops at given times; the gradient is its adjoint's."""
    xp = lib.np

    def step(f, y, t, h):
        a = f(y, t)
        b = f(y + h / 2 * a, t + h / 2)
        c = f(y + 3 * h / 4 * b, t + 3 * h / 4)
        after = y + h * (2 * a + 3 * b + 4 * c) / 9
        d = f(after, t + h)
        return after, h * (-5 * a / 72 + b / 12 + c / 9 - d / 8)

    def solve(f, y0, times):
        def advance(state, target):
            def unfinished(s):
                return s[1] < target

            def attempt(s):
                y, t, h = s
                h = xp.minimum(h, target - t)
                after, error = step(f, y, t, h)
                ratio = xp.sqrt(xp.mean((error / (1e-9 + 1e-7 * xp.abs(y))) ** 2))
                good = ratio <= 1
                end = xp.where(target - t <= h, target, t + h)
                size = h * xp.clip(0.9 * (ratio + 1e-12) ** (-1 / 3), 0.2, 5.0)
                return xp.where(good, after, y), xp.where(good, end, t), size

            state = lib.while_loop(unfinished, attempt, (*state, target - state[1]))[:2]
            return state, state[0]

        return lib.scan(advance, (y0, times[0]), times[1:])[1]

    @lib.custom_vjp
    def states(y0, q, times):
        return solve(lambda y, t: field(y, t, q), y0, times)

    def forward(y0, q, times):
        ys = states(y0, q, times)
        return ys, (y0, ys, q, times)

    def backward(residuals, ct):
        y0, ys, q, times = residuals
        n = y0.shape[0]

        def augmented(state, s):
            y, a = state[:n], state[n : 2 * n]
            slope, pull = lib.vjp(lambda y, q: field(y, -s, q), y, q)
            from_y, from_q = pull(a)
            return xp.concatenate([-slope, from_y, from_q])

        def segment(state, row):
            a, from_q = state
            y, c, end, begin = row
            joint = xp.concatenate([y, a + c, from_q])
            joint = solve(augmented, joint, xp.stack([-end, -begin]))[0]
            return (joint[n : 2 * n], joint[2 * n :]), None

        rows = ys, ct, times[1:], times[:-1]
        (a, from_q), _ = lib.scan(segment, (xp.zeros(n), 0 * q), rows, reverse=True)
        return a, from_q, 0 * times

    states.defvjp(forward, backward)

    def field(y, t, q):
        return xp.stack([q[0] * y[1], -q[1] * y[0] - 0.2 * y[1] + 0.1 * xp.sin(t)])

    times = lib.asarray(np.linspace(0.0, 2.0, 4))
    ys = states(xp.stack([p[2], 0.5 * p[2]]), p[:2], times)
    return xp.sum(ys**2)


# 3


def conjugate_gradients(lib, p):
    """A screened Poisson equation, solved without a matrix; the derivative solves it again."""
    xp = lib.np

    def matvec(u):
        around = xp.pad(u, 1)
        near = around[2:, 1:-1] + around[:-2, 1:-1] + around[1:-1, 2:] + around[1:-1, :-2]
        return (4 + p[0] ** 2) * u - near

    def solve(matvec, b):
        dot = lambda a, b: xp.sum(a * b)  # noqa: E731

        def unfinished(s):
            return (s[3] > 1e-22) & (s[4] < 100)

        def iterate(s):
            x, r, d, size, k = s
            image = matvec(d)
            rate = size / dot(d, image)
            rest = r - rate * image
            after = dot(rest, rest)
            return x + rate * d, rest, rest + after / size * d, after, k + 1

        return lib.while_loop(unfinished, iterate, (0 * b, b, b, dot(b, b), 0))[0]

    source = p[1] * np.outer(np.hanning(6), np.hanning(6))
    u = lib.custom_linear_solve(matvec, source, solve, solve, symmetric=True)
    return xp.sum(u * source) + u[2, 3]


# 4


def sinkhorn(lib, p):  # noqa: C901 - one program
    """Entropic optimal transport; its gradient runs through the states that were recorded."""
    xp, inner, most = lib.np, 5, 60
    points = np.linspace(-1.0, 1.0, 5)
    weights = np.full(5, 0.2)

    def soft(x, axis):
        top = lib.stop_gradient(xp.max(x, axis=axis, keepdims=True))
        return xp.squeeze(top, axis) + xp.log(xp.sum(xp.exp(x - top), axis=axis))

    def once(cost, state, is_last):
        f, _, error = state
        g_after = 0.3 * (np.log(weights) - soft((f[:, None] - cost) / 0.3, 0))
        f_after = 0.3 * (np.log(weights) - soft((g_after[None, :] - cost) / 0.3, 1))
        error = lib.cond(is_last, lambda: xp.max(xp.abs(f_after - f)), lambda: error)
        return f_after, g_after, error

    def several(cost, state):
        flags = lib.asarray(np.arange(inner) == inner - 1)
        return lib.scan(lambda s, flag: (once(cost, s, flag), None), state, flags)[0]

    @lib.custom_vjp
    def potentials(cost):
        return record(cost)[0][:2]

    def record(cost):
        def unfinished(s):
            return (s[0][2] > 1e-10) & (s[2] < most)

        def body(s):
            state, kept, k = s
            kept = tuple(x.at[k].set(y) for x, y in zip(kept, state, strict=True))
            return several(cost, state), kept, k + 1

        state = xp.zeros(5), xp.zeros(5), lib.asarray(np.array(np.inf))
        kept = lib.zeros((most, 5)), lib.zeros((most, 5)), lib.zeros((most,))
        return lib.while_loop(unfinished, body, (state, kept, 0))

    def forward(cost):
        state, kept, count = record(cost)
        return state[:2], (cost, kept, count)

    def backward(residuals, ct):
        cost, kept, count = residuals

        def body(s):
            k, ct, total = s
            state = tuple(x[k - 1] for x in kept)
            pull = lib.vjp(lambda c, f, g: several(c, (f, g, state[2]))[:2], cost, *state[:2])[1]
            from_cost, *rest = pull(ct)
            return k - 1, tuple(rest), total + from_cost

        return (lib.while_loop(lambda s: s[0] > 0, body, (count, ct, 0 * cost))[2],)

    potentials.defvjp(forward, backward)
    cost = (points[:, None] - (p[0] * points + p[1])[None, :]) ** 2
    f, g = potentials(cost)
    return weights @ f + weights @ g + xp.sum(f * f)


# 5


def implicit_diffusion(lib, p):
    """Steps of nonlinear diffusion, each by a damped Newton method and `custom_root`."""
    xp = lib.np

    def find(residual, x0):
        def newton(f, x):
            def unfinished(s):
                return (xp.mean(xp.abs(s["residual"])) > 1e-12) & (s["count"] < 20.0)

            def body(s):
                change = xp.linalg.solve(lib.jacfwd(f)(s["x"]), -s["residual"])
                size = xp.mean(xp.abs(s["residual"]))

                def too_far(d):
                    worse = xp.mean(xp.abs(f(s["x"] + d["change"]))) > size
                    return worse & (d["rate"] > 0.01)

                halve = lambda d: {k: 0.5 * v for k, v in d.items()}  # noqa: E731
                found = lib.while_loop(too_far, halve, {"change": change, "rate": 1.0})
                x = s["x"] + found["change"]
                return {"x": x, "residual": f(x), "count": s["count"] + 1}

            state = lib.while_loop(unfinished, body, {"x": x, "residual": f(x), "count": 0.0})
            return state["x"], {"residual": state["residual"], "count": state["count"]}

        solve = lambda g, y: xp.linalg.solve(lib.jacfwd(g)(y), y)  # noqa: E731
        x, found = lib.custom_root(residual, x0, newton, solve, has_aux=True)
        size = xp.mean(xp.abs(found["residual"]))
        fault = lib.cond(
            size < 1e-9, lambda: 0, lambda: lib.cond(size < 1e-2, lambda: 2, lambda: 1)
        )
        return x, fault

    def step(u, _):
        def residual(v):
            flux = (p[0] + p[1] * xp.square(v[1:] + v[:-1])) * xp.diff(v)
            return v - u - 0.1 * xp.diff(xp.pad(flux, 1))

        return find(residual, u)

    u, faults = lib.scan(step, lib.asarray(np.sin(np.arange(5.0))), None, length=3)
    return xp.sum(u**3) + xp.sum(faults) + u[0]


# 6


def advantages(lib, p):
    """Generalized advantage estimates of a linear critic, and their clipped loss."""
    xp, rng = lib.np, np.random.default_rng(5)
    seen, rewards = rng.standard_normal((7, 2, 3)), rng.standard_normal((7, 2))
    ended = lib.asarray((rng.random((7, 2)) < 0.2).astype(float))
    values = xp.tanh(seen @ p)
    bootstrap = values[-1]
    ahead = xp.concatenate([values[1:], bootstrap[None]])
    deltas = rewards + 0.9 * (1 - ended) * ahead - values

    def back(state, row):
        decay, total = state
        delta, end = row
        total = delta + 0.9 * (1 - end) * decay * total
        return (decay, total), total

    _, sums = lib.scan(back, (0.95, xp.zeros(2)), (deltas, ended), reverse=True)
    ratio = xp.exp(0.1 * values)
    clipped = xp.clip(ratio, 0.95, 1.05)
    return -xp.mean(xp.minimum(ratio * sums, clipped * sums)) + 0.5 * xp.mean(sums**2)


# 7


def guarded_descent(lib, p):
    """Momentum descent that leaves out updates which are not finite; a gradient of training."""
    xp = lib.np

    def loss(w, x, y):
        return xp.mean((xp.log(x @ w + 9.0) - y) ** 2)

    def step(state, row):
        w, momentum, skipped = state
        x, y, fault = row
        gradient = lib.grad(loss)(w, x, y) + fault
        is_fine = xp.all(xp.isfinite(gradient))

        def update(_):
            after = p[0] * momentum + gradient
            return w - p[1] * after, after

        def stay(_):
            return w, momentum

        w, momentum = lib.cond(is_fine | (skipped > 2), update, stay, 0.0)
        skipped = xp.where(is_fine, 0, skipped + 1)
        return (w, momentum, skipped), xp.sum(w)

    rng = np.random.default_rng(2)
    xs, ys = rng.standard_normal((8, 4, 3)), rng.standard_normal((8, 4))
    faults = np.array([0.0, 0.0, 0.0, np.inf, np.nan, 0.0, 0.0, 0.0])  # of two batches
    init = p[2] * np.ones(3), xp.zeros(3), 0
    (w, _, skipped), path = lib.scan(step, init, (xs, ys, faults))
    return xp.sum(w**2) + path[-2] + skipped


# 8


def ctc_loss(lib, p):
    """The loss of Connectionist Temporal Classification, with padded labels."""
    xp, rng = lib.np, np.random.default_rng(8)
    labels, count, small = np.array([2, 1, 1, 0]), 3, -1e5  # the last label is padding
    mixing = rng.standard_normal((6, p.shape[0], 4))
    logits = xp.tanh(xp.einsum("tpk,p->tk", mixing, p))
    log_y = logits - xp.log(xp.sum(xp.exp(logits), axis=1, keepdims=True))
    repeats = np.concatenate([(labels[:-1] == labels[1:]).astype(float), [0.0]])
    emit, blank = log_y[:, labels], log_y[:, 0]

    def step(state, row):
        phi, emitted = state
        log_emit, log_blank = row
        ahead = xp.concatenate([phi[:1], xp.logaddexp(phi[1:], emitted + small * (1 - repeats))])
        again = xp.logaddexp(phi[:-1] + log_emit, emitted + log_emit)
        again = xp.logaddexp(again, ahead[:-1] + log_emit)
        passed = xp.concatenate(
            [ahead[:1], xp.logaddexp(ahead[1:], emitted * (1 - repeats) + small * repeats)]
        )
        return (passed + log_blank, again), None

    init = lib.zeros((5,)).at[1:].set(small), xp.full(4, small)
    (phi, emitted), _ = lib.scan(step, init, (emit, blank))
    return -xp.logaddexp(phi[count], emitted[count - 1])


# 9


def burgers(lib, p):
    """Burgers' equation: frames of a trajectory, each of several inner steps, as nested loops."""
    xp, n = lib.np, 16

    def repeated(f, steps):
        return lambda x: lib.scan(lambda x, _: (f(x), None), x, None, length=steps)[0]

    def trajectory(f, steps, post):
        def step(x, _):
            x = f(x)
            return x, post(x)

        return lambda x: lib.scan(step, x, None, length=steps)

    def step(state):
        u, t = state
        right, left = xp.roll(u, -1), xp.roll(u, 1)
        slope = -u * (right - left) * n / 2 + p[0] * (right - 2 * u + left) * n**2
        return u + 2e-4 * (slope + p[1] * xp.cos(t)), t + 2e-4

    grid = np.arange(n) / n
    start = 1.0 + 0.5 * xp.sin(2 * np.pi * grid + p[2])
    inner = repeated(step, 4)
    (u, _), frames = trajectory(inner, 5, lambda s: xp.fft.rfft(s[0])[1:4])((start, 0.0))
    return xp.sum(xp.abs(frames) ** 2) / n**2 + xp.max(u)


# 10


def parallel_filter(lib, p):
    """A hidden Markov model, filtered by `associative_scan` and by a scan over time."""
    xp, rng = lib.np, np.random.default_rng(4)
    transition = xp.stack([xp.stack([1 - p[0], p[0]]), xp.stack([p[1], 1 - p[1]])])
    seen = lib.asarray(rng.standard_normal(9))
    logs = -0.5 * (seen[:, None] - xp.stack([-p[2], p[2]])) ** 2
    initial = np.array([0.6, 0.4])

    def condition(matrix, log):
        top = xp.max(log, axis=-1)
        weighted = matrix * xp.exp(log - top[..., None])[..., None, :]
        norm = xp.sum(weighted, axis=-1)
        return weighted / norm[..., None], xp.log(norm) + top[..., None]

    def combine(a, b):
        (m, log_m), (n, log_n) = a, b
        matrix, log = condition(m, log_n)
        return xp.einsum("...ij,...jk->...ik", matrix, n), log_m + log

    first = condition(xp.stack([initial, initial]) + 0 * transition, logs[0])
    rest = lib.vmap(lambda log: condition(transition, log))(logs[1:])
    elements = tuple(xp.concatenate([a[None], b]) for a, b in zip(first, rest, strict=True))
    matrices, norms = lib.associative_scan(combine, elements)

    def step(state, log):
        total, ahead = state
        top = xp.max(log)
        filtered = ahead * xp.exp(log - top)
        norm = xp.sum(filtered)
        filtered = filtered / norm
        return (total + xp.log(norm) + top, transition.T @ filtered), filtered

    (total, _), filtered = lib.scan(step, (0.0, lib.asarray(initial)), logs)
    return norms[-1, 0] + 0.5 * total + xp.sum((matrices[:, 0] * filtered) ** 2)


PROGRAMS = {
    "control": Ported(
        control, np.array([1.5, 0.2]), "jax-ml/jax, examples/control.py", "Apache-2.0",
        "fori_loop, vmap, jacobian",
    ),
    "adaptive_ode": Ported(
        adaptive_ode, np.array([1.0, 2.0, 0.7]), "jax-ml/jax, jax/experimental/ode.py",
        "Apache-2.0", "while_loop in scan, custom_vjp",
    ),
    "conjugate_gradients": Ported(
        conjugate_gradients, np.array([0.8, 1.2]),
        "jax-ml/jax, jax/_src/scipy/sparse/linalg.py", "Apache-2.0",
        "while_loop, custom_linear_solve",
    ),
    "sinkhorn": Ported(
        sinkhorn, np.array([0.8, 0.3]), "ott-jax/ott, src/ott/math/fixed_point_loop.py",
        "Apache-2.0", "scan and cond in while_loop, custom_vjp",
    ),
    "implicit_diffusion": Ported(
        implicit_diffusion, np.array([0.5, 0.3]),
        "google-deepmind/torax, torax/_src/fvm/jax_root_finding.py", "Apache-2.0",
        "custom_root, while_loop in while_loop, cond in cond",
    ),
    "advantages": Ported(
        advantages, np.array([0.3, -0.5, 0.2]), "google/brax, brax/training/agents/ppo/losses.py",
        "Apache-2.0", "reversed scan",
    ),
    "guarded_descent": Ported(
        guarded_descent, np.array([0.7, 0.1, 0.2]),
        "google-deepmind/optax, optax/transforms/_conditionality.py", "Apache-2.0",
        "cond and grad in scan",
    ),
    "ctc_loss": Ported(
        ctc_loss, np.array([0.4, -0.3]), "google-deepmind/optax, optax/losses/_classification.py",
        "Apache-2.0", "scan",
    ),
    "burgers": Ported(
        burgers, np.array([0.01, 0.5, 0.2]), "google/jax-cfd, jax_cfd/base/funcutils.py",
        "Apache-2.0", "scan in scan, complex rows",
    ),
    "parallel_filter": Ported(
        parallel_filter, np.array([0.2, 0.3, 0.8]),
        "probml/dynamax, dynamax/hidden_markov_model/parallel_inference.py", "MIT",
        "associative_scan, scan, vmap",
    ),
}  # fmt: skip

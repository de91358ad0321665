"""W7: 1,000 explicit steps of a heat equation with a source, 10⁵ points: gradient by the start.

u ← u + k·Δu + h·u·(1 − u), periodic (Fisher's equation). The term u² makes every step a residual,
so who stores all needs one array per step, 763 MiB; peak memory is a figure. By hand: the states in
a list, the stencil in slices. JAX runs `scan`, and `scan` of checkpointed `scan`s of about
√1,000 steps, which stores about 2·√1,000 states and computes each twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness.workload import Call, Case, Goal, Workload

K, H = 0.2, 0.01


def inputs(given: tuple[int, int]) -> tuple[Any, ...]:
    n, steps = given
    return np.random.default_rng(0).random(n), steps


W = Workload(
    "W7",
    "heat equation with a source, 1,000 steps, 10⁵ points: gradient by the start",
    cases=[Case("10⁵ points, 1,000 steps", (10**5, 1000))],
    quick=[Case("1,000 points, 36 steps", (1000, 36))],
    inputs=inputs,
    goals=[
        Goal(0.4),
        Goal(1.0, figure="memory"),
        Goal(1.0, contestant="tenferro xla", over="jax √-checkpoint"),
    ],
    large=True,
    memory=True,
)


@W.contestant("numpy")
def with_numpy(start: Any, steps: int) -> Call:
    return by_hand(np, start, steps)


def by_hand(np: Any, start: Any, steps: int) -> Call:
    """With the arrays of NumPy, or of a library with its names."""

    def neighbours(u: Any) -> Any:
        found = np.empty_like(u)
        np.add(u[2:], u[:-2], out=found[1:-1])
        found[0] = u[1] + u[-1]
        found[-1] = u[0] + u[-2]
        return found

    def value_and_gradient() -> Any:
        u, states = start, []
        for _ in range(steps):
            states.append(u)
            after = neighbours(u)
            after *= K
            after += u * (1 - 2 * K + H - H * u)
            u = after
        value, g = np.sum(u * u) / 2, u
        for u in reversed(states):
            before = neighbours(g)
            before *= K
            before += g * (1 - 2 * K + H - 2 * H * u)
            g = before
        return value, g

    return value_and_gradient


def step(np: Any, u: Any) -> Any:
    laplacian = np.roll(u, 1) + np.roll(u, -1) - 2 * u
    return u + K * laplacian + H * u * (1 - u)


def loss(np: Any, u: Any, steps: int) -> Any:
    for _ in range(steps):
        u = step(np, u)
    return np.sum(u * u) / 2


@W.contestant("tenferro")
def with_tenferro(start: Any, steps: int) -> Call:
    import tenferro as tn

    f = tn.jit(tn.value_and_grad(lambda u: loss(np, u, steps)))
    return lambda: f(start)


@W.contestant("tenferro un-jitted")
def with_tenferro_unjitted(start: Any, steps: int) -> Call:
    import tenferro as tn

    f = tn.value_and_grad(lambda u: loss(np, u, steps))
    return lambda: f(start)


@W.contestant("tenferro xla", needs="xla", limit=300)
def with_xla(start: Any, steps: int) -> Call:
    import tenferro as tn

    f = tn.jit(tn.value_and_grad(lambda u: loss(np, u, steps)), backend="xla")
    return lambda: f(start)


@W.contestant("tenferro scan")
def with_scan(start: Any, steps: int) -> Call:
    import tenferro as tn

    f = tn.jit(tn.value_and_grad(lambda u: scanned_loss(np, tn.scan, u, steps)))
    return lambda: f(start)


@W.contestant("tenferro xla scan", needs="xla")
def with_xla_scan(start: Any, steps: int) -> Call:
    import tenferro as tn

    f = tn.jit(tn.value_and_grad(lambda u: scanned_loss(np, tn.scan, u, steps)), backend="xla")
    return lambda: f(start)


def scanned_loss(np: Any, scan: Any, u: Any, steps: int) -> Any:
    u = scan(lambda u, _: (step(np, u), None), u, None, steps)[0]
    return np.sum(u * u) / 2


@W.contestant("jax scan", needs="jax")
def with_jax_scan(start: Any, steps: int) -> Call:
    import jax
    import jax.numpy as jnp

    def f(u: Any) -> Any:
        u, _ = jax.lax.scan(lambda u, _: (step(jnp, u), None), u, length=steps)
        return jnp.sum(u * u) / 2

    f = jax.jit(jax.value_and_grad(f))
    u = jnp.asarray(start)
    return lambda: jax.block_until_ready(f(u))


@W.contestant("jax √-checkpoint", needs="jax")
def with_jax_checkpoint(start: Any, steps: int) -> Call:
    import jax
    import jax.numpy as jnp

    inner = max(d for d in range(1, steps + 1) if steps % d == 0 and d * d <= steps)

    @jax.checkpoint
    def block(u: Any, _: None) -> Any:
        return jax.lax.scan(lambda u, _: (step(jnp, u), None), u, length=inner)

    def f(u: Any) -> Any:
        u, _ = jax.lax.scan(block, u, length=steps // inner)
        return jnp.sum(u * u) / 2

    f = jax.jit(jax.value_and_grad(f))
    u = jnp.asarray(start)
    return lambda: jax.block_until_ready(f(u))


@W.contestant("torch", needs="torch")
def with_torch(start: Any, steps: int) -> Call:
    import torch

    start = torch.as_tensor(start).requires_grad_()

    def value_and_gradient() -> Any:
        value = loss(torch, start, steps)
        return value, torch.autograd.grad(value, start)[0]

    return value_and_gradient


@W.contestant("autograd", needs="autograd")
def with_autograd(start: Any, steps: int) -> Call:
    import autograd
    import autograd.numpy as anp

    f = autograd.value_and_grad(lambda u: loss(anp, u, steps))
    return lambda: f(start)

"""W16: 1,024 explicit steps of a nonlinear heat equation on 10⁵ points: gradient by the start.

u ← u + k·(1 + u²)·Δu, periodic, as a loop that stays one. What a step's derivative reads follows
from its state, so who stores more than the states stores too much: one array per step is 781 MiB.
By hand: the states in a list, and √1,024 = 32 of them with 32 steps made again between two. JAX
runs `scan`, `scan` of a checkpointed body, and a `scan` of checkpointed `scan`s; torch checkpoints
32 steps at a time. "Budget" is the same loop under ``jit(memory_budget=0.1)``. Peak memory is a
figure.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness.workload import Call, Case, Goal, Workload

K = 0.1


def inputs(given: tuple[int, int]) -> tuple[Any, ...]:
    n, steps = given
    return np.random.default_rng(0).random(n), steps


W = Workload(
    "W16",
    "nonlinear heat equation as scan, 1,024 steps, 10⁵ points: gradient by the start",
    cases=[Case("10⁵ points, 1,024 steps", (10**5, 1024))],
    quick=[Case("1,000 points, 36 steps", (1000, 36))],
    inputs=inputs,
    goals=[
        Goal(1.0),
        Goal(1.05, figure="memory"),
        Goal(0.4, contestant="tenferro xla", over="jax scan"),
    ],
    large=True,
    memory=True,
)


def laplacian(u: Any) -> Any:
    found = np.empty_like(u)
    np.add(u[2:], u[:-2], out=found[1:-1])
    found[0] = u[1] + u[-1]
    found[-1] = u[0] + u[-2]
    found -= 2 * u
    return found


def forward(u: Any) -> Any:
    found = laplacian(u)
    found *= K * (1 + u * u)
    found += u
    return found


def backward(u: Any, g: Any) -> Any:
    found = laplacian(g * (K * (1 + u * u)))
    found += g * (1 + 2 * K * u * laplacian(u))
    return found


@W.contestant("numpy")
def by_hand(start: Any, steps: int) -> Call:
    def value_and_gradient() -> Any:
        u, states = start, []
        for _ in range(steps):
            states.append(u)
            u = forward(u)
        value, g = np.sum(u * u) / 2, u
        while states:
            g = backward(states.pop(), g)
        return value, g

    return value_and_gradient


def block_of(steps: int) -> int:
    """Return the largest divisor up to the root."""
    return max(d for d in range(1, steps + 1) if steps % d == 0 and d * d <= steps)


@W.contestant("numpy √")
def by_hand_root(start: Any, steps: int) -> Call:
    inner = block_of(steps)

    def value_and_gradient() -> Any:
        u, kept = start, []
        for k in range(steps):
            if k % inner == 0:
                kept.append(u)
            u = forward(u)
        value, g = np.sum(u * u) / 2, u
        while kept:
            states = [kept.pop()]
            for _ in range(inner - 1):
                states.append(forward(states[-1]))
            while states:
                g = backward(states.pop(), g)
        return value, g

    return value_and_gradient


def step(np: Any, u: Any) -> Any:
    return u + K * (1 + u * u) * (np.roll(u, 1) + np.roll(u, -1) - 2 * u)


def loss(np: Any, scan: Any, u: Any, steps: int) -> Any:
    u = scan(lambda u, _: (step(np, u), None), u, None, steps)[0]
    return np.sum(u * u) / 2


@W.contestant("tenferro")
def with_tenferro(start: Any, steps: int) -> Call:
    import tenferro as tn

    f = tn.jit(tn.value_and_grad(lambda u: loss(np, tn.scan, u, steps)))
    return lambda: f(start)


@W.contestant("tenferro, budget")
def with_budget(start: Any, steps: int) -> Call:
    """A tenth of the memory, or 20 states where the loop is short."""
    import tenferro as tn

    gradient = tn.value_and_grad(lambda u: loss(np, tn.scan, u, steps))
    f = tn.jit(gradient, memory_budget=max(0.1, 20 / steps))
    return lambda: f(start)


@W.contestant("tenferro xla", needs="xla")
def with_xla(start: Any, steps: int) -> Call:
    import tenferro as tn

    f = tn.jit(tn.value_and_grad(lambda u: loss(np, tn.scan, u, steps)), backend="xla")
    return lambda: f(start)


@W.contestant("jax scan", needs="jax")
def with_jax_scan(start: Any, steps: int) -> Call:
    import jax
    import jax.numpy as jnp

    f = jax.jit(jax.value_and_grad(lambda u: loss(jnp, jax.lax.scan, u, steps)))
    u = jnp.asarray(start)
    return lambda: jax.block_until_ready(f(u))


@W.contestant("jax checkpoint", needs="jax")
def with_jax_checkpoint(start: Any, steps: int) -> Call:
    import jax
    import jax.numpy as jnp

    def scan(f: Any, u: Any, xs: None, length: int) -> Any:
        return jax.lax.scan(jax.checkpoint(f), u, xs, length)

    f = jax.jit(jax.value_and_grad(lambda u: loss(jnp, scan, u, steps)))
    u = jnp.asarray(start)
    return lambda: jax.block_until_ready(f(u))


@W.contestant("jax √-checkpoint", needs="jax")
def with_jax_root(start: Any, steps: int) -> Call:
    import jax
    import jax.numpy as jnp

    inner = block_of(steps)

    def scan(f: Any, u: Any, xs: None, length: int) -> Any:
        block = jax.checkpoint(lambda u, _: jax.lax.scan(jax.checkpoint(f), u, None, inner))
        return jax.lax.scan(block, u, xs, length // inner)

    f = jax.jit(jax.value_and_grad(lambda u: loss(jnp, scan, u, steps)))
    u = jnp.asarray(start)
    return lambda: jax.block_until_ready(f(u))


@W.contestant("torch checkpoint", needs="torch")
def with_torch(start: Any, steps: int) -> Call:
    import torch
    from torch.utils.checkpoint import checkpoint

    start = torch.from_numpy(start).requires_grad_()
    inner = block_of(steps)

    def block(u: Any) -> Any:
        for _ in range(inner):
            u = step(torch, u)
        return u

    def value_and_gradient() -> Any:
        u = start
        for _ in range(steps // inner):
            u = checkpoint(block, u, use_reentrant=False)
        value = torch.sum(u * u) / 2
        return value, torch.autograd.grad(value, start)[0]

    return value_and_gradient

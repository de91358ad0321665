"""W15: 1,000 steps of c ← c + .01·sin c − .02·c² as a loop that stays one, and its gradient.

Five operations a step: on a number, on 10 elements and on 10⁴. By hand the shape () is NumPy's
scalars; the gradient keeps the states in a list. `tenferro` and `tenferro xla` are `tn.scan`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness.peers import on_device, ready
from benchmarks.harness.workload import Call, Case, Goal, Workload

A, B = 0.01, 0.02


def inputs(given: tuple[tuple[int, ...], int]) -> tuple[Any, ...]:
    shape, steps = given
    return np.linspace(0.5, 1.5, shape[0]) if shape else np.array(0.5), steps


W = Workload(
    "W15",
    "a recurrence as scan",
    cases=[
        Case("()", ((), 1000), None),
        Case("(10,)", ((10,), 1000), 1000),
        Case("(10,), 10,000 steps", ((10,), 10_000), 10_000),
        Case("(10⁴,)", ((10_000,), 1000), None),
    ],
    quick=[Case("(), 50", ((), 50), 50), Case("(10,), 50", ((10,), 50), 50)],
    inputs=inputs,
    goals=[
        Goal(0.25, case="()"),
        Goal(0.7, case="(10,)"),
        Goal(1.1, case="()", contestant="tenferro xla", over="jax scan"),
        Goal(1.1, case="(10,)", contestant="tenferro xla", over="jax scan"),
        Goal(1.1, case="(10⁴,)", contestant="tenferro xla", over="jax scan"),
    ],
)


@W.contestant("numpy")
def by_hand(x: Any, steps: int) -> Call:
    def value_and_gradient() -> Any:
        c, states = x[()], []
        for _ in range(steps):
            states.append(c)
            c = c + A * np.sin(c) - B * c * c
        g = np.ones_like(c)[()]
        for v in reversed(states):
            g = g * (1 + A * np.cos(v) - 2 * B * v)
        return np.sum(c), g

    return value_and_gradient


def loss(np: Any, scan: Any, x: Any, steps: int) -> Any:
    return np.sum(scan(lambda c, _: (c + A * np.sin(c) - B * c * c, None), x, None, steps)[0])


@W.contestant("tenferro")
def with_tenferro(x: Any, steps: int) -> Call:
    import tenferro as tn

    f = tn.jit(tn.value_and_grad(lambda x: loss(np, tn.scan, x, steps)))
    return lambda: f(x)


@W.contestant("tenferro xla", needs="xla")
def with_xla(x: Any, steps: int) -> Call:
    import tenferro as tn

    f = tn.jit(tn.value_and_grad(lambda x: loss(np, tn.scan, x, steps)), backend="xla")
    x = on_device(x)
    return lambda: ready(f(x))


@W.contestant("jax scan", needs="jax")
def with_jax_scan(x: Any, steps: int) -> Call:
    import jax
    import jax.numpy as jnp

    f = jax.jit(jax.value_and_grad(lambda x: loss(jnp, jax.lax.scan, x, steps)))
    x = jnp.asarray(x)
    return lambda: jax.block_until_ready(f(x))


@W.contestant("torch", needs="torch")
def with_torch(x: Any, steps: int) -> Call:
    import torch

    x = torch.from_numpy(x).requires_grad_()

    def value_and_gradient() -> Any:
        c = x
        for _ in range(steps):
            c = c + A * torch.sin(c) - B * c * c
        value = torch.sum(c)
        return value, torch.autograd.grad(value, x)[0]

    return value_and_gradient

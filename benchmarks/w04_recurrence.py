"""W4: a recurrence of 2,000 tiny operations and its gradient, for a scalar and for 10 elements.

x ← x + h·tanh(sin x), 500 times, as a Python loop: unrolled for those who trace. JAX's idiom is
`scan`; unrolled it compiles for long and for some shapes not at all, so it is tried in a process of
its own first. By hand the shape () is NumPy's scalars, whose arithmetic is cheaper than a ufunc's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness.peers import on_device, ready
from benchmarks.harness.workload import Call, Case, Goal, Workload

H, PER_STEP = 0.005, 4


def inputs(given: tuple[tuple[int, ...], int]) -> tuple[Any, ...]:
    shape, operations = given
    return np.linspace(0.5, 1.5, 10)[: shape[0]] if shape else np.array(0.5), operations // PER_STEP


W = Workload(
    "W4",
    "recurrence of 2,000 tiny operations",
    cases=[
        Case("()", ((), 2000), None),
        Case("(10,)", ((10,), 2000), 2000),
        Case("(10,), 500", ((10,), 500), 500),
        Case("(10,), 8,000", ((10,), 8000), 8000),
    ],
    quick=[Case("(), 200", ((), 200), 200), Case("(10,), 200", ((10,), 200), 200)],
    inputs=inputs,
    goals=[
        Goal(0.25, case="()"),
        Goal(0.7, case="(10,)"),
        Goal(1.1, case="()", contestant="tenferro xla", over="jax scan"),
        Goal(1.1, case="(10,)", contestant="tenferro xla", over="jax scan"),
    ],
)


@W.contestant("numpy")
def by_hand(x: Any, steps: int) -> Call:
    def value_and_gradient() -> Any:
        u, states = x[()], []
        for _ in range(steps):
            t = np.tanh(np.sin(u))
            states.append((u, t))
            u = u + H * t
        g = np.ones_like(u)[()]
        for v, t in reversed(states):
            g = g + g * (H * (1 - t * t)) * np.cos(v)
        return np.sum(u), g

    return value_and_gradient


def loss(np: Any, x: Any, steps: int) -> Any:
    for _ in range(steps):
        x = x + H * np.tanh(np.sin(x))
    return np.sum(x)


@W.contestant("tenferro")
def with_tenferro(x: Any, steps: int) -> Call:
    import tenferro as tn

    f = tn.jit(tn.value_and_grad(lambda x: loss(np, x, steps)))
    return lambda: f(x)


@W.contestant("tenferro un-jitted")
def with_tenferro_unjitted(x: Any, steps: int) -> Call:
    import tenferro as tn

    f = tn.value_and_grad(lambda x: loss(np, x, steps))
    return lambda: f(x)


@W.contestant("tenferro xla", needs="xla", limit=120)
def with_xla(x: Any, steps: int) -> Call:
    import tenferro as tn

    f = tn.jit(tn.value_and_grad(lambda x: loss(np, x, steps)), backend="xla")
    x = on_device(x)
    return lambda: ready(f(x))


@W.contestant("tenferro scan")
def with_scan(x: Any, steps: int) -> Call:
    import tenferro as tn

    f = tn.jit(tn.value_and_grad(lambda x: scanned_loss(np, tn.scan, x, steps)))
    return lambda: f(x)


@W.contestant("tenferro xla scan", needs="xla")
def with_xla_scan(x: Any, steps: int) -> Call:
    import tenferro as tn

    f = tn.jit(tn.value_and_grad(lambda x: scanned_loss(np, tn.scan, x, steps)), backend="xla")
    x = on_device(x)
    return lambda: ready(f(x))


def scanned_loss(np: Any, scan: Any, x: Any, steps: int) -> Any:
    return np.sum(scan(lambda x, _: (x + H * np.tanh(np.sin(x)), None), x, None, steps)[0])


@W.contestant("jax scan", needs="jax")
def with_jax_scan(x: Any, steps: int) -> Call:
    import jax
    import jax.numpy as jnp

    def f(x: Any) -> Any:
        def step(x: Any, _: None) -> Any:
            return x + H * jnp.tanh(jnp.sin(x)), None

        return jnp.sum(jax.lax.scan(step, x, length=steps)[0])

    f = jax.jit(jax.value_and_grad(f))
    x = jnp.asarray(x)
    return lambda: jax.block_until_ready(f(x))


@W.contestant("jax unrolled", needs="jax", cases=("()", "(10,)"), limit=60)
def with_jax(x: Any, steps: int) -> Call:
    import jax
    import jax.numpy as jnp

    f = jax.jit(jax.value_and_grad(lambda x: loss(jnp, x, steps)))
    x = jnp.asarray(x)
    return lambda: jax.block_until_ready(f(x))


@W.contestant("torch", needs="torch")
def with_torch(x: Any, steps: int) -> Call:
    import torch

    x = torch.from_numpy(x).requires_grad_()

    def value_and_gradient() -> Any:
        value = loss(torch, x, steps)
        return value, torch.autograd.grad(value, x)[0]

    return value_and_gradient


@W.contestant("autograd", needs="autograd")
def with_autograd(x: Any, steps: int) -> Call:
    import autograd
    import autograd.numpy as anp

    f = autograd.value_and_grad(lambda x: loss(anp, x, steps))
    return lambda: f(x)

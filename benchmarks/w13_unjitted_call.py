"""W13: the gradient of Σ log(sin(ax)·exp(−x) + x), 10 elements, without `jit`.

Find what was recorded, transformed and compiled before, run. The goal is in microseconds.
"""

from __future__ import annotations

from typing import Any

from benchmarks import w12_repeated_call as w12
from benchmarks.harness.peers import numpy_like
from benchmarks.harness.workload import Call, Case, Goal, Workload

W = Workload(
    "W13",
    "the same gradient without jit",
    cases=[Case("10 elements", 10)],
    quick=[Case("10 elements", 10)],
    inputs=w12.inputs,
    goals=[Goal(0.0, contestant="tenferro un-jitted", plus=50e-6)],
)

W.contestant("numpy")(w12.by_hand)
numpy_like(W, w12.loss, value=False, only=("autograd",))


@W.contestant("jax eager", needs="jax")
def with_jax(x: Any) -> Call:
    import jax
    import jax.numpy as jnp

    f = jax.grad(lambda x: w12.loss(jnp, x))
    x = jnp.asarray(x)
    return lambda: f(x).block_until_ready()


@W.contestant("torch", needs="torch")
def with_torch(x: Any) -> Call:
    import torch

    x = torch.from_numpy(x).requires_grad_()

    def gradient() -> Any:
        value = torch.log(torch.sin(w12.A * x) * torch.exp(-x) + x).sum()
        return torch.autograd.grad(value, x)[0]

    return gradient

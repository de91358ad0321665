"""W12: the repeated call of a compiled gradient of Σ log(sin(ax)·exp(−x) + x), 10 elements.

Nothing but overhead: what a library adds to nine calls of NumPy. JAX and our XLA backend are
measured twice, with JAX's arrays in and out, and with NumPy's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness.peers import numpy_like
from benchmarks.harness.workload import Call, Case, Goal, Workload

A = 1.3
OURS_ON_NUMPY = "tenferro xla, NumPy in and out"
JAX_ON_NUMPY = "jax, NumPy in and out"


def inputs(n: int) -> tuple[Any, ...]:
    return (np.linspace(0.5, 2.0, n),)


def loss(np: Any, x: Any) -> Any:
    return np.sum(np.log(np.sin(A * x) * np.exp(-x) + x))


W = Workload(
    "W12",
    "repeated call of a compiled gradient, 10 elements",
    cases=[Case("10 elements", 10)],
    quick=[Case("10 elements", 10)],
    inputs=inputs,
    goals=[
        Goal(1.2, plus=3e-6),
        Goal(1.0, contestant="tenferro xla", over="jax", plus=4e-6),
        Goal(1.0, contestant=OURS_ON_NUMPY, over=JAX_ON_NUMPY, plus=6e-6),
    ],
)


@W.contestant("numpy")
def by_hand(x: Any) -> Call:
    def gradient() -> Any:
        s, c, e = np.sin(A * x), np.cos(A * x), np.exp(-x)
        return (A * c * e - s * e + 1) / (s * e + x)

    return gradient


numpy_like(W, loss, value=False, eager=False, only=("tenferro", "tenferro xla", "jax"))


@W.contestant(OURS_ON_NUMPY, needs="xla")
def with_xla_on_numpy(x: Any) -> Call:
    import tenferro as tn

    f = tn.jit(tn.grad(lambda x: loss(np, x)), backend="xla")
    return lambda: f(x)


@W.contestant(JAX_ON_NUMPY, needs="jax")
def with_jax_on_numpy(x: Any) -> Call:
    import jax
    import jax.numpy as jnp

    f = jax.jit(jax.grad(lambda x: loss(jnp, x)))
    return lambda: np.asarray(f(x))
